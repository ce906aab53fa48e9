"""The problem of one day: every number that a method may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.columns import (
    NO_DEADLINE,
    Floats,
    Ints,
    JobColumns,
    NodeColumns,
    Restrictions,
    job_columns,
    node_columns,
)
from planner.domain.horizon import Horizon
from planner.domain.job import DeferRule, Job
from planner.domain.precedence import links_of, require_no_circle
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment, SegmentColumns, segment_columns
from planner.domain.situation import ClosedRoom, NodeOutage, closed_room
from planner.domain.waits import WaitPrice, wait_table
from planner.errors import InputError


@dataclass(frozen=True)
class Running:
    """A job that has started: it holds its nodes until its end, which is past for jobs that have ended.

    ``start_s`` is negative for jobs that started before the day; ``nodes`` has one node per unit, in the order of the
    job's groups. ``is_cancelled`` says that somebody ended it before it was done.
    """

    job: Job
    start_s: int
    end_s: int
    nodes: tuple[int, ...]
    is_cancelled: bool = False

    def __post_init__(self) -> None:
        if self.end_s <= max(0, self.start_s):
            raise InputError(
                f"started job {self.job.id} holds [{self.start_s}, {self.end_s}) s; it must hold some time of the day"
            )
        if len(self.nodes) != self.job.unit_count:
            raise InputError(f"running job {self.job.id} has {self.job.unit_count} units on {len(self.nodes)} nodes")


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything one day is decided from; the only input of a method.

    ``jobs`` are in order of submit time, then id; every one of them can fit on the empty machine. ``overdue`` are the
    ids of those that were deferred so often that they go before all others. ``running`` is all that has started until
    ``now_s``, before which nothing new may start; nothing new may run on a node during one of its ``outages``.
    ``by_priority``: the jobs to be placed earn what they count, their priority times the money. It is how methods see a
    day of several priorities; what such a problem settles to is no money.
    ``never`` are the ids of jobs that can never run here: whatever waits for them waits today, too.
    ``outside`` is the temperature of the weather: from when on [s] it is how much [C]. It is there to be shown; cooling
    goes by that of the segments.
    ``starts_before_s``: nothing new starts from then on; None: the end of the horizon.
    ``waits`` says what the waiting of each job counts when plans are compared, by id; empty: nothing. It is no money.
    """

    horizon: Horizon
    cluster: Cluster
    jobs: tuple[Job, ...]
    segments: tuple[Segment, ...]
    table: PueTable
    rates: Rates
    running: tuple[Running, ...] = ()
    defer: DeferRule = "full"
    overdue: frozenset[str] = frozenset()
    now_s: int = 0
    outages: tuple[NodeOutage, ...] = ()
    by_priority: bool = False
    never: frozenset[str] = frozenset()
    outside: tuple[tuple[int, float], ...] = ()
    starts_before_s: int | None = None
    waits: Mapping[str, WaitPrice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {job.id for job in self.jobs} | {work.job.id for work in self.running}
        if len(known) < len(self.jobs) + len(self.running):
            raise InputError("two jobs of one day share an id; every job needs its own")
        require_no_circle(self.jobs)
        late = next((job for job in self.jobs if job.submit_unix >= self.horizon.end_unix), None)
        if late is not None:
            raise InputError(f"job {late.id} is submitted after {self.horizon.day}; it belongs to a later day")
        ahead = next((work.job for work in self.running if work.start_s > self.now_s), None)
        if ahead is not None:
            raise InputError(f"job {ahead.id} has started, but after {self.now_s} s, from which is planned")
        named = [*(each.node for each in self.outages), *(node for work in self.running for node in work.nodes)]
        nowhere = next((node for node in named if not 0 <= node < self.cluster.node_count), None)
        if nowhere is not None:
            raise InputError(f"an outage or a started job is of node {nowhere}, none of the {self.cluster.node_count}")
        all_jobs = [*self.jobs, *(work.job for work in self.running)]
        require_known_classes(all_jobs, self.cluster)
        self.rates.require_known(self.cluster)
        limits.ALL_JOBS_W.require("the power of all jobs of a day", sum(job.power_w for job in all_jobs))
        limits.DAY_UNITS.require("the number of units of all jobs of a day", sum(job.unit_count for job in all_jobs))
        limits.SEGMENTS.require("the number of changes of price and temperature in a day", len(self.segments))
        edges = [segment.start_s for segment in self.segments] + [self.horizon.length_s]
        if edges[0] != 0 or any(s.end_s != edge for s, edge in zip(self.segments, edges[1:], strict=True)):
            raise InputError("the segments do not cover the day without gaps")

    @property
    def starts_end_s(self) -> int:
        """From when on nothing new starts."""
        return self.horizon.length_s if self.starts_before_s is None else self.starts_before_s

    @cached_property
    def is_overdue(self) -> npt.NDArray[np.bool_]:
        """Which of the jobs are overdue."""
        return np.array([job.id in self.overdue for job in self.jobs], dtype=np.bool_)

    @cached_property
    def submission_rank(self) -> Ints:
        """Rank of each job by submit time, then by id as people count: the last word in every ordering."""
        keys = [job.submission_key for job in self.jobs]
        rank = np.empty(len(keys), dtype=np.int64)
        rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return rank

    @cached_property
    def columns(self) -> JobColumns:
        """The jobs to be placed, as arrays.

        One that waits for others is released at the earliest moment at which they can have come first, or after the
        day where they cannot today.
        """
        columns = self._priced(
            job_columns(self.jobs, self.cluster, self.horizon, self.now_s, self.restrictions), self.jobs
        )
        if self.by_priority:
            columns = replace(columns, weight=columns.weight * self.priority)
        if not any(job.after for job in self.jobs):
            return columns
        links = links_of([job.id for job in self.jobs], [job.after for job in self.jobs])
        release = self._release_after_started(columns.release_s).tolist()
        for job in links.sorted(range(len(release))).tolist():
            for other, is_end in links.before_of(job):
                come_first = release[other] + (int(columns.duration_s[other]) if is_end else 0)
                release[job] = min(NO_DEADLINE, max(release[job], come_first))
        return replace(columns, release_s=np.array(release, dtype=np.int64), links=links)

    def _release_after_started(self, release_s: Ints) -> Ints:
        """Releases that wait for the ends of started jobs, and beyond any day for jobs that never run."""
        release = release_s.copy()
        ends = {work.job.id: work.end_s for work in self.running}
        for index, job in enumerate(self.jobs):
            for each in job.after:
                if each.job_id in self.never:
                    release[index] = NO_DEADLINE
                elif each.waits_for_end:
                    release[index] = max(release[index], ends.get(each.job_id, 0))
        return release

    @cached_property
    def wait_prices(self) -> Floats:
        """What waiting counts, one row per job to be placed; no rows where it counts nothing."""
        return wait_table([self.waits[job.id] for job in self.jobs] if self.waits else [])

    @cached_property
    def priority(self) -> Floats:
        """Priority of each job to be placed."""
        return np.array([job.priority for job in self.jobs], dtype=np.float64)

    @property
    def counted(self) -> Problem:
        """The problem as methods see it: with several priorities, jobs earn what they count, and CO2 costs it."""
        has_priorities = bool((self.priority != 1).any())
        if not has_priorities and not self.rates.carbon_weight_eur_per_tonne:
            return self
        return replace(self, by_priority=has_priorities, rates=self.rates.counted)

    @cached_property
    def running_columns(self) -> JobColumns:
        """The jobs that have started, as arrays."""
        columns = job_columns(self.started_jobs, self.cluster, self.horizon, restrictions=self.restrictions)
        return self._priced(columns, [work.job for work in self.running])

    def _priced(self, columns: JobColumns, jobs: Sequence[Job]) -> JobColumns:
        """The columns of some jobs with what these earn at the site's rates."""
        charged = self.rates.charged(columns, self.cluster, jobs)
        return replace(columns, weight=self.rates.weights(jobs), group_charged=charged)

    @cached_property
    def started_jobs(self) -> tuple[Job, ...]:
        """The jobs that have started; they are where they are, and restricted to no classes any more."""
        return tuple(replace(work.job, classes=()) if work.job.classes else work.job for work in self.running)

    @cached_property
    def restrictions(self) -> Restrictions:
        """Where the jobs may run, as hidden columns of `columns` and `nodes`."""
        return Restrictions.of([*self.jobs, *self.started_jobs])

    @cached_property
    def running_start_s(self) -> Ints:
        """Since when each job that has started holds its nodes today: midnight if it started before."""
        return np.array([max(0, work.start_s) for work in self.running], dtype=np.int64)

    @cached_property
    def running_end_s(self) -> Ints:
        """End of each job that has started."""
        return np.array([work.end_s for work in self.running], dtype=np.int64)

    @cached_property
    def running_nodes(self) -> Ints:
        """Node of each unit of the jobs that have started, in the order of `running_columns`."""
        return np.array([node for work in self.running for node in work.nodes], dtype=np.int64)

    @cached_property
    def closed_room(self) -> ClosedRoom:
        """What outages close of the nodes."""
        columns = self.running_columns
        unit_work = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
        return closed_room(
            self.outages,
            self.nodes.capacity,
            self.running_nodes,
            self.running_start_s[unit_work],
            self.running_end_s[unit_work],
            columns.group_amount[columns.unit_group],
        )

    @cached_property
    def segment_columns(self) -> SegmentColumns:
        """The segments, as arrays."""
        return segment_columns(self.segments, self.rates.carbon_eur_per_tonne)

    @cached_property
    def nodes(self) -> NodeColumns:
        """The nodes, as arrays."""
        return node_columns(self.cluster, self.restrictions)

    @cached_property
    def class_capacity(self) -> Ints:
        """What a node of each class has, in the columns of `nodes`."""
        return self.nodes.capacity[list(self.cluster.first_nodes[:-1])]


def require_known_classes(jobs: Iterable[Job], cluster: Cluster) -> None:
    """InputError when a job may only run on a class that the cluster does not have."""
    known = {node_class.name for node_class in cluster.classes}
    for job in jobs:
        if job.classes and not known.issuperset(job.classes):
            unknown = next(name for name in job.classes if name not in known)
            raise InputError(
                f"job {job.id} is for nodes of class {unknown!r}; the classes are {', '.join(sorted(known))}"
            )


ExecuteRule = Literal["requested", "actual"]
"""How long jobs run once they are planned: as long as they asked, or as they really did."""


def executed(problem: Problem) -> Problem:
    """The same day with every job as long as it really ran; a plan of the one is a plan of the other.

    Jobs start when and where they were planned to: what ends early only leaves room. A job whose runtime is not known
    runs as long as it asked; what has ended already ended when it did.
    """
    return replace(
        problem,
        jobs=tuple(replace(job, requested_s=ran_s(job), estimate_s=None) for job in problem.jobs),
        running=tuple(replace(work, end_s=_real_end_s(work, problem.now_s)) for work in problem.running),
    )


def _real_end_s(work: Running, now_s: int) -> int:
    if work.end_s <= now_s:
        return work.end_s
    return min(work.end_s, max(now_s + 1, work.start_s + ran_s(work.job)))


def ran_s(job: Job) -> int:
    """How long a job really ran, at most the time that it asked for [s]."""
    return min(job.runtime_s, job.requested_s) if job.runtime_s else job.requested_s
