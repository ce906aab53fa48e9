"""What plans are worth where waiting counts and later time less: search and bound against every plan there is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle, waiting_of
from planner.domain.plan import DEFERRED, Plan
from planner.domain.result import never
from planner.domain.waits import WaitPrice
from planner.search.decode import decode
from planner.search.harvest import harvest
from planner.search.kernel.search_state import CURRENT, Habits
from planner.search.orderings import job_order
from planner.search.rebuild import Chain
from tests.cp.enumeration import best_plan
from tests.cp.instances import LENGTH_S, tiny_problem
from tests.factories import random_problem, with_waits
from tests.plain_day import HOUR, day, job


def test_a_wait_counts_by_the_hour_more_with_age_and_much_more_when_late() -> None:
    """Ready at 6 h, 0.5 EUR an hour, late from 10 h on at 2 EUR: a start at 12 h is 6 h of waiting, 2 h late."""
    problem = day(job("a", 1))
    problem = replace(problem, waits={"a": WaitPrice(6 * HOUR, 0.5, 10 * HOUR, 2.0)})
    plan = Plan(np.array([12 * HOUR]), np.array([0]))
    assert waiting_of(problem, plan) == pytest.approx(0.5 * 6 * (1 + 6 / 48) + 2 * 2.0)
    ledger = settle(problem, plan)
    assert ledger.profit_eur == settle(replace(problem, waits={}), plan).profit_eur
    assert ledger.worth_eur == pytest.approx(ledger.profit_eur - 7.375)
    away = Plan(np.array([DEFERRED]), np.array([DEFERRED]))
    assert waiting_of(problem, away) == pytest.approx(0.5 * 18 * (1 + 18 / 48) + 14 * 2.0)


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("seed", range(40))
def test_tiny_days_are_searched_to_what_no_plan_exceeds(seed: int) -> None:
    """Search <= best of all plans <= bound; nearly always the search finds the best."""
    extras, counts = seed % 2 == 0, (1.0, 0.5, 0.0)[seed % 3]
    problem = with_waits(tiny_problem(seed, extras=extras, whole=seed % 4 == 0), seed, counts=counts)
    best = settle(problem, best_plan(problem)).worth_eur
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=6_000).ledger.worth_eur
    assert found <= best + 1e-9
    assert best <= profit_bound(problem, slot_s=2).profit_eur + 1e-9
    assert best <= profit_bound(problem, slot_s=3, descent_steps=5).profit_eur + 1e-9
    assert found == pytest.approx(best, abs=2e-6)


def test_steps_count_waits_as_the_ledger_does() -> None:
    """After thousands of steps the search knows what its plan is worth to a millionth."""
    problem = with_waits(random_problem(np.random.default_rng(5), jobs=40), 5, counts=0.5, eur_per_h=0.02)
    habits = Habits(4, 4, 0.5, 0.4, True, problem.defer == "free")
    chain = Chain.from_plan(problem, decode(problem, job_order(problem, "+area")), seed=1, habits=habits)
    for _ in range(4):
        chain.run(500, 0.05)
        ledger = settle(problem, chain.present_plan())
        assert float(chain.state.profits[CURRENT]) == pytest.approx(ledger.worth_eur, abs=1e-6)
        assert ledger.waiting_eur > 0


def test_waits_that_count_nothing_leave_the_bound_as_it_is() -> None:
    """With prices of zero every day has the bound that it has without."""
    for seed in range(6):
        problem = tiny_problem(seed)
        free = {each.id: WaitPrice(0, 0.0, LENGTH_S, 0.0) for each in problem.jobs}
        plain, priced = (profit_bound(each, slot_s=2).profit_eur for each in (problem, replace(problem, waits=free)))
        assert priced == pytest.approx(plain, rel=1e-4, abs=1e-9)
