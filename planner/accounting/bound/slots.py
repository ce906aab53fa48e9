"""What the bound counts in: slots of time with one price of room and one of power, and shares of nodes.

A measure gives each unit a share of a node such that the units on one node never add up to more than 1. Each resource
is one: amount over capacity. Another one per resource sees that wide units cannot share a node: 1 for units of more
than half of the node, 1/2 for exactly half, 0 for less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR

SLOT_S = 3600
"""How long a slot is unless somebody says otherwise [s]."""


@dataclass(frozen=True)
class BoundSlots:
    """The day cut at the edges of its segments and at regular moments; ``segment`` is the segment of each slot.

    ``counts`` is what the money of each slot counts.
    """

    edges_s: Ints
    segment: Ints
    counts: Floats

    def __len__(self) -> int:
        return len(self.segment)

    @cached_property
    def hours(self) -> Floats:
        """Length of each slot [h]."""
        return np.diff(self.edges_s) / SECONDS_PER_HOUR

    def integral(self, height: Floats, moments_s: Ints) -> Floats:
        """Integral over time from the start of the day to each moment of step functions, in their unit times hours.

        ``height`` has one row per function and one column per slot; the result has a leading axis for the functions.
        """
        slot = np.clip(np.searchsorted(self.edges_s, moments_s, side="right") - 1, 0, len(self) - 1)
        into = (moments_s - self.edges_s[slot]) / SECONDS_PER_HOUR
        before = np.concatenate([np.zeros((len(height), 1)), np.cumsum(height * self.hours, axis=1)], axis=1)
        return before[:, slot] + height[:, slot] * into


def cut_slots(problem: Problem, slot_s: int) -> BoundSlots:
    """Slots of at most that length, none across the edge of a segment."""
    borders = problem.segment_columns.edges_s
    edges = np.unique(np.concatenate([borders, np.arange(0, problem.horizon.length_s, max(1, slot_s))]))
    segment = np.searchsorted(borders, edges[:-1], side="right") - 1
    return BoundSlots(edges, segment, problem.segment_columns.counts[segment])


def demand_windows(problem: Problem, slots: BoundSlots, bills_s: Ints) -> list[tuple[int, int]]:
    """Shortest runs of slots within one segment that hold whole demand intervals only: first slot and end."""
    on_tick = np.flatnonzero(_ends_interval(problem, slots.edges_s, bills_s))
    return [
        (int(first), int(end)) for first, end in pairwise(on_tick) if slots.segment[first] == slots.segment[end - 1]
    ]


def demand_blocks(problem: Problem, bills_s: Ints) -> list[tuple[int, int]]:
    """Shortest runs of segments that hold whole demand intervals only: first segment and end."""
    on_tick = np.flatnonzero(_ends_interval(problem, problem.segment_columns.edges_s, bills_s))
    return [(int(first), int(end)) for first, end in pairwise(on_tick)]


def _ends_interval(problem: Problem, edges_s: Ints, bills_s: Ints) -> npt.NDArray[np.bool_]:
    """Which edges are ends of demand intervals; these are counted from the beginning of each bill."""
    into_bill_s = edges_s - bills_s[np.searchsorted(bills_s, edges_s, side="right") - 1]
    ends = into_bill_s % problem.rates.demand_interval_s == 0
    return np.asarray(ends | (edges_s == problem.horizon.length_s), dtype=np.bool_)


@dataclass(frozen=True)
class Shares:
    """Measures of node room: ``class_of`` each, and the share that a unit of each group takes, NaN-free.

    ``of_group`` has one row per measure and one column per group of the jobs; ``of_running`` likewise for running work.
    ``fits`` says which groups can be on which class at all; shape (groups, classes).
    """

    class_of: Ints
    of_group: Floats
    of_running: Floats
    fits: npt.NDArray[np.bool_]


def node_shares(problem: Problem) -> Shares:
    """All measures that some other one does not make idle."""
    capacities = problem.class_capacity
    amounts = problem.columns.group_amount
    running = problem.running_columns.group_amount
    fits = np.all(amounts[:, None, :] <= capacities[None, :, :], axis=2)
    classes, rows = [], []
    for index, capacity in enumerate(capacities):
        able = np.concatenate([fits[:, index], np.all(running <= capacity, axis=1)])
        asked = np.where(able[:, None], np.concatenate([amounts, running]), 0)
        measures = [row for r in np.flatnonzero(capacity) for row in _measures(asked[:, r], int(capacity[r]))]
        kept = _undominated(measures)
        classes += [index] * len(kept)
        rows += kept
    table = np.array(rows).reshape(len(rows), len(amounts) + len(running))
    return Shares(np.array(classes, dtype=np.int64), table[:, : len(amounts)], table[:, len(amounts) :], fits)


def _measures(amount: Ints, capacity: int) -> list[Floats]:
    plain = amount / capacity
    halves = np.select([2 * amount > capacity, 2 * amount == capacity], [1.0, 0.5], 0.0)
    return [plain, halves]


def _undominated(measures: list[Floats]) -> list[Floats]:
    """The measures that are not everywhere at most another one; of equal ones the first."""
    kept: list[Floats] = []
    for index, row in enumerate(measures):
        others = measures[index + 1 :]
        if not any(np.all(row <= other) for other in kept) and not any(
            np.all(row <= other) and np.any(row < other) for other in others
        ):
            kept.append(row)
    return kept
