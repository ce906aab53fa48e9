"""Plans with carbon in mind: a weight beside the money, and a limit on what a day emits.

A tonne of CO2 that counts more when plans are compared is emitted less. For a limit the smallest weight is looked for
with which the plan keeps it: the highest weight shows whether any does, and the smallest is then narrowed down. Each
is a search of its own.

Against a limit counts what is emitted with the whole runs of the work that starts on the day: a job that starts four
minutes before midnight emits no less than one that starts at noon. So the energy that jobs draw after midnight counts
on the day on which they start, at the grid's intensity then, and not on the next one.

Whatever the weight w, no plan that emits at most L on the day earns more than the bound of the day with that much more
on each tonne, plus w times L: what a plan pays for its CO2 there is at most w times L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.bound import Bound
from planner.accounting.intervals import energy_between
from planner.accounting.settle import settle
from planner.domain.columns import Ints
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.search.whole_plan_rules import may_go_alone, without
from planner.units import MILLIWATT_SECONDS_PER_KWH

FIRST_EUR_PER_TONNE = 1.0
"""No smaller weight is looked at."""

MOST_SEARCHES = 14
NEAR_ENOUGH = 0.02
"""A weight is narrowed down to this part of it."""

Decide = Callable[[float], Result]
"""A plan of the day with a weight on each tonne [EUR]."""

Emitted = Callable[[Result], float]
"""What a plan emits [kg]."""


@dataclass(frozen=True)
class WholeRuns:
    """What a day emits with the whole runs of what starts on it; ``whole`` is the day with the time after it."""

    day: Problem
    whole: Problem

    def emitted_kg(self, result: Result) -> float:
        """What a plan of the day emits [kg]."""
        plan, ledger = result.plan, result.ledger
        length_s, columns, placed = self.day.horizon.length_s, self.day.columns, plan.is_placed
        is_own = np.array([work.start_s >= 0 for work in self.day.running], dtype=np.bool_)
        running = self._kg_of(self.day.running_end_s[is_own], self.day.running_columns.power_mw[is_own], length_s)
        end_s = (plan.start_s + columns.duration_s)[placed]
        return (
            ledger.totals.carbon_kg
            - self.carried_in_kg
            + running
            + self._kg_of(end_s, columns.power_mw[placed], length_s)
        )

    def leaner(self, result: Result, limit_kg: float) -> Result | None:
        """A plan without the jobs that earn least for their CO2, one by one until it is within a limit.

        Jobs stay that must run today, or for which others wait; None where that is too much, or breaks a rule.
        """
        while self.emitted_kg(result) > limit_kg:
            plan, lines = result.plan, result.ledger.jobs
            placed, own = np.flatnonzero(plan.is_placed), slice(len(self.day.running), None)
            worth = dict(zip(placed, lines.profit_eur[own] / np.maximum(lines.carbon_kg[own], 1e-12), strict=True))
            going = may_go_alone(self.day, plan, placed)
            if not len(going):
                return None
            plan = without(self.day, plan, np.array([min(going, key=worth.__getitem__)]))
            result = replace(result, plan=plan, ledger=settle(self.day, plan))
        return None if audit(self.day, result.plan) else result

    @property
    def carried_in_kg(self) -> float:
        """What the energy of jobs emits today that started on an earlier day, and counted there [kg]."""
        is_older = np.array([work.start_s < 0 for work in self.day.running], dtype=np.bool_)
        end_s = np.minimum(self.day.running_end_s[is_older], self.day.horizon.length_s)
        return self._kg_of(end_s, self.day.running_columns.power_mw[is_older], 0)

    def _kg_of(self, end_s: Ints, power_mw: Ints, from_s: int) -> float:
        """What jobs that end at some moments emit from a moment on, by their own energy [kg]."""
        segments = self.whole.segment_columns
        end_s = np.clip(end_s, from_s, segments.edges_s[-1])
        drawn = energy_between(segments.edges_s, np.full_like(end_s, from_s), end_s, power_mw)
        return float(drawn / MILLIWATT_SECONDS_PER_KWH @ segments.carbon_g_per_kwh) / 1000


@dataclass(frozen=True)
class Limited:
    """A plan with what it emits and the weight that it was found with; ``is_kept``: it emits no more than the limit."""

    result: Result
    emitted_kg: float
    weight_eur_per_tonne: float
    is_kept: bool

    @classmethod
    def of(cls, result: Result, emitted_kg: Emitted, weight_eur_per_tonne: float, limit_kg: float) -> Limited:
        """A result held against a limit."""
        emitted = emitted_kg(result)
        return cls(result, emitted, weight_eur_per_tonne, is_kept=emitted <= limit_kg)


def within_limit(decide: Decide, emitted_kg: Emitted, weight: float, limit_kg: float, most: float) -> Limited:
    """The best plan found that emits at most the limit, or the one that emits least where none does.

    ``weight`` is what a tonne counts at least, ``most`` what it may count.
    """

    def found_with(tried: float) -> Limited:
        return Limited.of(decide(tried), emitted_kg, tried, limit_kg)

    low, high = weight, most
    best = found_with(low)
    if best.is_kept or low >= high:
        return best
    best = max(best, found_with(high), key=goodness)
    if not best.is_kept:
        return best
    for _ in range(MOST_SEARCHES - 2):
        low = max(low, FIRST_EUR_PER_TONNE)
        if high - low <= NEAR_ENOUGH * high:
            break
        found = found_with(math.sqrt(low * high))
        best = max(best, found, key=goodness)
        if found.is_kept:
            high = found.weight_eur_per_tonne
        else:
            low = found.weight_eur_per_tonne
    return best


def goodness(found: Limited) -> tuple[bool, float]:
    """What makes a plan better: that it keeps the limit and what it earns, or else how little it emits."""
    return found.is_kept, found.result.ledger.profit_eur if found.is_kept else -found.emitted_kg


def weighed(problem: Problem, more_eur_per_tonne: float) -> Problem:
    """The same problem with a tonne of CO2 counting so much more than it costs when plans are compared."""
    rates = problem.rates
    if rates.carbon_weight_eur_per_tonne == more_eur_per_tonne:
        return problem
    return replace(problem, rates=replace(rates, carbon_weight_eur_per_tonne=more_eur_per_tonne))


def limited_bound(plain: Bound, dearer: Bound, weight_eur_per_tonne: float, limit_kg: float) -> Bound:
    """The lower of two limits on the profit of plans that emit no more than the limit.

    ``dearer`` is the bound of the day with the weight on top of the price of CO2.
    """
    profit = dearer.profit_eur + weight_eur_per_tonne * limit_kg / 1000
    return plain if plain.profit_eur <= profit else replace(dearer, profit_eur=profit, slack_eur=None)
