"""Jobs of Slurm's accounts as runs on the nodes of a scenario, joined with what was planned of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from planner.domain.cluster import CORES, Cluster
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import StartedJob
from planner.errors import InputError
from planner.inputs.jobs.unit_groups import MEMORY
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.node_classes import GPUS, MB_PER_GB
from planner.inputs.slurm.sacct_json import Accounts
from planner.limits import YEAR_S
from planner.power.learned import Asked, PowerModel
from planner.printable import shortened
from planner.units import SECONDS_PER_HOUR

CAPPED = "more memory or GPUs than the scenario's nodes have: taken as all that they have"
ENDLESS = "no time limit: taken as the time that they ran, or a year while they run"
RUN_AGAIN = "jobs that ran more than once: each run is booked, the earlier ones as JOB.run1 and so on"


def labelled(accounts: Accounts, source: str, repaired: Counter[str]) -> list[tuple[str, SlurmJob]]:
    """Every job with a name of its own; of several runs of one job the last keeps its name."""
    runs: dict[str, list[SlurmJob]] = defaultdict(list)
    for job in accounts.jobs:
        runs[job.label].append(job)
    found = []
    for label, each in runs.items():
        each.sort(key=lambda job: (job.end_unix is None, job.start_unix or YEAR_S * 10_000, job.submit_unix))
        for before, after in pairwise(each):
            if before.end_unix is None or (after.start_unix is not None and after.start_unix < before.end_unix):
                raise InputError(f"{source}: job {label} is there twice at the same time; give every job once")
        repaired[RUN_AGAIN] += len(each) > 1
        found += [(f"{label}.run{number}", job) for number, job in enumerate(each[:-1], start=1)]
        found.append((label, each[-1]))
    repaired += Counter()  # without zeros
    return found


def node_numbers(label: str, names: Sequence[str], cluster: Cluster, source: str) -> list[int]:
    """Numbers of nodes; none where the scenario has none of them, and InputError where it has only some."""
    known, unknown = [], []
    for name in names:
        try:
            known.append(cluster.node_number(name))
        except InputError:
            unknown.append(name)
    if known and unknown:
        raise InputError(
            f"{source}: job {label} ran on {shortened(unknown[0], 60)}, which the scenario does not have, and on"
            f" {cluster.node_name(known[0])}, which it has; add the missing nodes to cluster.classes"
        )
    if len(set(known)) < len(known):
        raise InputError(f"{source}: job {label} has a node twice; correct its nodes")
    return known


def run_of(
    label: str,
    said: SlurmJob,
    nodes: list[int],
    cluster: Cluster,
    power: PowerModel,
    known: Job | None,
    source: str,
    repaired: Counter[str],
) -> StartedJob:
    """The run of a job on nodes of these numbers; ``known`` is the same job as it was planned."""
    assert said.start_unix is not None
    cpus = said.had.cpus or len(nodes)
    capacity = [cluster.classes[cluster.class_index(node)].capacity for node in nodes]
    cores = _spread(cpus, [each[CORES] for each in capacity])
    if cores is None:
        there = sum(each[CORES] for each in capacity)
        raise InputError(
            f"{source}: job {label} had {cpus} CPUs of {shortened(cluster.node_list(nodes), 60)}, which have {there:g}"
            " cores in the scenario; where Slurm counts threads, give cluster.classes as many cores"
        )
    others = {MEMORY: (said.had.memory_mb or 0) / MB_PER_GB, GPUS: float(said.had.gpus or 0)}
    groups: dict[tuple[tuple[str, float], ...], list[int]] = defaultdict(list)
    is_capped = False
    for node, own, has in zip(nodes, cores, capacity, strict=True):
        amounts = {CORES: float(own)}
        for name, total in others.items():
            share = round(total / len(nodes), 3)
            amounts[name] = min(share, has.get(name, 0.0))
            is_capped = is_capped or (name in cluster.resources and amounts[name] < share)
        groups[tuple(sorted((name, amount) for name, amount in amounts.items() if amount))].append(node)
    repaired[CAPPED] += is_capped
    repaired[ENDLESS] += said.limit_s is None and known is None
    repaired += Counter()
    ran_s = YEAR_S if said.end_unix is None else max(1, said.end_unix - said.start_unix)
    asked = Asked(
        label,
        tuple(UnitGroup(len(members), amounts) for amounts, members in groups.items()),
        said.limit_s or (ran_s if known is None else known.requested_s),
        said.user,
        said.account,
        said.name,
        said.partition,
        cluster.partition_classes(said.partitions),
    )
    job = asked.job(min(said.submit_unix, said.start_unix), power(asked), qos=said.qos)
    return StartedJob(
        as_planned(job, known),
        said.start_unix,
        tuple(node for members in groups.values() for node in members),
        said.end_unix,
        cancelled=said.is_cancelled and said.end_unix is not None,
        energy_j=None if said.end_unix is None else said.energy_j,
    )


def _spread(cpus: int, most: Sequence[float]) -> list[int] | None:
    """CPUs of each node: as even as can be, none beyond what a node has; None where they have too few."""
    found, left = [0] * len(most), cpus
    while left:
        free = [place for place, own in enumerate(found) if own < int(most[place])]
        if not free:
            return None
        each, more = divmod(left, len(free))
        left = 0
        for rank, place in enumerate(free):
            wanted = found[place] + each + (rank < more)
            found[place] = min(wanted, int(most[place]))
            left += wanted - found[place]
    return found


def cpu_hours(job: SlurmJob, horizon: Horizon) -> float:
    """CPU-hours that a job had within a day."""
    assert job.start_unix is not None
    end = horizon.end_unix if job.end_unix is None else min(job.end_unix, horizon.end_unix)
    return (job.had.cpus or 0) * max(0, end - max(job.start_unix, horizon.start_unix)) / SECONDS_PER_HOUR


def as_planned(job: Job, planned: Job | None) -> Job:
    """A job that ran, with what its plan knows of it; as it is where it was not planned.

    Its size and its times are those of the books. What it draws per core, what it earns, where and when it may run, and
    what was promised is as planned. Who it is of is as the books say; where they do not, as planned.
    """
    if planned is None:
        return job
    return replace(
        still_waiting(job, planned),
        priority=planned.priority,
        deadline_unix=planned.deadline_unix,
        begin_unix=planned.begin_unix,
        after=planned.after,
        classes=planned.classes,
        exclusive=planned.exclusive,
    )


def still_waiting(job: Job, planned: Job | None) -> Job:
    """A job that has not run: where and when it may is as the books say, as its user may have changed that since.

    Where they say nothing, and in all else, it is as one that ran.
    """
    if planned is None:
        return job
    cores, planned_cores = job.total(CORES), planned.total(CORES)
    return replace(
        job,
        power_w=planned.power_w * (cores / planned_cores if cores and planned_cores else 1.0),
        revenue_weight=planned.revenue_weight,
        priority=planned.priority if job.priority == 1 else job.priority,
        deadline_unix=planned.deadline_unix if job.deadline_unix is None else job.deadline_unix,
        begin_unix=planned.begin_unix if job.begin_unix is None else job.begin_unix,
        after=job.after or planned.after,
        classes=job.classes or planned.classes,
        exclusive=job.exclusive or planned.exclusive,
        promise=planned.promise,
        easy_unix=planned.easy_unix,
        account=job.account or planned.account,
        qos=job.qos or planned.qos,
        user=job.user or planned.user,
        name=job.name or planned.name,
        partition=job.partition or planned.partition,
    )
