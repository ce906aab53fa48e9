"""Prices of processors over time that prove much: raised where more is wanted than there is, lowered elsewhere.

The steps are those of a subgradient method whose step in each slot is scaled by how the slot's excess has been (Kingma
and Ba 2015). They are taken in rounds, in each of which steps shrink more than a hundredfold; from round to round slots
are cut where prices are. What a round does depends on those before it alone, so that more rounds never prove less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats
from planner.online.priced import Cost, Jobs, Slots

ROUND_STEPS = 200
FIRST_STEPS = (1.0, 8.0, 64.0)
"""First steps of the first rounds, which all begin without prices; the best one serves the later rounds."""
AFTER_FIRST = 0.1
AFTER_LOSS = 0.4
"""What becomes of the first step after these rounds, and after a later one that gained nothing."""
SHRINKS_TO = 0.003
"""The last step of a round, as a part of its first."""
MEMORY, LONG_MEMORY = 0.9, 0.98
"""How much of the past counts in the mean of the excess, and in that of its square."""


@dataclass(frozen=True)
class Proof:
    """What prices prove of a metric, on how many slots, after how many steps."""

    bound: float
    slots: int
    steps: int


def best_proof(cost: Cost, steps: int) -> Proof:
    """The most that prices prove within so many steps, whole rounds only."""
    slots = Slots(_first_edges(cost.jobs), cost.jobs)
    unit = cost.size / (cost.jobs.processors * float(slots.edges[-2]))  # as if all costs were for processors
    price = none = np.zeros(len(slots))
    best, step = Proof(cost.bound(slots, none), len(slots), 0), FIRST_STEPS[0] * unit
    for number in range(steps // ROUND_STEPS):
        if number < len(FIRST_STEPS):
            finer, begin, first_step = slots, none, FIRST_STEPS[number] * unit
        else:
            finer, begin = _cut(slots, price, cost)
            first_step = step * AFTER_FIRST
        found, bound = _round(cost, finer, begin, first_step)
        if bound > best.bound:
            slots, price, best = finer, found, Proof(bound, len(finer), (number + 1) * ROUND_STEPS)
            step = first_step if number < len(FIRST_STEPS) else step
        elif number >= len(FIRST_STEPS):
            step *= AFTER_LOSS
    return best


def _round(cost: Cost, slots: Slots, price: Floats, first_step: float) -> tuple[Floats, float]:
    """The best prices of a round, and what they prove."""
    size = cost.jobs.processors * slots.length_s
    # what a short slot can prove takes a high price
    step_of_slot = first_step * np.sqrt(np.max(slots.length_s) / slots.length_s)
    mean, square = np.zeros(len(slots)), np.zeros(len(slots))
    best, highest = price, -np.inf
    for number in range(1, ROUND_STEPS + 1):
        value = cost.value(slots, price)
        if value > highest:
            best, highest = price, value
        excess = slots.taken() / size - 1.0
        mean = MEMORY * mean + (1 - MEMORY) * excess
        square = LONG_MEMORY * square + (1 - LONG_MEMORY) * excess**2
        usual = np.sqrt(square / (1 - LONG_MEMORY**number)) + 1e-3
        step = step_of_slot * SHRINKS_TO ** (number / ROUND_STEPS)
        price = np.maximum(0.0, price + step * mean / ((1 - MEMORY**number) * usual))
    return best, cost.bound(slots, best)


def _first_edges(jobs: Jobs) -> Floats:
    """Slots of one length, one for every other job, until all work can be done."""
    work_s = float(np.sum(jobs.width * jobs.runtime_s)) / jobs.processors
    last = max(float(np.max(jobs.release_s + jobs.runtime_s)), np.ceil(jobs.release_s[-1] + work_s))
    length = max(1.0, np.ceil(last / (len(jobs) // 2 + 64)))
    return np.append(np.arange(0.0, last, length), last)


def _cut(slots: Slots, price: Floats, cost: Cost) -> tuple[Slots, Floats]:
    """Slots with a price, and those beside them, cut in two and where jobs are submitted, or end if they do not wait.

    Prices stay as they are. Nothing is cut where there would be too many slots.
    """
    edges, jobs = slots.edges[:-1], cost.jobs
    middle = np.floor((edges[:-1] + edges[1:]) / 2)
    wanted = np.unique(np.concatenate([middle, jobs.release_s, jobs.release_s + jobs.runtime_s]))
    within = np.minimum(np.searchsorted(edges, wanted, side="right") - 1, len(slots) - 1)
    priced = np.concatenate([[False], price > 0.0, [False]])
    near_price = priced[:-2] | priced[1:-1] | priced[2:]
    finer = np.unique(np.concatenate([edges, wanted[near_price[within]]]))
    if len(finer) > cost.slots_per_job * len(jobs) + 1000:
        return slots, price
    return Slots(finer, jobs), price[np.searchsorted(edges, finer[:-1], side="right") - 1]
