"""Claims about days that an engine decides window by window."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cp import cp_method as cp
from planner.cp.cp_method import default_search
from planner.cp.engines import ENGINES, cpsat_translate
from planner.cp.engines.engine import UNKNOWN
from planner.cp.profit_model import ProfitModel
from planner.cp.profit_objective import stretches_of_one_price
from planner.cp.subproblem import Subproblem, empty_plan
from planner.domain.plan import DEFERRED, Placement, Plan
from planner.domain.problem import Problem
from planner.domain.segment import Segment
from planner.search.decode import decode
from planner.units import MILLIWATT_SECONDS_PER_KWH
from tests.factories import random_problem
from tests.plain_day import HOUR, day, job


@pytest.fixture(autouse=True)
def _window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a day of one job is decided in windows."""
    monkeypatch.setattr(cp, "MOST_JOBS", 0)


def found(problem: Problem, **more: object):  # type: ignore[no-untyped-def]
    """What the engine finds in windows; the time is ample, so that a busy machine changes nothing."""
    return default_search(problem, **{"engine": "cpsat", "time_limit_s": 120.0, **more})  # type: ignore[arg-type]


def test_a_window_holds_starts_and_not_ends() -> None:
    """Between 2:00 and 4:00 a job released at 1:00 may start from 2:00 to a second before 4:00, for all its 30 hours.

    What counts of these are the 22 until midnight. One that is released at 3:00 starts no earlier.
    """
    problem = day(job("a", 30, release_s=HOUR), job("b", 1, release_s=3 * HOUR))
    scope = Subproblem((0, 1), window_s=(2 * HOUR, 4 * HOUR))
    assert scope.starts_of(problem, 0) == (2 * HOUR, 4 * HOUR - 1)
    assert scope.counted_duration(problem, 0) == 22 * HOUR
    assert scope.starts_of(problem, 1) == (3 * HOUR, 4 * HOUR - 1)


def test_the_mean_cost_is_that_of_each_stretch_of_one_price() -> None:
    """Two segments at 0.10 EUR/kWh are one stretch, and the third one at 0.30 another; nothing is cooled."""
    problem = day(job("a", 1))
    segments = tuple(
        Segment(a * HOUR, b * HOUR, c, p) for a, b, c, p in [(0, 6, 20, 0.1), (6, 12, 25, 0.1), (12, 24, 25, 0.3)]
    )
    stretches = stretches_of_one_price(dataclasses.replace(problem, segments=segments))
    assert [(start, end) for start, end, _ in stretches] == [(0, 12 * HOUR), (12 * HOUR, 24 * HOUR)]
    assert [cost * MILLIWATT_SECONDS_PER_KWH for _, _, cost in stretches] == pytest.approx([0.1, 0.3])


def test_without_cooling_the_mean_cost_is_the_true_one() -> None:
    """Two nodes, three jobs of six hours, 0.05 EUR/kWh until 12:00 and 0.45 EUR/kWh then: the model knows the profit.

    Each earns 2.40 EUR; 1 kW for 6 h costs 0.30 or 2.70 EUR. Two start at once, and one at 6:00.
    """
    problem = day(*(job(name, 6) for name in "abc"), nodes=2, prices=(*[0.05] * 12, 0.45))
    model = ProfitModel(problem, Subproblem((0, 1, 2), pooled=True, mean_cost=True))
    answer = ENGINES["cpsat"].solve(model.cpo, time_limit_s=20)
    assert answer.objective is not None
    assert model.objective.to_eur(answer.objective) == pytest.approx(3 * (2.4 - 0.3), abs=1e-6)
    assert not model.is_exact


def test_large_models_have_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """With presence and start apart: 24 jobs of a core for a day on a node of four: the four that pay best start."""
    monkeypatch.setattr(cpsat_translate, "MANY_INTERVALS", 10)
    jobs = [job(str(k), 24, units=[(1, 1)], power_w=10, weight=1 + k / 100) for k in range(24)]
    problem = day(*jobs)
    model = ProfitModel(problem, Subproblem(tuple(range(24)), pooled=True, mean_cost=True))
    answer = ENGINES["cpsat"].solve(model.cpo, time_limit_s=60, workers=2)
    assert answer.solution is not None
    starts = model.starts(answer.solution)
    assert np.flatnonzero(starts == 0).tolist() == [20, 21, 22, 23]
    best = Plan.of(problem, {str(k): Placement(str(k), 0, (0,)) for k in range(20, 24)})
    assert model.objective.to_eur(answer.objective) == pytest.approx(settle(problem, best).profit_eur, abs=1e-6)


