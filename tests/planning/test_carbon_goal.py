"""Carbon as a second goal: a weight moves work to clean hours, and a limit finds the weight that it needs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.domain.result import never
from planner.domain.segment import Segment
from planner.methods import Params, method_named
from planner.planning.carbon_goal import limited_bound, weighed, within_limit
from tests.plain_day import HOUR, day, job

CLEAN_FROM_H = 12


def two_halves() -> Problem:
    """A job of 10 kWh; until noon at 0.10 and 500 g, then at 0.12 and 100 g per kWh."""
    halves = (
        Segment(0, CLEAN_FROM_H * HOUR, 20, 0.10, carbon_g_per_kwh=500.0),
        Segment(CLEAN_FROM_H * HOUR, 24 * HOUR, 20, 0.12, carbon_g_per_kwh=100.0),
    )
    return replace(day(job("a", 10), rates=Rates(0.1), defer="free"), segments=halves)


@pytest.mark.parametrize(("weight", "start_h"), [(0.0, 0), (49.0, 0), (51.0, CLEAN_FROM_H)])
def test_a_weight_moves_work_once_it_pays(weight: float, start_h: int) -> None:
    """4 kg less cost 0.20: 50 a tonne. The money does not know the weight."""
    problem = weighed(two_halves(), weight)
    result = method_named("harvest")(problem, Params(seed=0, workers=1, time_limit_s=60, iterations=2000), never)
    assert result.plan.start_s[0] // HOUR >= start_h
    assert (result.plan.start_s[0] < CLEAN_FROM_H * HOUR) == (start_h == 0)
    carbon_kg, cost = (5.0, 1.0) if start_h == 0 else (1.0, 1.2)
    assert result.ledger.totals.carbon_kg == pytest.approx(carbon_kg)
    assert result.ledger.profit_eur == pytest.approx(4.0 - cost)


def answers(emitted_kg: Any, profit_eur: Any, asked: list[float]) -> Any:
    """A way to decide that notes its weights."""

    def decide(weight: float) -> Any:
        asked.append(weight)
        totals = SimpleNamespace(carbon_kg=emitted_kg(weight))
        return SimpleNamespace(ledger=SimpleNamespace(totals=totals, profit_eur=profit_eur(weight)), weight=weight)

    return decide


def test_a_limit_that_is_kept_anyway_costs_one_search() -> None:
    """The goal's own weight is enough."""
    asked: list[float] = []
    found = within_limit(answers(lambda w: 90.0, lambda w: 1.0, asked), 7.0, 100.0)
    assert (found.is_kept, found.weight_eur_per_tonne, asked) == (True, 7.0, [7.0])


def test_the_smallest_weight_that_keeps_the_limit_is_narrowed_down() -> None:
    """Emissions fall to the limit at 333 a tonne; the profit falls with the weight."""
    asked: list[float] = []
    found = within_limit(answers(lambda w: 200 - 0.3 * w, lambda w: 10 - w / 100, asked), 0.0, 100.1)
    assert found.is_kept
    assert 333 <= found.weight_eur_per_tonne <= 333 * 1.03
    assert len(asked) <= 14


def test_where_no_weight_helps_the_least_emission_is_taken() -> None:
    """And it is told."""
    found = within_limit(answers(lambda w: 150 + 50 / (1 + w), lambda w: 1.0, []), 0.0, 100.0)
    assert not found.is_kept
    assert cast(Any, found.result).ledger.totals.carbon_kg == pytest.approx(150, abs=0.01)


@pytest.mark.parametrize("weight", [10.0, 50.0, 200.0])
def test_no_plan_within_the_limit_earns_more_than_its_bound(weight: float) -> None:
    """Every start of the job by the minute: those that emit at most 3 kg stay below, and one comes near at 50."""
    problem, limit_kg = two_halves(), 3.0
    dearer = profit_bound(replace(problem, rates=replace(problem.rates, carbon_weight_eur_per_tonne=weight).counted))
    bound = limited_bound(profit_bound(problem), dearer, weight, limit_kg).profit_eur
    within = []
    for minute in range(24 * 60):
        ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 60 * minute, (0,))}))
        if ledger.totals.carbon_kg <= limit_kg:
            within.append(ledger.profit_eur)
    assert max(within) <= bound + 1e-9
    if weight == 50.0:
        assert bound <= max(within) + 0.01
