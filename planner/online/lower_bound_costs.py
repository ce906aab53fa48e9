"""What jobs cost at least where processors have a price: the Lagrangian of the machine's size, for any prices.

Whatever the prices, no schedule costs less than the sum over jobs of what each pays at its cheapest start, for waiting
and for processors, less what the whole machine sells at these prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.trace import Trace
from planner.limits import DAY_S
from planner.metrics import SHORTEST_S
from planner.online.kernel.lower_bound_starts import cheapest_powered_starts, cheapest_starts

ROUNDING = 1e-12
"""Part of the sum of the sizes of all terms that is taken off a sum: some hundred times what rounding can add."""
NEWTON_STEPS = 12
NEAR = 1e-7
"""How near a proven quotient comes to the largest one, as a part of it."""


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