def test_windows_follow_one_another_and_plans_are_clean() -> None:
    """On random days with running work, odd units and limits: clean plans, jobs placed, the profit that is settled."""
    for seed in range(4):
        problem = random_problem(np.random.default_rng(seed), jobs=12, extras=True)
        result = found(problem)
        assert audit(problem, result.plan, leaves_room=True) == [], seed
        assert result.leaves_room, seed
        assert result.status == "found", seed
        assert result.ledger.profit_eur == settle(problem, result.plan).profit_eur
        assert "windows" in result.best_trial


def test_nodes_are_given_by_the_kernel_or_without_it() -> None:
    """Two jobs of three cores on nodes of four, counted per class, need a node each, whoever gives them."""
    problem = day(job("a", 2, units=[(1, 3)]), job("b", 2, units=[(1, 3)]), nodes=2)
    for complete in (None, lambda order, release: decode(problem, order, release)):
        plan = found(problem, complete=complete).plan
        assert plan.is_placed.all()
        assert sorted(plan.node_of_unit.tolist()) == [0, 1]


def test_jobs_that_arrive_later_wait_for_their_window() -> None:
    """A job of 5:00 starts at 5:00 or later, in the window from 4:00 to 6:00 or after it."""
    result = found(day(job("late", 1, release_s=5 * HOUR)))
    assert result.plan.start_s[0] >= 5 * HOUR


def test_a_deadline_goes_before_money(monkeypatch: pytest.MonkeyPatch) -> None:
    """One node and one job a model: the younger job, which is due at 2:00 and earns nothing, gets the node first."""
    monkeypatch.setattr(cp, "MOST_IN_WINDOW", 1)
    problem = day(job("rich", 23, weight=9), job("due", 2, due_s=2 * HOUR, weight=0, release_s=0))
    plan = found(problem).plan
    assert plan.start_s[1] == 0
    assert plan.start_s[0] == DEFERRED or plan.start_s[0] >= 2 * HOUR


@pytest.mark.slow
def test_the_oldest_jobs_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs a model, three for the whole day on a node: the youngest, which pays best, is never asked about."""
    monkeypatch.setattr(cp, "MOST_IN_WINDOW", 2)
    monkeypatch.setattr(cp, "WINDOW_S", 24 * HOUR)
    problem = day(job("9", 24), job("10", 24, weight=2), job("11", 24, weight=9))
    assert found(problem).plan.is_placed.tolist() == [False, True, False]


def test_an_engine_without_an_answer_is_nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every window unknown: nothing, the empty plan, settled; what runs goes on."""
    monkeypatch.setattr(type(ENGINES["cpsat"]), "solve", lambda *_, **__: UNKNOWN)
    problem = random_problem(np.random.default_rng(3), jobs=10)
    result = found(problem)
    assert result.status == "nothing"
    assert not result.plan.is_placed.any()
    assert result.ledger.profit_eur == settle(problem, empty_plan(problem)).profit_eur
    assert audit(problem, result.plan, leaves_room=result.leaves_room) == []


def test_a_window_without_an_answer_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first window has no answer, the others do: a plan, whose name says how many windows gave nothing."""
    true, calls = ENGINES["cpsat"].solve, []

    def solve(self: object, *given: object, **more: object):  # type: ignore[no-untyped-def]
        calls.append(1)
        return UNKNOWN if len(calls) == 1 else true(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(ENGINES["cpsat"]), "solve", solve)
    result = found(day(job("a", 1)))
    assert result.status == "found"
    assert result.best_trial == "cpsat, 2 windows, nothing found in 1"
    assert result.plan.start_s[0] >= cp.WINDOW_S
