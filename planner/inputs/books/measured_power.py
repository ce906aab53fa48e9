"""Measured power of finished jobs: which counts in the place of estimates, and what can be learned from.

What Slurm calls the energy of a job is that of its nodes while it ran, so jobs that shared a node are each charged with
all of it. A sensor that is read too seldom, or was set back, shows less than empty nodes draw, or more than any can.
Whether a job had its nodes to itself, and which energy is no measurement, is decided alike for the books of a day and
for jobs to learn from: those of tables, and those of Slurm's accounts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.day_summary import Measured
from planner.domain.horizon import Horizon, zone_named
from planner.domain.job import Job
from planner.domain.situation import StartedJob
from planner.errors import InputError
from planner.inputs.jobs.job_table import read_job_rows
from planner.inputs.jobs.power_models import per_core, power_of
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.unit_groups import UnitShape, cut_cores, unit_shape_of
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.node_classes import SlurmMachine
from planner.inputs.slurm.node_units import asked_of
from planner.inputs.slurm.sacct_json import Accounts
from planner.inputs.slurm.sacct_text import holds_accounts, read_accounts
from planner.inputs.snapshots import STATE_COLUMNS, TIMES
from planner.inputs.table_cells import row_time
from planner.places import document
from planner.power.learned import Asked, FinishedJob, has_own_nodes
from planner.scenario.jobs_power import SlurmJobs
from planner.scenario.schema import Scenario
from planner.units import rounded, utc_text

MOST_NODE_W = 20_000.0
"""No node draws more than this [W]."""
WITH_OTHERS = "they shared a node"
TOO_LITTLE = "it is less than their nodes draw when empty"
TOO_MUCH = f"it is more than {MOST_NODE_W / 1000:g} kW per node"

Stay = tuple[Sequence[int | str], int, int | None]
"""The nodes of a job, by number or by name, its start and its end; None: it still runs."""


def with_measured_power(
    runs: Sequence[StartedJob], cluster: Cluster, horizon: Horizon
) -> tuple[tuple[StartedJob, ...], Measured, Counter[str]]:
    """The runs with measured power where that counts, how much it is, and why other measurements do not count."""
    shared = sharing([(run.nodes, run.start_unix, run.end_unix) for run in runs])
    refused: Counter[str] = Counter()
    found, measured = [], Measured()
    for place, run in enumerate(runs):
        power_w, why = _power_w(run, cluster, is_shared=place in shared)
        refused[why] += bool(why)
        if power_w is None:
            found.append(run)
            continue
        hours = run.seconds_within(horizon.start_unix, horizon.end_unix) / 3600
        measured = Measured(
            measured.jobs + 1,
            measured.kwh + power_w * hours / 1000,
            measured.estimated_kwh + run.job.power_w * hours / 1000,
        )
        found.append(replace(run, job=replace(run.job, power_w=power_w)))
    measured = replace(measured, kwh=rounded(measured.kwh), estimated_kwh=rounded(measured.estimated_kwh))
    return tuple(found), measured, +refused


def mean_power_w(energy_j: float, ran_s: int, idle_w: float, nodes: int) -> tuple[float | None, str]:
    """The mean power of a job that had its nodes to itself, or why its energy is no measurement of it.

    ``idle_w`` is what its nodes draw together when empty.
    """
    # Seconds are whole: a short job may have run for almost one more or less than its times say.
    power_w = energy_j / max(1, ran_s)
    if power_w < idle_w:
        return None, TOO_LITTLE
    return (power_w, "") if power_w <= MOST_NODE_W * nodes else (None, TOO_MUCH)


def sharing(stays: Sequence[Stay]) -> set[int]:
    """Places of the stays during which another job was on one of their nodes."""
    by_node: dict[int | str, list[tuple[int, float, int]]] = defaultdict(list)
    for place, (nodes, start_unix, end_unix) in enumerate(stays):
        end = float("inf") if end_unix is None else end_unix
        for node in set(nodes):
            by_node[node].append((start_unix, end, place))
    found: set[int] = set()
    for on_node in by_node.values():
        longest = (0, 0.0, -1)
        for stay in sorted(on_node):
            if stay[0] < longest[1]:
                found |= {stay[2], longest[2]}
            longest = max(longest, stay, key=lambda each: each[1])
    return found


def _power_w(run: StartedJob, cluster: Cluster, *, is_shared: bool) -> tuple[float | None, str]:
    """The mean power that was measured, or why it does not count; neither where nothing was measured."""
    if run.energy_j is None or run.end_unix is None:
        return None, ""
    if is_shared:
        return None, WITH_OTHERS
    nodes = set(run.nodes)
    idle_w = sum(cluster.classes[cluster.class_index(node)].idle_w for node in nodes)
    return mean_power_w(run.energy_j, run.end_unix - run.start_unix, idle_w, len(nodes))


NO_END = "no end: it has not finished"
NO_POWER = "no power was measured"
LATER = "ended too late"
SHARED = "shared its nodes: the measured power is not its own"
SEVERAL_NODES = "several nodes"
TWICE = "given twice"
NEVER_RAN = "never ran, or not for a second"
EARLIER = "started before the days that were asked for: who else was on its nodes is not known"
NOT_PLANNED = "ran on nodes or in a partition that the scenario does not have"
TOO_LARGE = "had more CPUs than its nodes have cores in the scenario"
NOT_USED = "its measured energy is not used"


@dataclass(frozen=True)
class Finished:
    """Jobs to learn power from, in the order of their ends, and the rows that were left out, by reason."""

    jobs: tuple[FinishedJob, ...]
    left_out: Counter[str]


@dataclass(frozen=True)
class EndedJob:
    """A job that has ended, as its source has it.

    ``unmeasured`` says why its power is none, empty where it is; ``shared`` whether the power is also that of others.
    """

    job: FinishedJob
    unmeasured: str = ""
    shared: bool = False


def chosen(
    candidates: Iterable[EndedJob], left_out: Counter[str], *, until_unix: int | None = None, one_node: bool = False
) -> Finished:
    """The candidates that can be learned from, each once; the others are added to what was left out before, by reason.

    With ``until_unix`` only jobs that ended before that moment; with ``one_node`` only those of one unit, for sites
    whose figures of others are wrong.
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


