"""Slots: the stretches of the day over which the bound keeps one price of room and one of power."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Slots:
    """The day cut at the edges of its segments and at regular moments; ``segment`` is the segment of each slot."""

    edges_s: Ints
    segment: Ints

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


def cut_slots(problem: Problem, slot_s: int) -> Slots:
    """Slots of at most that length, none across the edge of a segment."""
    borders = problem.segment_columns.edges_s
    edges = np.unique(np.concatenate([borders, np.arange(0, problem.horizon.length_s, max(1, slot_s))]))
    return Slots(edges, np.searchsorted(borders, edges[:-1], side="right") - 1)


def demand_windows(problem: Problem, slots: Slots, bills_s: Ints) -> list[tuple[int, int]]:
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
