"""What no schedule of a whole trace can do better than, in a metric of the jobs: proven, whatever is known ahead.

The proof is the Lagrangian of the machine's size. Where processors have a price, whatever it is, no schedule costs less
than the sum over jobs of what each pays at its cheapest start, for waiting and for processors, less what the whole
machine sells at these prices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.limits import DAY_S
from planner.metrics import SHORTEST_S
from planner.online.kernel.lower_bound_starts import cheapest_powered_starts, cheapest_starts, mean_busy_times
from planner.online.policies import OfflineSearch

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

BOUNDED = ("af", "awf", "bsld", "p2sf")
"""The metrics that have a bound."""

FLUID_ROUNDING = float(np.finfo(np.float64).eps)
"""What an operation may err by: all terms are positive, and a job can be stopped once for each other job."""

ROUNDING = 1e-12
"""Part of the sum of the sizes of all terms that is taken off a sum: some hundred times what rounding can add."""

NEWTON_STEPS = 12

NEAR = 1e-7
"""How near a proven quotient comes to the largest one, as a part of it."""


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


@dataclass(frozen=True, eq=False)
class PricedJobs:
    """The jobs, one entry per job, and the processors of the machine; releases count from the first one on.

    ``table`` has the other three as its rows, for kernels.
    """

    table: Floats
    release_s: Floats
    runtime_s: Floats
    width: Floats
    processors: float

    @classmethod
    def of(cls, trace: Trace) -> PricedJobs:
        """The jobs of a trace; widths in the machine's own units."""
        release = trace.submit_s - trace.submit_s[0]
        table = np.array([release, trace.runtime_s, trace.width], dtype=np.float64)
        return cls(table, table[0], table[1], table[2], float(trace.machine.capacity[:, 0].sum()))

    def __len__(self) -> int:
        return len(self.width)


class Slots:
    """Stretches of time in which the price does not change, and where the jobs begin in them."""

    def __init__(self, edges: Floats, jobs: PricedJobs) -> None:
        self.edges: Floats = np.append(edges, np.inf)
        self.length_s: Floats = np.diff(edges)
        self.release_slot: Ints = np.searchsorted(edges, jobs.release_s, side="right") - 1
        self.end_slot: Ints = np.searchsorted(edges, jobs.release_s + jobs.runtime_s, side="right") - 1
        self.whole: Floats = np.empty(len(edges) + 1)
        self.parts: Floats = np.empty(len(edges))

    def __len__(self) -> int:
        return len(self.length_s)

    def total(self, price: Floats) -> Floats:
        """What one processor costs until each edge.

        As rounded, this *is* the price that counts: it never falls, and every bound is worked out from it.
        """
        return np.concatenate([[0.0], np.cumsum(price * self.length_s)])

    def taken(self) -> Floats:
        """Processor-seconds that the starts found last take in each slot."""
        taken: Floats = np.cumsum(self.whole)[: len(self)] * self.length_s + self.parts[:-1]
        return taken


@dataclass(frozen=True, eq=False)
class LinearCost:
    """A sum of jobs: ``base`` and for each second of waiting after ``flat_until`` the slope."""

    jobs: PricedJobs
    base: float
    slope: Floats
    flat_until: Floats
    slots_per_job: int = 5

    @property
    def size(self) -> float:
        """The order of magnitude of all costs."""
        return self.base

    def value(self, slots: Slots, price: Floats) -> float:
        """What no schedule costs less than, by these prices; the slots note which processors are wanted."""
        total = slots.total(price)
        lowest = np.empty(len(self.jobs))
        slots.whole[:] = slots.parts[:] = 0.0
        cheapest_starts(
            self.jobs.table,
            self.slope,
            self.flat_until,
            slots.release_slot,
            slots.end_slot,
            slots.edges,
            total,
            _steps(slots, total),
            lowest,
            slots.whole,
            slots.parts,
        )
        return self.base + _less_sold(self.jobs, lowest, total, self.base + float(np.sum(lowest)))

    def bound(self, slots: Slots, price: Floats) -> float:
        """The metric's bound by these prices."""
        return self.value(slots, price)


