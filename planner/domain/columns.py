"""Jobs as columns: the numbers of many jobs on a given cluster and day, as flat arrays, and hidden ones beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.domain.cluster import CORES, Cluster
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.precedence import Links, no_links
from planner.errors import InputError
from planner.units import MILLI

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Restrictions:
    """Rules about where jobs may run, as hidden columns beside the resources of the nodes.

    Whatever packs units by resources then honours the rules, and needs to know nothing about them. Each distinct set of
    allowed node classes, one of ``class_sets``, is a column: nodes of these classes have plenty of it, all others have
    none, and each unit of a job that is restricted to them asks for 1. Where a job wants its nodes for itself, is
    ``exclusive``, there is one more: all nodes have the same plenty of it, a unit of such a job asks for all of it, any
    other unit for 1. There are no columns that no job needs. They are not resources: nothing that people see or pay for
    counts them.
    """

    class_sets: tuple[tuple[str, ...], ...] = ()
    exclusive: bool = False

    @classmethod
    def of(cls, jobs: Iterable[Job]) -> Restrictions:
        """Those of some jobs."""
        known = list(jobs)
        return cls(tuple(sorted({job.classes for job in known if job.classes})), any(job.exclusive for job in known))

    def __len__(self) -> int:
        return len(self.class_sets) + self.exclusive

    def of_classes(self, cluster: Cluster, plenty: int) -> Ints:
        """What a node of each class has of each hidden column; ``plenty`` is more than units can ever ask for."""
        limits.NODE_CELLS.require(
            "the number of nodes times that of resources and sets of node classes that jobs are restricted to",
            cluster.node_count * (len(cluster.resources) + len(self)),
        )
        shared = [plenty] * self.exclusive
        rows = [
            [*(plenty * (each.name in allowed) for allowed in self.class_sets), *shared] for each in cluster.classes
        ]
        return np.array(rows, dtype=np.int64).reshape(len(cluster.classes), len(self))

    def of_unit(self, job: Job, plenty: int) -> list[int]:
        """What each unit of a job asks of each hidden column."""
        shared = [plenty if job.exclusive else 1] * self.exclusive
        return [*(int(job.classes == allowed) for allowed in self.class_sets), *shared]


NO_RESTRICTIONS = Restrictions()

NO_DEADLINE = np.iinfo(np.int64).max // 4
"""Latest start [s] of a job without a deadline: later than anything, with room to add to it."""


@dataclass(frozen=True)
class NodeColumns:
    """The cluster's nodes as arrays.

    Amounts are in whole thousandths, in the order of `Cluster.resources`; hidden columns of `Restrictions` come after.
    ``idle_mw`` is what a node draws while it is on and nothing runs on it, ``busy_mw`` what it draws besides its jobs,
    and ``asleep_mw`` what it draws when it has no work for long; the same as idle where it does not sleep.
    """

    class_of: Ints
    capacity: Ints
    idle_mw: Ints
    busy_mw: Ints
    asleep_mw: Ints

    @property
    def saved_mw(self) -> Ints:
        """What a node draws less when it is in use than when it rests; below zero where it draws more."""
        return self.asleep_mw - self.busy_mw

    @property
    def sleeps(self) -> bool:
        """Whether some node sleeps when it has no work."""
        return bool((self.asleep_mw != self.idle_mw).any())


@dataclass(frozen=True)
class JobColumns:
    """Jobs as arrays: one entry per job, per group of equal units, or per unit.

    The groups of job j are ``group_ptr[j]:group_ptr[j + 1]``, its units ``unit_ptr[j]:unit_ptr[j + 1]``.

    ``release_s`` is the first second of the day at which a job may start, ``latest_start_s`` the last that meets its
    deadline, or `NO_DEADLINE`; ``power_mw`` is its mean power, ``weight`` its revenue weight. ``group_amount`` is what
    a unit asks of each resource in thousandths, then of each hidden column (groups, columns);
    ``group_core_equivalents`` are those of a unit on a node of each class, 0 where it does not fit (groups, classes);
    ``group_charged`` are the core-hours that an hour of a unit is charged as, whatever its node.
    """

    release_s: Ints
    duration_s: Ints
    latest_start_s: Ints
    power_mw: Ints
    weight: Floats
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    group_core_equivalents: Floats
    group_charged: Floats
    unit_ptr: Ints
    unit_group: Ints
    links: Links

    def __len__(self) -> int:
        return len(self.release_s)


def node_columns(cluster: Cluster, restrictions: Restrictions = NO_RESTRICTIONS) -> NodeColumns:
    """The nodes of a cluster as arrays, with the hidden columns of restrictions."""
    counts = [node_class.count for node_class in cluster.classes]
    idle = np.array([round(node_class.idle_w * MILLI) for node_class in cluster.classes], dtype=np.int64)
    asleep = [each.idle_w if each.sleep_w is None else each.sleep_w for each in cluster.classes]
    return NodeColumns(
        class_of=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
        capacity=np.repeat(_class_room(cluster, restrictions), counts, axis=0),
        idle_mw=np.repeat(idle, counts),
        busy_mw=np.repeat(np.zeros_like(idle) if cluster.idle_rule.included else idle, counts),
        asleep_mw=np.repeat(np.array([round(each * MILLI) for each in asleep], dtype=np.int64), counts),
    )


def class_capacities(cluster: Cluster) -> Ints:
    """Capacity of a node of each class in thousandths, rounded down; shape (classes, resources)."""
    return np.array(
        [
            [int(np.floor(round(node_class.capacity.get(name, 0.0) * MILLI, 3))) for name in cluster.resources]
            for node_class in cluster.classes
        ],
        dtype=np.int64,
    )


def _class_room(cluster: Cluster, restrictions: Restrictions) -> Ints:
    """Capacity of a node of each class, then what it has of the hidden columns."""
    return np.concatenate([class_capacities(cluster), restrictions.of_classes(cluster, _plenty(cluster))], axis=1)


def _plenty(cluster: Cluster) -> int:
    """More units than any node can take: a unit asks for a thousandth of something at least."""
    return int(class_capacities(cluster).sum(axis=1).max())


def unit_amount(group: UnitGroup, cluster: Cluster) -> Ints:
    """What a unit of a group asks of each resource in thousandths, rounded up."""
    return _whole_amounts(np.array([group.amount(name) for name in cluster.resources], dtype=np.float64))


def _whole_amounts(amounts: Floats) -> Ints:
    """Amounts in thousandths, rounded up, but for noise in the last digits; whoever asks for something asks for one."""
    whole: Ints = np.maximum(np.ceil(np.round(amounts * MILLI, 3)), amounts > 0).astype(np.int64)
    return whole


def job_columns(
    jobs: Sequence[Job],
    cluster: Cluster,
    horizon: Horizon,
    now_s: int = 0,
    restrictions: Restrictions = NO_RESTRICTIONS,
) -> JobColumns:
    """The jobs as arrays, none released before now; InputError when one asks for a resource that no node knows.

    ``restrictions`` are those of all jobs that the nodes are for, these among them. Nobody waits for anybody, and
    nothing is charged: `Problem` says who waits, and what is charged.
    """
    index = {name: k for k, name in enumerate(cluster.resources)}
    groups = [group for job in jobs for group in job.units]
    amounts = np.zeros((len(groups), len(index)), dtype=np.float64)
    for row, group in enumerate(groups):
        for name, amount in group.amounts:
            if name not in index:
                raise InputError(f"a job asks for {name!r}, which no node has; known: {', '.join(index)}")
            amounts[row, index[name]] = amount
    counts = np.array([group.count for group in groups], dtype=np.int64)
    group_ptr = _pointers([len(job.units) for job in jobs])
    unit_ptr = np.concatenate([[0], np.cumsum(counts)])[group_ptr].astype(np.int64)
    start = horizon.start_unix
    plenty = _plenty(cluster)
    asked = [restrictions.of_unit(job, plenty) for job in jobs for _ in job.units] if len(restrictions) else []
    hidden = np.array(asked, dtype=np.int64).reshape(len(groups), len(restrictions))
    room = np.concatenate([_whole_amounts(amounts), hidden], axis=1)
    equivalents = _core_equivalents(room, cluster, restrictions)
    return JobColumns(
        release_s=_ints(max(now_s, job.release_unix - start) for job in jobs),
        duration_s=_ints(job.planned_s for job in jobs),
        latest_start_s=_ints(
            NO_DEADLINE if job.deadline_unix is None else job.deadline_unix - start - job.planned_s for job in jobs
        ),
        power_mw=_ints(round(job.power_w * MILLI) for job in jobs),
        weight=np.array([job.revenue_weight for job in jobs], dtype=np.float64),
        group_ptr=group_ptr,
        group_count=counts,
        group_amount=room,
        group_core_equivalents=equivalents,
        group_charged=np.zeros(len(groups)),
        unit_ptr=unit_ptr,
        unit_group=np.repeat(np.arange(len(groups), dtype=np.int64), counts),
        links=no_links(len(jobs)),
    )


def _core_equivalents(amounts: Ints, cluster: Cluster, restrictions: Restrictions) -> Floats:
    """Largest share of a node that a unit takes over all resources, times the node's cores."""
    rows, resources = _class_room(cluster, restrictions), len(cluster.resources)
    equivalents = np.zeros((len(amounts), len(rows)))
    for column, (row, node_class) in enumerate(zip(rows, cluster.classes, strict=True)):
        fits, capacity = np.all(amounts <= row, axis=1), row[:resources]
        share = np.max(amounts[:, :resources] / np.where(capacity > 0, capacity, 1), axis=1, initial=0.0)
        equivalents[:, column] = np.where(fits, share * node_class.capacity[CORES], 0.0)
    return equivalents


def _pointers(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)


def _ints(values: object) -> Ints:
    return np.fromiter(values, dtype=np.int64)  # type: ignore[call-overload, no-any-return]


def distinct_rows(table: Ints) -> tuple[Ints, Ints]:
    """The different rows of a table in ascending order, and which of them each row is.

    As ``np.unique`` with an axis, which takes several times as long.
    """
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    is_first = np.ones(len(table), dtype=np.bool_)
    is_first[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    which = np.empty(len(table), dtype=np.int64)
    which[order] = np.cumsum(is_first) - 1
    return ordered[is_first], which
