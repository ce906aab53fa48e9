"""Reads finished jobs with their measured power from tables: the columns of job tables, and when each job ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.domain.cluster import Cluster
from planner.inputs.jobs.power import per_core
from planner.inputs.jobs.table import read_job_rows
from planner.inputs.jobs.table_choices import row_time
from planner.inputs.jobs.table_rows import Row
from planner.inputs.jobs.unit_shape import unit_shape_of
from planner.inputs.snapshots.state_rows import STATE_COLUMNS, TIMES
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
TWICE = "in the tables twice"


@dataclass(frozen=True)
class Finished:
    """Jobs to learn power from, in the order of their ends, and the rows that were left out, by reason."""

    jobs: tuple[FinishedJob, ...]
    left_out: Counter[str]


def read_finished(
    paths: Sequence[Path], scenario: Scenario, *, until_unix: int | None = None, one_node: bool = False
) -> Finished:
    """Read tables of finished jobs; docs/power.md has the columns.

    Parameters
    ----------
    paths
        CSV or Parquet tables.
    scenario
        The site: its nodes say which jobs had them for themselves, its ``power.metered`` whether that matters.
    until_unix
        Only jobs that ended before this moment [Unix seconds].
    one_node
        Whether jobs of several units are left out, for sites whose figures of these are wrong.
    """
    # A site of Slurm has its nodes in Slurm: here only the tables say who had nodes for himself.
    cluster = None if isinstance(scenario.jobs, SlurmJobs) else scenario.cluster
    unit_cores = unit_shape_of(scenario.jobs, scenario.cluster).unit_cores
    left_out: Counter[str] = Counter()
    found: dict[tuple[str, int, int], FinishedJob] = {}
    for path in paths:
        rows, _ = read_job_rows(
            path,
            unit_cores=unit_cores,
            power=per_core(0.0),
            cluster=cluster,
            further=STATE_COLUMNS,
            described_in="docs/power.md",
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
            finished = FinishedJob(asked, job.submit_unix, end_unix, job.power_w)
            identity = (job.id, job.submit_unix, end_unix)
            reason = TWICE if identity in found else _why_not(finished, row, cluster, scenario, until_unix, one_node)
            if reason:
                left_out[reason] += 1
            else:
                found[identity] = finished
    return Finished(tuple(sorted(found.values(), key=lambda job: job.end_key)), left_out)


def _why_not(
    job: FinishedJob, row: Row, cluster: Cluster | None, scenario: Scenario, until_unix: int | None, one_node: bool
) -> str:
    """Why a job is not learned from; empty where it is."""
    if "power_w" not in row and "power_w_per_core" not in row:
        return NO_POWER
    if until_unix is not None and job.end_unix >= until_unix:
        return LATER
    if one_node and job.asked.unit_count > 1:
        return SEVERAL_NODES
    if scenario.power.metered == "node" and not has_own_nodes(job.asked, cluster):
        return SHARED
    return ""