def table_candidates(paths: Sequence[Path], scenario: Scenario, left_out: Counter[str]) -> Iterator[EndedJob]:
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
            asked = Asked.of(job)
            if end_unix is None:
                left_out[NO_END] += 1
                continue
            is_measured = "power_w" in row or "power_w_per_core" in row
            yield EndedJob(
                FinishedJob(asked, job.submit_unix, end_unix, job.power_w),
                "" if is_measured else NO_POWER,
                shared=scenario.power.metered == "node" and not has_own_nodes(asked, cluster),
            )


def _why_not(candidate: EndedJob, until_unix: int | None, one_node: bool) -> str:
    """Why a job is not learned from; empty where it is."""
    if candidate.unmeasured:
        return candidate.unmeasured
    if until_unix is not None and candidate.job.end_unix >= until_unix:
        return LATER
    if one_node and candidate.job.asked.unit_count > 1:
        return SEVERAL_NODES
    return SHARED if candidate.shared else ""


def ended_jobs(path: Path, scenario: Scenario, window: tuple[int, int]) -> tuple[Job, ...]:
    """The jobs of a file that were submitted within a window and have ended by its end, with their runtimes.

    What sacct has written, JSON or text, or a table with times of submission and runtimes. Of sacct's jobs the CPUs
    count, on nodes of the largest class: they stand for jobs like them, and never run.
    """
    first_unix, now_unix = window
    if not holds_accounts(path):
        shape = UnitShape(unit_cores=int(max(each.capacity[CORES] for each in scenario.cluster.classes)))
        jobs, _ = read_jobs(path, shape=shape, power=power_of(scenario), cluster=scenario.cluster)
        given = [job for job in jobs if first_unix <= job.submit_unix < now_unix and job.runtime_s]
        return tuple(job for job in given if job.submit_unix + (job.runtime_s or 0) <= now_unix)
    accounts, _ = read_accounts(path, zone_named(scenario.zone))
    power, node = power_of(scenario), int(max(each.capacity[CORES] for each in scenario.cluster.classes))
    found = {}
    for job in accounts.ended:
        cpus = job.had.cpus or 0
        if job.start_unix is None or job.end_unix is None or not cpus or job.end_unix <= job.start_unix:
            continue
        if not first_unix <= job.submit_unix < now_unix or job.end_unix > now_unix:
            continue
        runtime_s = job.end_unix - job.start_unix
        units = cut_cores(cpus, node)
        requested_s = max(job.limit_s or 0, runtime_s)
        asked = Asked(job.label, units, requested_s, job.user, job.account, job.name)
        name = f"{job.label} of {job.submit_unix}"
        found[name] = Job(
            name, job.submit_unix, requested_s, units, power(asked), job.account, job.user, job.name, runtime_s
        )
    return tuple(found.values())


