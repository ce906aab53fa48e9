"""How long jobs waited, and what waiting and later money count for when plans are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.limits import DAY_S
from planner.units import SECONDS_PER_HOUR, rounded


@dataclass(frozen=True)
class Waits:
    """How long jobs waited from when they could first start to their start [s]; None where there was none.

    ``still_waiting`` of them have not started by the end: their waits count until then, though they go on.
    ``over_48_h`` of them waited for more than two days. ``started_mean_s`` is the mean of those that started.
    """

    mean_s: float | None
    p95_s: float | None
    still_waiting: int = 0
    longest_s: float | None = None
    over_48_h: int = 0
    started_mean_s: float | None = None

    @classmethod
    def of(cls, ready_s: Ints, start_s: Ints, end_s: int) -> Waits:
        """The waits of jobs until an end; starts are below 0 for jobs that do not start.

        Whoever could not have started by the end has not begun to wait, and is left out.
        """
        starts = (start_s >= 0) & (start_s < end_s)
        counts = starts | (ready_s < end_s)
        wait_s = np.maximum(np.where(starts, start_s, end_s) - ready_s, 0)[counts]
        if not len(wait_s):
            return cls(None, None)
        still_waiting = int((counts & ~starts).sum())
        return cls(
            rounded(float(wait_s.mean())),
            rounded(float(np.percentile(wait_s, 95))),
            still_waiting,
            rounded(float(wait_s.max())),
            int((wait_s > 2 * DAY_S).sum()),
            rounded(float(wait_s[starts[counts]].mean())) if starts.any() else None,
        )


READY, RATE, DUE, LATE = 0, 1, 2, 3
"""Columns of a table of such prices."""

TWICE_H = DAY_S / SECONDS_PER_HOUR
"""After so long an hour of waiting counts twice as much as the first."""


class WaitPrice(NamedTuple):
    """Since when a job waits [s of the horizon], what an hour of it counts, when it is late, and what that counts."""

    ready_s: int
    eur_per_h: float
    due_s: int
    late_eur_per_h: float


def wait_table(prices: Sequence[WaitPrice]) -> Floats:
    """Prices as an array, one row per job."""
    return np.array(prices, dtype=np.float64).reshape(len(prices), len(WaitPrice._fields))


def wait_slopes(table: Floats, start_s: Ints) -> Floats:
    """By how much more waits count with every hour, for jobs that start at given moments; being late apart [EUR]."""
    wait_h = np.maximum(0.0, start_s - table[:, READY]) / SECONDS_PER_HOUR
    slopes: Floats = table[:, RATE] * (1.0 + wait_h / TWICE_H)
    return slopes


def wait_costs(table: Floats, start_s: Ints) -> Floats:
    """What the waits of jobs count that start at given moments: more with age, and much more once a job is late [EUR].

    A job that starts w hours after it could first begin counts ``r * w * (1 + w / (2 * 24))``: a day later an hour
    counts twice as much. From ``due_s`` on every hour counts ``late_eur_per_h`` more. None of it is money.
    """
    wait_h = np.maximum(0.0, start_s - table[:, READY]) / SECONDS_PER_HOUR
    late_h = np.maximum(0.0, start_s - table[:, DUE]) / SECONDS_PER_HOUR
    costs: Floats = table[:, RATE] * wait_h * (1.0 + wait_h / (2.0 * TWICE_H)) + table[:, LATE] * late_h
    return costs


TOMORROW_COUNTS = 0.5
"""What the money of tomorrow counts at least: its room is as scarce as today's, but who will come in is not known."""


@dataclass(frozen=True)
class Regime:
    """What a euro of later days counts, from 0 to 1, and why; one of tomorrow counts half at least.

    ``load`` is the work that came in on the days before, as a part of what the machine can do; None where that is not
    known. ``backlog_days`` is the work that waits and runs, in days of the whole machine. ``is_set``: the site said so.
    """

    later: float
    load: float | None
    backlog_days: float
    is_set: bool = False

    @property
    def name(self) -> str:
        """The regime in words."""
        if self.later >= 1:
            return "the queue empties"
        return "overloaded" if self.later <= 0 else "nearly full"


def tomorrow_counts(later: float) -> float:
    """What a euro of tomorrow counts where one of later days counts ``later``."""
    return max(later, TOMORROW_COUNTS)


def counts_words(later: float) -> str:
    """What a euro of tomorrow and of later days counts, in words."""
    if later >= TOMORROW_COUNTS:
        return f"after today counts {later:.2f}"
    return f"of tomorrow counts {TOMORROW_COUNTS:.2f}, of later days {later:.2f}"
