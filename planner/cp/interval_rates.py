"""What each interval of a model earns and draws while it is present, and the whole numbers that this is counted in.

CP Optimizer holds whole numbers up to 2^53, CP-SAT sums up to 2^63. The money unit is the most that the day could turn
over divided by 2^46, so that no sum of the objective passes 2^47. Energies are exact in milliwatt-seconds, divided by
what they all have in common; for the product of energy and cooling they are rounded once more, to 2^22 steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from planner.cp.subproblem import Subproblem, busy_share
from planner.cp.variables import Interval, Use, Variables
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR

MONEY_STEPS = 2**46
ENERGY_STEPS = 2**22


@dataclass
class WholeUnits:
    """The units of one model, and the most by which its objective can differ from the ledger.

    ``unit_eur`` is one unit of the objective, ``unit_mws`` one of an energy expression [mW s]. ``error_units`` is the
    sum of the rounding errors that the objective may make.
    """

    unit_eur: float
    unit_mws: int
    error_units: float = field(default=0.0)

    @classmethod
    def of(cls, turnover_eur: float, energies_mws: Iterable[int]) -> WholeUnits:
        """Units for a model that turns over at most so much and whose energies are multiples of these."""
        common = math.gcd(*(abs(energy) for energy in energies_mws))
        return cls(turnover_eur / MONEY_STEPS if turnover_eur > 0 else 1.0, common or 1)

    @property
    def error_eur(self) -> float:
        """The most by which the objective can differ from the ledger [EUR]."""
        return self.error_units * self.unit_eur

    def money(self, eur: float, times: float = 1.0) -> int:
        """An amount in whole units; ``times`` is the largest factor that it will be multiplied with."""
        self.error_units += 0.5 * times
        return round(eur / self.unit_eur)

    def energy(self, mws: int) -> int:
        """An energy in whole units, exactly."""
        assert mws % self.unit_mws == 0
        return mws // self.unit_mws

    def coarse(self, most: int) -> int:
        """The step to which an energy expression of at most this many units is rounded before a product."""
        return max(1, -(-most // ENERGY_STEPS))


@dataclass
class Rate:
    """An interval that can lie between two moments of the day, its revenue [EUR/s] and its power [mW].

    The power of a job is less what the nodes it keeps busy would draw idle, so it may be negative.
    """

    interval: Interval
    duration_s: int
    first_s: int
    last_s: int
    earns_eur_per_s: float = 0.0
    draws_mw: int = 0
    is_whole: bool = False
    """Whether it ends today wherever it starts."""

    def longest_in(self, start_s: int, end_s: int) -> int:
        """The most seconds that the interval can share with a stretch of the day."""
        return max(0, min(self.duration_s, min(end_s, self.last_s) - max(start_s, self.first_s)))


def interval_rates(problem: Problem, subproblem: Subproblem, variables: Variables) -> list[Rate]:
    """The rates of all intervals that earn or draw; of the seats only where nodes differ."""
    columns, rates = problem.columns, {}

    def rate_of(job: int, interval: Interval) -> Rate:
        if id(interval) not in rates:
            duration = subproblem.counted_duration(problem, job)
            first, last = subproblem.starts_of(problem, job)
            end, day = last + duration, problem.horizon.length_s
            rates[id(interval)] = Rate(interval, duration, first, min(day, end), is_whole=end <= day)
        return rates[id(interval)]

    def node_class(use: Use) -> int:
        return use.place if subproblem.pooled else int(problem.nodes.class_of[use.place])

    def revenue(use: Use) -> float:
        charged = float(columns.group_charged[use.group]) * use.units
        return charged * float(columns.weight[use.job]) * problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR

    def idle_saved(use: Use) -> int:
        place = node_class(use)
        idle = int(problem.nodes.saved_mw[problem.cluster.first_nodes[place]])
        return (
            int(idle * busy_share(problem, float(columns.group_core_equivalents[use.group, place]), place)) * use.units
        )

    for job, interval in variables.jobs.items():
        rate_of(job, interval).draws_mw = int(columns.power_mw[job])
    for job, interval, value in _per_interval(variables, revenue):
        rate_of(job, interval).earns_eur_per_s += value
    if problem.nodes.saved_mw.any():
        for job, interval, value in _per_interval(variables, idle_saved):
            rate_of(job, interval).draws_mw -= int(value)
    return list(rates.values())


def _per_interval(variables: Variables, value_of: Callable[[Use], float]) -> list[tuple[int, Interval, float]]:
    """A value per use, on the job's interval as far as its seats have it in common, on the seats beyond that."""
    values = [(use.job, use.interval, value_of(use)) for use in variables.fixed_uses]
    for choice in variables.choices:
        of_seats = [value_of(seat) for seat in choice.seats]
        common = min(of_seats)
        values.append((choice.job, variables.jobs[choice.job], common * choice.taken))
        values += [
            (choice.job, seat.interval, value - common)
            for seat, value in zip(choice.seats, of_seats, strict=True)
            if value > common
        ]
    return values
