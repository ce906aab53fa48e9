"""A plan: a start and nodes for every job that runs today, and how single jobs are packed. It holds no money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.domain.problem import Problem
from planner.errors import InputError

DeferralKind = Literal["deferred", "rejected", "withdrawn"]
DEFERRED = -1
"""Start of a job that does not start today, and node of each of its units."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One job's start [s from the start of the day] and the node of each of its units."""

    job_id: str
    start_s: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deferral:
    """A job left for later (``deferred``), refused for good (``rejected``) or taken back (``withdrawn``); the reason.

    ``times`` counts the days that deferred it, this one included; 0 for the others. ``planned_start_s`` is when it is
    planned to start after the day, where that is known.
    """

    job_id: str
    kind: DeferralKind
    reason: str
    times: int = 0
    planned_start_s: int | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Start of each job and node of each unit, in the order of the problem's jobs and units."""

    start_s: Ints
    node_of_unit: Ints

    def __post_init__(self) -> None:
        self.start_s.setflags(write=False)
        self.node_of_unit.setflags(write=False)

    @classmethod
    def of(cls, problem: Problem, placements: dict[str, Placement]) -> Plan:
        """A plan from placements by job id; jobs without one are deferred."""
        columns = problem.columns
        start_s = np.full(len(columns), DEFERRED, dtype=np.int64)
        node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
        for index, job in enumerate(problem.jobs):
            placement = placements.get(job.id)
            if placement is not None:
                if len(placement.nodes) != job.unit_count:
                    raise InputError(f"job {job.id} has {job.unit_count} units on {len(placement.nodes)} nodes")
                start_s[index] = placement.start_s
                node_of_unit[columns.unit_ptr[index] : columns.unit_ptr[index + 1]] = placement.nodes
        return cls(start_s, node_of_unit)

    @property
    def is_placed(self) -> npt.NDArray[np.bool_]:
        """Which jobs start today."""
        return np.not_equal(self.start_s, DEFERRED)

    def placements(self, problem: Problem) -> Iterator[Placement]:
        """The placed jobs, in the order of the problem."""
        pointers = problem.columns.unit_ptr
        for index in np.flatnonzero(self.is_placed):
            nodes = self.node_of_unit[pointers[index] : pointers[index + 1]]
            yield Placement(problem.jobs[index].id, int(self.start_s[index]), tuple(nodes.tolist()))


MOST_CELLS = 2**20
"""Cells of the largest table that is filled. A job that needs more is packed by a rule of thumb, and none is refused
because that rule found no room."""


def other_combinations(counts: Sequence[int]) -> int:
    """Combinations of the numbers of units outside the main group, which is the largest, the first of equals."""
    combinations = 1
    main = main_group(counts)
    for group, count in enumerate(counts):
        combinations *= int(count) + 1 if group != main else 1
    return combinations


def is_decidable(counts: Sequence[int], nodes: int) -> bool:
    """Whether the table for a job's groups on this many nodes is small enough to be filled."""
    return other_combinations(counts) * (nodes + 1) <= MOST_CELLS


def most_cells(group_ptr: Ints, group_count: Ints, nodes: int) -> int:
    """Cells of the largest table that the jobs with these groups need on this many nodes; at least one."""
    needed = 1
    count_of = group_count.tolist()
    for counts in {tuple(count_of[first:last]) for first, last in pairwise(group_ptr.tolist()) if last - first > 1}:
        if is_decidable(counts, nodes):
            needed = max(needed, other_combinations(counts) * (nodes + 1))
    return needed


def main_group(counts: Sequence[int]) -> int:
    """The largest group, the first of equals."""
    return max(range(len(counts)), key=lambda group: (counts[group], -group))


