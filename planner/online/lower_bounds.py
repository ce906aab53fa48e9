"""What no schedule of a whole trace can do better than, in a metric of the jobs: proven, whatever is known ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.kernel.lower_bound_starts import mean_busy_times
from planner.online.lower_bound_costs import Cost, LinearCost, PricedJobs, Slots, cost_of
from planner.online.search_options import OfflineSearch

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


def _first_edges(jobs: PricedJobs) -> Floats:
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


BOUNDED = ("af", "awf", "bsld", "p2sf")
"""The metrics that have a bound."""

FLUID_ROUNDING = float(np.finfo(np.float64).eps)
"""What an operation may err by: all terms are positive, and a job can be stopped once for each other job."""


@dataclass(frozen=True)
class LowerBound:
    """The least that a metric can be, in its own unit, and what proves it: ``value`` is the largest of three.

    ``alone`` is what it would be if every job had the machine to itself, ``fluid`` where jobs can be split and stopped
    at will (NaN where that proves nothing), ``priced`` where processors have a price. ``slots`` counts the stretches of
    time with a price of their own, ``steps`` those of the search until the last gain.
    """

    objective: str
    alone: float
    fluid: float
    priced: float
    slots: int
    steps: int

    @property
    def value(self) -> float:
        """The bound."""
        return max(self.alone, self.priced, self.alone if math.isnan(self.fluid) else self.fluid)


def lower_bound(trace: Trace, objective: str, *, steps: int = OfflineSearch.bound_steps) -> LowerBound:
    """What no schedule of the trace can be below in a metric of `BOUNDED`; the machine counts as one pool.

    More steps never give less, and the same trace gives the same. NaN if there are no jobs. InputError for other
    metrics, and for jobs that wait for others: from when their waits count depends on the schedule.
    """
    name = objective.strip().lower()
    if name not in BOUNDED:
        raise InputError(f"no lower bound for the metric {objective!r}; known: {', '.join(BOUNDED)}")
    if not len(trace):
        return LowerBound(name, math.nan, math.nan, math.nan, 0, 0)
    if len(trace.waits):
        raise InputError(f"{trace.source}: no lower bound where jobs wait for others")
    cost = cost_of(trace, name)
    alone = _alone(cost)
    proof = best_proof(cost, steps)
    fluid = _fluid(cost) if isinstance(cost, LinearCost) else math.nan
    return LowerBound(name, alone, fluid, proof.bound, proof.slots, proof.steps)


def _alone(cost: Cost) -> float:
    """The bound where processors cost nothing."""
    last = float(np.max(cost.jobs.release_s + cost.jobs.runtime_s))
    return cost.bound(Slots(np.array([0.0, last]), cost.jobs), np.zeros(1))


def _fluid(cost: LinearCost) -> float:
    """Goemans' bound: mean busy times on a machine that works as one, most slope per work first.

    The end of a job that is not stopped is its mean busy time and half its runtime, and no schedule has a lower
    weighted sum of mean busy times. Times are counted in whole processor-seconds of the machine, without rounding.
    """
    jobs = cost.jobs
    count, processors = len(jobs), int(jobs.processors)
    work = (jobs.width * jobs.runtime_s).astype(np.int64)
    busy = np.empty(count)
    keys, room = np.empty(count), np.empty((3, count), dtype=np.int64)
    release = jobs.release_s.astype(np.int64) * processors
    mean_busy_times(release, work, cost.slope / work, keys, room[0], room[1], room[2], busy)
    found = float(np.sum(cost.slope * (busy / processors + jobs.runtime_s / 2)))
    return found * (1.0 - FLUID_ROUNDING * (count + 100))
