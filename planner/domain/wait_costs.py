"""What waiting counts for when plans are compared: by job and hour, more with age, and much more once a job is late.

A job that starts w hours after it could first begin counts ``r * w * (1 + w / (2 * 24))``: a day later an hour counts
twice as much. From ``due_s`` on every hour counts ``late_eur_per_h`` more. None of it is money.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.limits import DAY_S
from planner.units import SECONDS_PER_HOUR

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
    """What the waits of jobs count that start at given moments [EUR]."""
    wait_h = np.maximum(0.0, start_s - table[:, READY]) / SECONDS_PER_HOUR
    late_h = np.maximum(0.0, start_s - table[:, DUE]) / SECONDS_PER_HOUR
    costs: Floats = table[:, RATE] * wait_h * (1.0 + wait_h / (2.0 * TWICE_H)) + table[:, LATE] * late_h
    return costs