def _steps(slots: Slots, total: Floats) -> Floats:
    """The price in each slot, and nothing after the last."""
    return np.append(np.diff(total) / slots.length_s, 0.0)


def _less_sold(jobs: PricedJobs, lowest: Floats, total: Floats, sizes: float) -> float:
    """The least costs of all jobs less what the machine sells, and less what rounding may have added.

    Each of a few operations per job errs by 2^-53 of its largest term, which is a cost of waiting or a total price
    times a width; numpy sums by halves, so that summing a million of them adds some twenty such errors.
    """
    sold = jobs.processors * float(total[-1])
    sizes += 2.0 * float(total[-1]) * float(np.sum(jobs.width)) + sold
    return float(np.sum(lowest)) - sold - ROUNDING * sizes


class PoweredCost:
    """3/4 of width x (F^4 - Q^4) less a quotient times width x (F^3 - Q^3), summed up, in days.

    Where this sum is at least 0 for every schedule, no schedule has a P2SF below the quotient. The quotient is raised
    as better prices are found. Waits count for little until they are long, so that short slots prove no more.
    """

    slots_per_job = 1

    def __init__(self, jobs: PricedJobs) -> None:
        self.jobs = jobs
        days, width = jobs.runtime_s / DAY_S, jobs.width
        # what it is if nobody waits, which no proven quotient exceeds without prices
        self.quotient = 0.75 * float(np.sum(width * days**4)) / float(np.sum(width * days**3))
        self.size = 0.75 * float(np.sum(width * days**4))
        self._below = 0.0

    def value(self, slots: Slots, price: Floats) -> float:
        """What the sum is at least, by these prices and the present quotient."""
        total = slots.total(price)
        lowest, sizes, below = (np.empty(len(self.jobs)) for _ in range(3))
        slots.whole[:] = slots.parts[:] = 0.0
        cheapest_powered_starts(
            self.jobs.table,
            self.quotient,
            slots.release_slot,
            slots.end_slot,
            slots.edges,
            total,
            _steps(slots, total),
            lowest,
            sizes,
            below,
            slots.whole,
            slots.parts,
        )
        self._below = float(np.sum(below))
        return _less_sold(self.jobs, lowest, total, float(np.sum(sizes)))

    def bound(self, slots: Slots, price: Floats) -> float:
        """The largest quotient that these prices prove, nearly, in seconds; later values are those of it.

        The value falls with the quotient, and is concave. So Newton's steps (Dinkelbach's) come to its zero from above.
        """
        for _ in range(NEWTON_STEPS):
            change = self.value(slots, price) / self._below
            self.quotient = max(0.0, self.quotient + change)
            if abs(change) <= NEAR * self.quotient:
                break
        back = NEAR
        while self.quotient > 0.0 and self.value(slots, price) < 0.0:
            self.quotient *= max(0.0, 1.0 - back)
            back *= 4.0
        return self.quotient * DAY_S


Cost = LinearCost | PoweredCost


def cost_of(trace: Trace, objective: str) -> Cost:
    """What a metric sums up over the jobs of a trace."""
    jobs = PricedJobs.of(trace)
    runtime = jobs.runtime_s
    if objective == "p2sf":
        return PoweredCost(jobs)
    if objective == "bsld":
        counted = np.maximum(runtime, SHORTEST_S)
        return LinearCost(jobs, 1.0, 1.0 / (counted * len(jobs)), jobs.release_s + counted - runtime)
    weight = jobs.width * runtime if objective == "awf" else np.ones(len(jobs))
    weight = weight / np.sum(weight)
    return LinearCost(jobs, float(np.sum(weight * runtime)), weight, jobs.release_s)
