"""A trace to be replayed: cleaned jobs in submit order, their deadlines, and the machine that they run on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Floats, Ints, Restrictions, job_columns, node_columns
from planner.domain.horizon import Horizon
from planner.domain.job import Dependency, Job
from planner.domain.precedence import Links, first_links, links_of, no_links
from planner.errors import InputError
from planner.limits import PROCESSORS
from planner.units import MILLI

LEAST_DEADLINE_S = 24 * 3600
TIMES_REQUEST = 10
"""A drawn deadline is so long after the submission [s], or so many times the request."""


@dataclass(frozen=True, eq=False)
class Machine:
    """Nodes with capacities; a pool of processors is one node.

    ``capacity`` has one row per node and one column per resource, processors first; ``power_limit`` below 0 is none.
    ``scale`` says how many of the capacity's units make one processor.
    """

    capacity: Ints
    power_limit: int = -1
    scale: int = 1

    @classmethod
    def pool(cls, processors: int) -> Machine:
        """One pool of processors."""
        PROCESSORS.require("the size of the machine", processors)
        return cls(np.array([[processors]], dtype=np.int64))

    @property
    def processors(self) -> float:
        """Processors of the whole machine."""
        return float(self.capacity[:, 0].sum()) / self.scale


@dataclass(frozen=True, eq=False)
class Trace:
    """Jobs in submit order (ties in file order), one entry per job in every array; times in whole seconds.

    ``width`` is what a job asks of the first resource, in the machine's units. ``user``, ``name``, ``group`` and
    ``queue`` are numbers in place of names, -1 if unknown. ``origin_unix`` is the Unix time of second 0, if known.
    ``priority`` is that of each job; None: all have the same.
    ``links`` says which jobs wait for which others, None for nobody. ``deadline_s`` is the latest end that each job was
    given, -1 for none; None: nobody was given one.
    """

    ids: tuple[str, ...]
    submit_s: Ints
    runtime_s: Ints
    requested_s: Ints
    width: Ints
    machine: Machine
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    unit_ptr: Ints
    power_mw: Ints
    user: Ints
    name: Ints
    group: Ints
    queue: Ints
    origin_unix: int | None = None
    source: str = field(default="")
    priority: Floats | None = None
    links: Links | None = None
    deadline_s: Ints | None = None

    def __post_init__(self) -> None:
        for array in (self.submit_s, self.runtime_s, self.requested_s, self.width):
            if len(array) != len(self.ids):
                raise InputError(f"{self.source}: {len(self.ids)} jobs, but a column of {len(array)}")
        if np.any(np.diff(self.submit_s) < 0):
            raise InputError(f"{self.source}: the jobs are not in order of submit time")
        if len(self.ids) and (self.runtime_s.min() < 1 or self.requested_s.min() < 1 or self.width.min() < 1):
            raise InputError(f"{self.source}: a job without runtime, requested time or width; clean the trace first")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def waits(self) -> Links:
        """Which jobs wait for which others."""
        return no_links(len(self)) if self.links is None else self.links

    @property
    def processors_of(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Processors of each job."""
        return self.width / self.machine.scale


def pool_trace(
    ids: tuple[str, ...],
    submit_s: Ints,
    runtime_s: Ints,
    requested_s: Ints,
    width: Ints,
    processors: int,
    *,
    user: Ints | None = None,
    name: Ints | None = None,
    group: Ints | None = None,
    queue: Ints | None = None,
    after: Sequence[tuple[Dependency, ...]] | None = None,
    origin_unix: int | None = None,
    source: str = "",
    priority: Floats | None = None,
    deadline_s: Ints | None = None,
) -> Trace:
    """A trace on one pool of processors; the jobs are put into submit order."""
    order = np.argsort(submit_s, kind="stable")
    count = len(order)
    unknown = np.full(count, -1, dtype=np.int64)

    def sorted_ints(values: Ints | None) -> Ints:
        return unknown if values is None else np.ascontiguousarray(np.asarray(values, dtype=np.int64)[order])

    widths = sorted_ints(width)
    names = tuple(ids[k] for k in order)
    pointers = np.arange(count + 1, dtype=np.int64)
    return Trace(
        ids=names,
        submit_s=sorted_ints(submit_s),
        runtime_s=sorted_ints(runtime_s),
        requested_s=sorted_ints(requested_s),
        width=widths,
        machine=Machine.pool(processors),
        group_ptr=pointers,
        group_count=np.ones(count, dtype=np.int64),
        group_amount=widths[:, None].copy(),
        unit_ptr=pointers,
        power_mw=np.zeros(count, dtype=np.int64),
        user=sorted_ints(user),
        name=sorted_ints(name),
        group=sorted_ints(group),
        queue=sorted_ints(queue),
        origin_unix=origin_unix,
        source=source,
        priority=None if priority is None else np.ascontiguousarray(priority[order]),
        links=None if after is None else links_of(names, [after[k] for k in order]),
        deadline_s=None if deadline_s is None else sorted_ints(deadline_s),
    )


