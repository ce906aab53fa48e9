"""Whether units of several sizes fit on nodes together, and where: decided exactly.

Let the largest group of equal units be the main one. Node by node, for every number of units of the other groups that
the nodes so far can hold, keep the most units of the main group that they can hold besides. The job fits when the last
entry reaches the number that it asks for. The table has a row for each node and a column for each combination of the
other groups' numbers: it is exact, and cheap as long as few units differ from the main group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from planner.domain.columns import Ints

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