def copies_of(free: Ints, amount: Ints) -> Ints:
    """How many equal units fit into what each node has free."""
    asked = amount > 0
    copies: Ints = np.maximum(0, np.min(free[:, asked] // amount[asked], axis=1))
    return copies


def nodes_for(free: Ints, amounts: Sequence[Ints], counts: Sequence[int]) -> list[list[int]] | None:
    """Nodes for the units of each group; None when they do not fit.

    ``free`` is what each node has, shape (nodes, resources). Among nodes, low numbers go first. Ask `is_decidable`
    before: the table is filled whatever its size.
    """
    main = main_group(counts)
    others = [group for group in range(len(counts)) if group != main]
    if np.any(free.sum(axis=0) < sum(np.asarray(a) * n for a, n in zip(amounts, counts, strict=True))):
        return None
    shape = tuple(counts[group] + 1 for group in others)
    start = np.full(shape, -1, dtype=np.int64)
    start[(0,) * len(others)] = 0
    rows, used = [start], []
    for node in range(len(free)):
        if not any(np.all(free[node] >= amount) for amount in amounts):
            continue
        row = np.full(shape, -1, dtype=np.int64)
        for pattern, copies in _patterns(free[node], [amounts[g] for g in others], shape, amounts[main]):
            into = tuple(slice(k, None) for k in pattern)
            source = rows[-1][tuple(slice(0, size - k) for size, k in zip(shape, pattern, strict=True))]
            reached = np.where(source >= 0, np.minimum(source + copies, counts[main]), -1)
            row[into] = np.maximum(row[into], reached)
        rows.append(row)
        used.append(node)
        if row[tuple(size - 1 for size in shape)] >= counts[main]:
            return _traced(free, amounts, counts, rows, used)
    return None


def _traced(
    free: Ints, amounts: Sequence[Ints], counts: Sequence[int], rows: list[Ints], used: list[int]
) -> list[list[int]]:
    """The nodes that led to the last entry of the table."""
    main = main_group(counts)
    others = [group for group in range(len(counts)) if group != main]
    shape = rows[0].shape
    chosen: list[list[int]] = [[] for _ in counts]
    at = tuple(size - 1 for size in shape)
    for before, row, node in zip(rows[-2::-1], rows[:0:-1], reversed(used), strict=True):
        for pattern, copies in _patterns(free[node], [amounts[g] for g in others], shape, amounts[main]):
            source = tuple(a - k for a, k in zip(at, pattern, strict=True))
            if min(source, default=0) < 0 or before[source] < 0:
                continue
            if min(before[source] + copies, counts[main]) == row[at]:
                for group, taken in zip(others, pattern, strict=True):
                    chosen[group] += [node] * taken
                chosen[main] += [node] * int(row[at] - before[source])
                at = source
                break
    return [sorted(nodes) for nodes in chosen]


def _patterns(
    free: Ints, amounts: Sequence[Ints], shape: tuple[int, ...], main_amount: Ints
) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many units of each other group a node can hold together, and how many main units besides."""
    if not amounts:
        yield (), int(copies_of(free[None, :], main_amount)[0])
        return
    taken, left = 0, free
    while taken < shape[0] and np.all(left >= 0):
        for rest, copies in _patterns(left, amounts[1:], shape[1:], main_amount):
            yield (taken, *rest), copies
        taken += 1
        left = left - amounts[0]


Mask = npt.NDArray[np.bool_]


def may_begin(problem: Problem) -> Mask:
    """Which jobs may start before the day is over."""
    allowed: Mask = problem.columns.release_s < problem.starts_end_s
    return allowed


def without_others(problem: Problem, kept: Mask) -> Problem:
    """The problem with some of its jobs."""
    return replace(problem, jobs=tuple(job for job, stays in zip(problem.jobs, kept, strict=True) if stays))


def cut_plan(problem: Problem, plan: Plan, until_s: int) -> Plan:
    """What a plan starts before a moment."""
    stays = plan.is_placed & (plan.start_s < until_s)
    unit_stays = np.repeat(stays, np.diff(problem.columns.unit_ptr))
    return Plan(
        np.where(stays, plan.start_s, DEFERRED).astype(np.int64),
        np.where(unit_stays, plan.node_of_unit, DEFERRED).astype(np.int64),
    )


def only(problem: Problem, kept: Mask, plan: Plan) -> Plan:
    """A plan of the problem as one for some of its jobs."""
    unit_kept = np.repeat(kept, np.diff(problem.columns.unit_ptr))
    return Plan(plan.start_s[kept], plan.node_of_unit[unit_kept])


def with_others(problem: Problem, kept: Mask, plan: Plan) -> Plan:
    """A plan for some of the jobs as one for all of them; the others are deferred."""
    columns = problem.columns
    start_s = np.full(len(columns), DEFERRED, dtype=np.int64)
    node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    start_s[kept] = plan.start_s
    node_of_unit[np.repeat(kept, np.diff(columns.unit_ptr))] = plan.node_of_unit
    return Plan(start_s, node_of_unit)