def first_jobs(trace: Trace, count: int) -> Trace:
    """The first jobs of a trace, in submit order; a job that waits for one that is left out waits for it no more."""
    count = min(count, len(trace))
    groups = int(trace.group_ptr[count])
    per_job = ("submit_s", "runtime_s", "requested_s", "width", "power_mw", "user", "name", "group", "queue")
    return replace(
        trace,
        ids=trace.ids[:count],
        **{name: getattr(trace, name)[:count] for name in per_job},
        group_ptr=trace.group_ptr[: count + 1],
        group_count=trace.group_count[:groups],
        group_amount=trace.group_amount[:groups],
        unit_ptr=trace.unit_ptr[: count + 1],
        priority=None if trace.priority is None else trace.priority[:count],
        links=None if trace.links is None else first_links(trace.links, count),
        deadline_s=None if trace.deadline_s is None else trace.deadline_s[:count],
    )


def cluster_trace_of(
    jobs: Sequence[Job], runtime_s: Ints, requested_s: Ints, cluster: Cluster, *, origin_unix: int, source: str
) -> Trace:
    """A trace of jobs in order of release; its times count from a moment before all of them.

    A job that may not begin before some time joins the queue then: the trace takes that for its submission.
    """
    # Any day will do: what the columns say about a day is not used.
    restrictions = Restrictions.of(jobs)
    columns = job_columns(jobs, cluster, Horizon.of_unix(0, "UTC"), restrictions=restrictions)
    per_group = np.repeat(np.arange(len(jobs)), np.diff(columns.group_ptr))
    width = np.zeros(len(jobs), dtype=np.int64)
    np.add.at(width, per_group, columns.group_count * columns.group_amount[:, 0])
    limit = cluster.power_limit_mw
    ids = tuple(job.id for job in jobs)
    return Trace(
        ids=ids,
        submit_s=np.array([job.release_unix - origin_unix for job in jobs], dtype=np.int64),
        runtime_s=runtime_s,
        requested_s=requested_s,
        width=np.maximum(width, 1),
        machine=Machine(node_columns(cluster, restrictions).capacity, -1 if limit is None else limit, MILLI),
        group_ptr=columns.group_ptr,
        group_count=columns.group_count,
        group_amount=columns.group_amount,
        unit_ptr=columns.unit_ptr,
        power_mw=columns.power_mw,
        user=codes(job.user for job in jobs),
        name=codes(job.name for job in jobs),
        group=codes(job.account for job in jobs),
        queue=np.full(len(jobs), -1, dtype=np.int64),
        origin_unix=origin_unix,
        source=source,
        priority=priorities(jobs),
        deadline_s=deadlines(jobs, origin_unix),
        links=links_of(ids, [job.after for job in jobs]),
    )


def priorities(jobs: Sequence[Job]) -> Floats | None:
    """The priority of each job; None when all have the usual one."""
    given = np.array([job.priority for job in jobs], dtype=np.float64)
    return given if np.any(given != 1) else None


def deadlines(jobs: Sequence[Job], origin_unix: int) -> Ints | None:
    """The latest end of each job in seconds of a trace, -1 for none; None when no job has one."""
    if all(job.deadline_unix is None for job in jobs):
        return None
    # A deadline before the trace begins is missed, whatever its second.
    found = (-1 if job.deadline_unix is None else max(0, job.deadline_unix - origin_unix) for job in jobs)
    return np.fromiter(found, dtype=np.int64, count=len(jobs))


def codes(names: Iterable[str]) -> Ints:
    """A number for each name, -1 for none."""
    listed = list(names)
    known = {name: k for k, name in enumerate(sorted({name for name in listed if name}))}
    return np.array([known.get(name, -1) for name in listed], dtype=np.int64)


def draw_deadlines(trace: Trace, percent: float, seed: int) -> Ints:
    """Latest end of each job [s]: submit + max(24 h, 10 * requested time) for a share of the jobs, -1 for the others.

    Jobs that were given a deadline keep it, drawn or not. Every seed draws as many jobs, the share rounded; draws of
    other shares or seeds do not depend on each other.
    """
    if not 0 <= percent <= 100:
        raise InputError(f"{percent} % of jobs with a deadline; give a number from 0 to 100")
    rng = np.random.default_rng([seed, round(percent * 1000)])
    chosen = np.zeros(len(trace), dtype=np.bool_)
    chosen[rng.permutation(len(trace))[: round(len(trace) * percent / 100)]] = True
    slack = np.maximum(LEAST_DEADLINE_S, TIMES_REQUEST * trace.requested_s)
    drawn = np.where(chosen, trace.submit_s + slack, -1).astype(np.int64)
    return drawn if trace.deadline_s is None else np.where(trace.deadline_s >= 0, trace.deadline_s, drawn)
