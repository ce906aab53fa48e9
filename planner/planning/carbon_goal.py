"""Plans with carbon in mind: a weight beside the money, and a limit on what a day emits.

A tonne of CO2 that counts more when plans are compared is emitted less. For a limit the smallest weight is looked for
with which the plan keeps it: the weight rises until one does, and is then narrowed down between the last that did not
and the first that did. Each is a search of its own.

Whatever the weight w, no plan that emits at most L earns more than the bound of the day with that much more on each
tonne, plus w times L: what a plan pays for its CO2 there is at most w times L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from planner.accounting.bound import Bound
from planner.domain.problem import Problem
from planner.domain.result import Result

FIRST_EUR_PER_TONNE = 50.0
STEEPER = 4.0
MOST_SEARCHES = 14
NEAR_ENOUGH = 0.02
"""A weight is narrowed down to this part of it."""

Decide = Callable[[float], Result]
"""A plan of the day with a weight on each tonne [EUR]."""


@dataclass(frozen=True)
class Limited:
    """A plan with the weight that it was found with; ``is_kept``: it emits no more than the limit."""

    result: Result
    weight_eur_per_tonne: float
    is_kept: bool


def within_limit(decide: Decide, weight: float, limit_kg: float) -> Limited:
    """The best plan found that emits at most the limit, or the one that emits least where none does."""
    first = Limited(decide(weight), weight, is_kept=False)
    if emitted_kg(first.result) <= limit_kg:
        return replace(first, is_kept=True)
    best, low, high = first, weight, None
    tried = max(STEEPER * weight, FIRST_EUR_PER_TONNE)
    for _ in range(MOST_SEARCHES - 1):
        result = decide(tried)
        found = Limited(result, tried, is_kept=emitted_kg(result) <= limit_kg)
        best = max(best, found, key=_goodness)
        if found.is_kept:
            high = tried
        else:
            low = tried
        if high is not None and high - low <= NEAR_ENOUGH * high:
            break
        tried = STEEPER * tried if high is None else (low + high) / 2
    return best


def _goodness(found: Limited) -> tuple[bool, float]:
    profit, carbon_kg = found.result.ledger.profit_eur, emitted_kg(found.result)
    return found.is_kept, profit if found.is_kept else -carbon_kg


def emitted_kg(result: Result) -> float:
    """What a plan emits [kg]."""
    return result.ledger.totals.carbon_kg


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
