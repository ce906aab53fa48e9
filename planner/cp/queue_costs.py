"""What a start of a waiting job counts for, in whole numbers: the largest of a few lines.

Every local objective is a sum over jobs of a cost that rises with the start at a rate that never falls. Such a cost is
the largest of the lines between its neighbouring points. A straight cost is one line. A curved one, as of P2SF, is cut
into stretches in which the line is nowhere more than PRECISION above the cost. All is counted in a unit that makes the
cost of a known plan at most 2^42, so that whole numbers change it by far less than that, and the sums of a thousand
jobs stay below the 2^53 up to which CP Optimizer is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.domain.columns import Ints
from planner.domain.waiting_queue import WaitingQueue

PRECISION = 0.002
"""How far a line may be above the cost that it stands for, as a part of that cost."""

COST_BITS = 42
"""A known plan costs at most 2 to this power."""

ROUNDING = 1e-9
"""What sums of costs may be wrong by, as a part of them."""

Line = tuple[int, int]
"""What a cost rises by in a second, and its value at second 0."""


@dataclass(frozen=True)
class Costs:
    """The latest start of each job that can be part of a better plan [s from now], and the lines of its cost."""

    latest_s: tuple[int, ...]
    lines: tuple[tuple[Line, ...], ...]


def costs_of(queue: WaitingQueue, known_s: Ints) -> Costs:
    """The costs of a queue, as far as plans are no worse than a known one."""
    latest_s = _latest_starts(queue, known_s)
    worst = float(queue.cost(np.arange(len(queue)), known_s).sum())
    unit = 2.0 ** (math.ceil(math.log2(worst)) - COST_BITS)
    lines = [_lines(queue, job, int(latest), unit) for job, latest in enumerate(latest_s)]
    return Costs(tuple(latest_s.tolist()), tuple(lines))


def _latest_starts(queue: WaitingQueue, known_s: Ints) -> Ints:
    """The latest start of each job that leaves a plan no worse than the known one, if all others started now.

    A plan in which nobody waits for nothing has started all jobs when what changes has changed and all others are done.
    """
    jobs = np.arange(len(queue))
    least = queue.cost(jobs, np.zeros_like(known_s))
    most = least + float((queue.cost(jobs, known_s) - least).sum()) * (1 + ROUNDING)
    low, high = known_s.copy(), np.maximum(known_s, queue.last_change_s + int(queue.length_s.sum()))
    while np.any(low < high):
        middle = (low + high + 1) // 2
        is_possible = queue.cost(jobs, middle) <= most
        low, high = np.where(is_possible, middle, low), np.where(is_possible, high, middle - 1)
    return low


def _lines(queue: WaitingQueue, job: int, latest_s: int, unit: float) -> tuple[Line, ...]:
    """The cost of a job from now until its latest start."""
    start_s = np.unique([0, latest_s])
    while True:
        middle = np.unique((start_s[:-1] + start_s[1:]) // 2)
        between = np.interp(middle, start_s, _cost(queue, job, start_s))
        cost = _cost(queue, job, middle)
        more = np.setdiff1d(middle[between - cost > PRECISION * cost], start_s)
        if len(more) == 0:
            break
        start_s = np.union1d(start_s, more)
    points = list(zip(start_s.tolist(), (_cost(queue, job, start_s) / unit).tolist(), strict=True))
    if len(points) == 1:
        return ((0, round(points[0][1])),)
    lines = []
    for (before, low), (after, high) in pairwise(points):
        slope = round((high - low) / (after - before))
        lines.append((slope, round(low) - slope * before))
    return tuple(dict.fromkeys(lines))


def _cost(queue: WaitingQueue, job: int, start_s: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return queue.cost(np.full(len(start_s), job), start_s)
