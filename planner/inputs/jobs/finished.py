"""Finished jobs with their measured power, to learn from: those of tables, and which of any source are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.inputs.jobs.power import per_core
from planner.inputs.jobs.table import read_job_rows
from planner.inputs.jobs.table_choices import row_time
from planner.inputs.jobs.unit_shape import unit_shape_of
from planner.inputs.snapshots.state_rows import STATE_COLUMNS, TIMES
from planner.places import document
from planner.power.asked import Asked
from planner.power.learned import FinishedJob
from planner.power.limits import has_own_nodes
from planner.scenario.jobs import SlurmJobs
from planner.scenario.schema import Scenario

NO_END = "no end: it has not finished"
NO_POWER = "no power was measured"
LATER = "ended too late"
SHARED = "shared its nodes: the measured power is not its own"
SEVERAL_NODES = "several nodes"
TWICE = "given twice"


@dataclass(frozen=True)
class Finished:
    """Jobs to learn power from, in the order of their ends, and the rows that were left out, by reason."""

    jobs: tuple[FinishedJob, ...]
    left_out: Counter[str]


@dataclass(frozen=True)
class Candidate:
    """A job that has ended, as its source has it.

    ``unmeasured`` says why its power is none, empty where it is; ``shared`` whether the power is also that of others.
    """

    job: FinishedJob
    unmeasured: str = ""
    shared: bool = False


def chosen(
    candidates: Iterable[Candidate], left_out: Counter[str], *, until_unix: int | None = None, one_node: bool = False
) -> Finished:
    """The candidates that can be learned from, each once; the others are added to what was left out before.

    Parameters
    ----------
    candidates
        Jobs that have ended, from any source.
    left_out
        Jobs that cannot be learned from, by reason.
    until_unix
        Only jobs that ended before this moment [Unix seconds].
    one_node
        Whether jobs of several units are left out, for sites whose figures of these are wrong.
    """
    found: dict[tuple[str, int, int], FinishedJob] = {}
    for each in candidates:
        identity = (each.job.asked.job_id, each.job.submit_unix, each.job.end_unix)
        reason = TWICE if identity in found else _why_not(each, until_unix, one_node)
        if reason:
            left_out[reason] += 1
        else:
            found[identity] = each.job
    return Finished(tuple(sorted(found.values(), key=lambda job: job.end_key)), left_out)


def table_candidates(paths: Sequence[Path], scenario: Scenario, left_out: Counter[str]) -> Iterator[Candidate]:
    """The jobs of CSV or Parquet tables that have ended; the others are added to what is left out.

    docs/power.md has the columns. The nodes of the scenario say which jobs had them for themselves, its
    ``power.metered`` whether that matters.
    """
    # A site of Slurm has its nodes in Slurm: here only the tables say who had nodes for himself.
    cluster = None if isinstance(scenario.jobs, SlurmJobs) else scenario.cluster
    unit_cores = unit_shape_of(scenario.jobs, scenario.cluster).unit_cores
    for path in paths:
        rows, _ = read_job_rows(
            path,
            unit_cores=unit_cores,
            power=per_core(0.0),
            cluster=cluster,
            further=STATE_COLUMNS,
            described_in=document("power.md"),
        )
        for job, row in rows:
            end_unix = row_time(row, *TIMES["end"], Counter())
            if end_unix is not None and end_unix < job.submit_unix:
                raise row.error("the job ended before it was submitted", "correct one of the times")
            asked = Asked(
                job.id,
                job.units,
                job.requested_s,
                job.user,
                job.account,
                job.name,
                row.text("partition"),
                job.classes,
                job.exclusive,
            )
            if end_unix is None:
                left_out[NO_END] += 1
                continue
            is_measured = "power_w" in row or "power_w_per_core" in row
            yield Candidate(
                FinishedJob(asked, job.submit_unix, end_unix, job.power_w),
                "" if is_measured else NO_POWER,
                shared=scenario.power.metered == "node" and not has_own_nodes(asked, cluster),
            )


def _why_not(candidate: Candidate, until_unix: int | None, one_node: bool) -> str:
    """Why a job is not learned from; empty where it is."""
    if candidate.unmeasured:
        return candidate.unmeasured
    if until_unix is not None and candidate.job.end_unix >= until_unix:
        return LATER
    if one_node and candidate.job.asked.unit_count > 1:
        return SEVERAL_NODES
    return SHARED if candidate.shared else ""