def accounted_candidates(
    sources: Iterable[tuple[str, Accounts]],
    scenario: Scenario,
    machine: SlurmMachine | None,
    left_out: Counter[str],
    since_unix: int | None = None,
) -> Iterator[EndedJob]:
    """The jobs of accounts that ran to their end on nodes of the scenario; the others are added to what is left out.

    All of what Slurm says counts for who shared a node with whom, each with where it is from. ``machine`` is that of
    Slurm behind the cluster; None where there is none. Accounts are complete from ``since_unix`` on; None: not known.
    """
    ran = [job for job in _each_once(sources, left_out) if _has_run(job, left_out)]
    shared = sharing([(job.nodes, job.start_unix or 0, job.end_unix) for job in ran])
    for place, job in enumerate(ran):
        if job.end_unix is None:
            left_out[NO_END] += 1
        elif since_unix is not None and (job.start_unix or 0) < since_unix:
            left_out[EARLIER] += 1
        else:
            is_shared = place in shared and scenario.power.metered == "node"
            found = _candidate(job, job.end_unix, scenario, machine, is_shared)
            if isinstance(found, str):
                left_out[found] += 1
            else:
                yield found


def _each_once(sources: Iterable[tuple[str, Accounts]], left_out: Counter[str]) -> list[SlurmJob]:
    """Every run of every job; of one that is there twice the record that knows its end."""
    found: dict[tuple[str, int, int | None], SlurmJob] = {}
    for source, accounts in sources:
        for job in accounts.jobs:
            if job.start_unix is not None and job.end_unix is not None and job.end_unix < job.start_unix:
                end = utc_text(job.end_unix)
                raise InputError(f"{source}: job {job.label} ends at {end}, before its start; correct its times")
            identity = (job.label, job.submit_unix, job.start_unix)
            known = found.get(identity)
            left_out[TWICE] += known is not None
            found[identity] = job if known is None or known.end_unix is None else known
    left_out += Counter()  # without zeros
    return list(found.values())


def _has_run(job: SlurmJob, left_out: Counter[str]) -> bool:
    """Whether a job had nodes for a second or more; those that had not are left out, and were in nobody's way."""
    if job.start_unix is not None and job.nodes and job.end_unix != job.start_unix:
        return True
    left_out[NO_END if job.end_unix is None else NEVER_RAN] += 1
    return False


def _candidate(
    job: SlurmJob, end_unix: int, scenario: Scenario, machine: SlurmMachine | None, is_shared: bool
) -> EndedJob | str:
    """The job, or why it cannot be learned from."""
    assert job.start_unix is not None
    classes = _classes(job.nodes, scenario.cluster)
    if not classes:
        return NOT_PLANNED
    cores = sum(each.capacity[CORES] for each in classes)
    if (job.had.cpus or 0) > cores:
        return TOO_LARGE
    try:
        asked = asked_of(job, cores, scenario.cluster, machine)
    except InputError:
        return NOT_PLANNED
    power_w, why = 0.0, NO_POWER
    if job.energy_j is not None:
        # A job's own meter may show less than its nodes draw when empty.
        idle_w = sum(each.idle_w for each in classes) if scenario.power.metered == "node" else 0.0
        measured_w, refused = mean_power_w(job.energy_j, end_unix - job.start_unix, idle_w, len(classes))
        power_w, why = measured_w or 0.0, f"{NOT_USED}: {refused}" if refused and not is_shared else ""
    return EndedJob(FinishedJob(asked, min(job.submit_unix, job.start_unix), end_unix, power_w), why, is_shared)


def _classes(nodes: Sequence[str], cluster: Cluster) -> list[NodeClass]:
    """The class of each node; none where the scenario does not have all of them."""
    try:
        return [cluster.classes[cluster.class_index(cluster.node_number(name))] for name in nodes]
    except InputError:
        return []
