"""Claims about what a search has in hand: the first of equals is kept, and what went before is carried on."""

from __future__ import annotations

import pytest

from planner.accounting.settle import settle
from planner.domain.plan import Placement, Plan
from planner.domain.result import BestSoFar, Candidate, Trial, never
from tests.plain_day import HOUR, day, job


def candidate(name: str, start_s: int) -> Candidate:
    """One job that costs 0.10 EUR less when it starts an hour later."""
    problem = day(job("a", 1), prices=(0.3, 0.2))
    plan = Plan.of(problem, {"a": Placement("a", start_s, (0,))})
    return Candidate(plan, settle(problem, plan), name)


def test_only_a_better_candidate_is_kept() -> None:
    """The first is the best there is, an equal one changes nothing, and one that earns more takes its place."""
    so_far = BestSoFar(never, None)
    assert so_far.is_empty
    assert so_far.keep_if_better(candidate("first", 0))
    assert not so_far.keep_if_better(candidate("equal", 0))
    assert so_far.best.name == "first"
    assert so_far.keep_if_better(candidate("later", HOUR))
    assert not so_far.keep_if_better(candidate("back", 0))
    assert so_far.best.name == "later"


def test_the_stop_is_asked_with_the_best_profit() -> None:
    """4 cores for an hour earn 0.40 EUR; 1 kWh costs 0.30 EUR at midnight and 0.20 EUR later."""
    so_far = BestSoFar(lambda best: best > 0.15, None)
    so_far.keep_if_better(candidate("first", 0))
    assert not so_far.is_over()
    so_far.keep_if_better(candidate("later", HOUR))
    assert so_far.is_over()


def test_a_search_goes_on_from_the_result_of_another() -> None:
    """Its plan is the one to beat, and its trials come first."""
    first = BestSoFar(never, None)
    first.keep_if_better(candidate("first", 0))
    first.trials.append(first.best.trial)
    told: list[Trial] = []
    so_far = BestSoFar.after(first.result("one", status="proven"), never, told.append)
    so_far.tell(so_far.best.trial_called("again"))
    so_far.trials += told
    result = so_far.result("two", cut_short=True)
    assert (result.method, result.status, result.best_trial, result.cut_short) == ("two", "found", "first", True)
    assert [(trial.name, trial.started) for trial in result.trials] == [("first", 1), ("again", 1)]
    assert result.ledger.profit_eur == pytest.approx(0.10)


def test_when_the_best_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed begins at 0 s, has its plan at 2 s and ends at 3 s. The search after it begins at 10 s: a better plan at
    14 s comes 7 s into both searches, whose end at 20 s comes 13 s into them; without one the seed's time stands."""
    clock = iter([0.0, 2.0, 3.0, 10.0, 20.0])
    monkeypatch.setattr("planner.domain.result.time.perf_counter", lambda: next(clock))
    seed = BestSoFar(never, None)
    seed.keep_if_better(candidate("first", 0))
    first = seed.result("one")
    assert (first.found_s, first.solve_s) == (2.0, 3.0)
    so_far = BestSoFar.after(first, never, None)
    assert not so_far.keep_if_better(candidate("equal", 0))
    result = so_far.result("two")
    assert (result.found_s, result.solve_s) == (2.0, 13.0)
    clock = iter([14.0, 20.0])
    assert so_far.keep_if_better(candidate("later", HOUR))
    result = so_far.result("two")
    assert (result.found_s, result.solve_s) == (7.0, 13.0)
