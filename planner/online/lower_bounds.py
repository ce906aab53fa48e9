"""What no schedule of a whole trace can do better than, in a metric of the jobs: proven, whatever is known ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.price_search import best_proof
from planner.online.priced import Cost, LinearCost, Slots, cost_of
from planner.online.search_options import OfflineSearch

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
    from planner.online.kernel.fluid import mean_busy_times

    jobs = cost.jobs
    count, processors = len(jobs), int(jobs.processors)
    work = (jobs.width * jobs.runtime_s).astype(np.int64)
    busy = np.empty(count)
    keys, room = np.empty(count), np.empty((3, count), dtype=np.int64)
    release = jobs.release_s.astype(np.int64) * processors
    mean_busy_times(release, work, cost.slope / work, keys, room[0], room[1], room[2], busy)
    found = float(np.sum(cost.slope * (busy / processors + jobs.runtime_s / 2)))
    return found * (1.0 - FLUID_ROUNDING * (count + 100))
