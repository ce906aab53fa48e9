"""A month as it ran: jobs with their real starts and power, and the machine that they show, from accounts or a table.

Nothing else is asked of a site: its nodes are those that jobs ran on, each class as large as the most that was in use
on one of its nodes at once.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path

from planner.domain.cluster import CORES
from planner.domain.horizon import zone_named
from planner.domain.job import Job, UnitGroup
from planner.errors import InputError
from planner.inputs.books.accounted import ENDLESS, RUN_AGAIN, labelled
from planner.inputs.books.measured_power import mean_power_w, sharing
from planner.inputs.jobs.job_table import read_job_rows
from planner.inputs.jobs.power_models import per_core
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.sacct_text import holds_accounts, read_accounts
from planner.inputs.snapshots import STATE_COLUMNS, TIMES
from planner.inputs.table_cells import row_time
from planner.places import document
from planner.power.learned import Asked, FinishedJob, LearnedPower, PowerModel, learned_from

NOT_ENDED = "has not ended, or never ran for a second"
WIDEST = 10**9


@dataclass(frozen=True)
class SeenNodes:
    """Nodes whose names differ in their number alone, and the most cores that were in use on one of them."""

    name: str
    nodes: tuple[str, ...]
    cores: int


@dataclass(frozen=True)
class RanMonth:
    """Jobs that ran, in order of submission, with when they started; ``nodes`` are empty where only cores are known.

    ``assumed`` says what was taken for what the source does not say, ``dropped`` why jobs are left out. ``model`` is
    what jobs like these are thought to draw [W].
    """

    source: str
    jobs: tuple[Job, ...]
    start_unix: tuple[int, ...] | None
    nodes: tuple[SeenNodes, ...]
    cores: int
    assumed: tuple[str, ...]
    dropped: Counter[str] = field(default_factory=Counter)
    learned: LearnedPower | None = None
    placed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """For each job on how many nodes it ran, and of which classes; empty where that is not known."""

    @property
    def full_w(self) -> float:
        """What the machine draws when all of it is busy with jobs as these [W]."""
        cores = sum(job.total(CORES) for job in self.jobs)
        return max(1000.0, self.cores * sum(job.power_w for job in self.jobs) / cores)

    def site_jobs(self) -> list[Job]:
        """The jobs on nodes of their classes, for a site that has these."""
        several = len(self.nodes) > 1
        return [
            replace(
                job,
                units=(UnitGroup.of(nodes, {CORES: float(ceil(job.total(CORES) / nodes))}),),
                classes=classes if several else (),
                partition="",
            )
            for job, (nodes, classes) in zip(self.jobs, self.placed, strict=True)
        ]


def read_month(path: Path, *, zone: str, w_per_core: float, cores: int | None = None) -> RanMonth:
    """The jobs of what sacct has written, JSON or text, or of a table with runtimes.

    A table has the columns of job tables, and ``start_time`` where the month as it ran is to be told. Local times are
    of the ``zone``. A core of a job draws ``w_per_core`` where nothing was measured [W]. The machine has so many
    ``cores``, or as many as the jobs had at once. InputError where no job has run, or nothing says how large the
    machine is.
    """
    if holds_accounts(path):
        return _of_accounts(path, zone, w_per_core, cores)
    return _of_table(path, zone, w_per_core, cores)


def _of_accounts(path: Path, zone: str, w_per_core: float, cores: int | None) -> RanMonth:
    accounts, repaired = read_accounts(path, zone_named(zone))
    told = labelled(accounts, str(path), repaired)
    dropped: Counter[str] = Counter()
    ran = []
    for label, job in told:
        if job.start_unix is None or job.end_unix is None or job.end_unix <= job.start_unix or not job.nodes:
            dropped[NOT_ENDED] += 1
        else:
            ran.append((label, job))
    if not ran:
        raise InputError(f"{path}: no job has run to its end; give the accounts of a month that is over")
    power, learned, notes = _power(ran, w_per_core)
    jobs = [(_job(label, job, power), job.start_unix or 0, _placed(job)) for label, job in ran]
    jobs.sort(key=lambda each: each[0].submission_key)
    endless = sum(job.limit_s is None for _, job in ran)
    notes += [f"{endless:,} jobs without a time limit: taken as the time that they ran"] if endless else []
    notes += [f"{count:,} jobs {reason}" for reason, count in repaired.items() if reason not in (ENDLESS, RUN_AGAIN)]
    nodes = seen_nodes([job for _, job in ran])
    size = cores or sum(len(each.nodes) * each.cores for each in nodes)
    kinds = ", ".join(f"{len(each.nodes):,} {each.name} of {each.cores} cores" for each in nodes)
    notes.append(f"The machine is what jobs ran on: {kinds}; {size:,} cores in all, which jobs share as one pool")
    return RanMonth(
        str(path),
        tuple(job for job, _, _ in jobs),
        tuple(start for _, start, _ in jobs),
        nodes,
        size,
        tuple(notes),
        dropped,
        learned,
        tuple(placed for _, _, placed in jobs),
    )


def _placed(job: SlurmJob) -> tuple[int, tuple[str, ...]]:
    return len(job.nodes), tuple(sorted({_class_of(node) for node in job.nodes}))


def _class_of(node: str) -> str:
    """The name of a node without its number."""
    return re.sub(r"\d+$", "", node).rstrip("-_.") or "node"


def _power(ran: Sequence[tuple[str, SlurmJob]], w_per_core: float) -> tuple[PowerModel, LearnedPower | None, list[str]]:
    """What jobs draw: measured where they had nodes to themselves, else learned from these, else so much a core."""
    shared = sharing([(job.nodes, job.start_unix or 0, job.end_unix) for _, job in ran])
    measured: dict[str, float] = {}
    finished = []
    for place, (label, job) in enumerate(ran):
        assert job.start_unix is not None
        assert job.end_unix is not None
        if job.energy_j is None or place in shared:
            continue
        power_w, _ = mean_power_w(job.energy_j, job.end_unix - job.start_unix, 0.0, len(job.nodes))
        if power_w is not None:
            measured[label] = power_w
            finished.append(FinishedJob(_asked(label, job), job.submit_unix, job.end_unix, power_w))
    constant = per_core(w_per_core)
    if not measured:
        words = f"No job's energy was measured: every core of a job draws {w_per_core:g} W"
        return constant, None, [words]
    learned = learned_from(finished)

    def power(asked: Asked) -> float:
        known = measured.get(asked.job_id)
        if known is not None:
            return known
        found = learned.predict(asked)
        return constant(asked) if found is None else found.power_w

    rest = len(ran) - len(measured)
    words = f"The energy of {len(measured):,} jobs was measured; {rest:,} others draw what was"
    return power, learned, [f"{words} learned from these, or {w_per_core:g} W a core where no job is like them"]


def _asked(label: str, job: SlurmJob) -> Asked:
    units = (UnitGroup.of(1, {CORES: float(job.had.cpus or len(job.nodes))}),)
    return Asked(label, units, job.limit_s or 0, job.user, job.account, job.name, job.partition)


def _job(label: str, said: SlurmJob, power: PowerModel) -> Job:
    assert said.start_unix is not None
    assert said.end_unix is not None
    asked, ran_s = _asked(label, said), said.end_unix - said.start_unix
    longest = replace(asked, requested_s=max(asked.requested_s, ran_s))
    return longest.job(min(said.submit_unix, said.start_unix), power(asked), runtime_s=ran_s)


def seen_nodes(ran: Iterable[SlurmJob]) -> tuple[SeenNodes, ...]:
    """The nodes that jobs ran on, by the names of their classes, the largest class first."""
    stays: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for job in ran:
        assert job.start_unix is not None
        assert job.end_unix is not None
        cpus = ceil((job.had.cpus or len(job.nodes)) / len(job.nodes))
        for node in job.nodes:
            stays[node] += _stay(job.start_unix, job.end_unix, cpus)
    classes: dict[str, dict[str, int]] = defaultdict(dict)
    for node, changes in stays.items():
        classes[_class_of(node)][node] = _most(changes)
    found = [SeenNodes(name, tuple(sorted(each)), max(each.values())) for name, each in classes.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.nodes), each.name)))


def _of_table(path: Path, zone: str, w_per_core: float, cores: int | None) -> RanMonth:
    rows, _ = read_job_rows(
        path,
        unit_cores=WIDEST,
        power=per_core(w_per_core),
        cluster=None,
        further=STATE_COLUMNS,
        described_in=document("savings.md"),
        zone=zone,
    )
    dropped: Counter[str] = Counter()
    jobs: list[tuple[Job, int | None]] = []
    measured = 0
    for job, row in rows:
        start, end = (row_time(row, *TIMES[name], Counter()) for name in ("start", "end"))
        ran_s = end - start if start is not None and end is not None else job.runtime_s
        if not ran_s or ran_s <= 0:
            dropped[NOT_ENDED] += 1
            continue
        measured += "power_w" in row or "power_w_per_core" in row
        width = UnitGroup.of(1, {CORES: max(1.0, job.total(CORES))})
        asked_s = max(job.requested_s, ran_s)
        submit = job.submit_unix if start is None else min(job.submit_unix, start)
        jobs.append((replace(job, units=(width,), runtime_s=ran_s, requested_s=asked_s, submit_unix=submit), start))
    if not jobs:
        raise InputError(f"{path}: no job has a runtime; give runtime_s, or start_time and end_time")
    jobs.sort(key=lambda each: each[0].submission_key)
    starts = None if any(start is None for _, start in jobs) else tuple(start for _, start in jobs if start is not None)
    size = cores or (None if starts is None else _at_once([job for job, _ in jobs], starts))
    if size is None:
        raise InputError(f"{path}: nothing says how large the machine is; give start_time of the jobs, or --cores")
    notes = [f"The power of {measured:,} jobs is in the table; every core of the others draws {w_per_core:g} W"]
    notes.append(f"The machine is one pool of {size:,} cores" + ("" if cores else ", as many as were in use at once"))
    return RanMonth(str(path), tuple(job for job, _ in jobs), starts, (), size, tuple(notes), dropped)


def _at_once(jobs: Sequence[Job], starts: Sequence[int]) -> int:
    """The most cores that were in use at once."""
    changes: list[tuple[int, int]] = []
    for job, start in zip(jobs, starts, strict=True):
        changes += _stay(start, start + (job.runtime_s or 0), ceil(job.total(CORES)))
    return _most(changes)


def _stay(start_unix: int, end_unix: int, cores: int) -> list[tuple[int, int]]:
    """What a job changes, and when: ends come before starts of the same second."""
    return [(2 * start_unix + 1, cores), (2 * end_unix, -cores)]


def _most(changes: Iterable[tuple[int, int]]) -> int:
    """The most cores that were in use at any moment."""
    most = busy = 0
    for _, change in sorted(changes):
        busy += change
        most = max(most, busy)
    return most
