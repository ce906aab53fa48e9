"""Parts of a day in the CP model with jobs outside them that wait or are waited for; and jobs that are added."""

from __future__ import annotations

import numpy as np

from planner.cp.engines import ENGINES
from planner.cp.profit_model import ProfitModel
from planner.cp.repair import insert
from planner.cp.subproblem import Subproblem, subproblem_around
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from tests.plain_day import HOUR, day, job


def plan_of(*starts: int) -> Plan:
    """A plan in which each job is on a node of its own."""
    start_s = np.array(starts, dtype=np.int64)
    return Plan(start_s, np.where(start_s == DEFERRED, DEFERRED, np.arange(len(starts))))


def best_starts(problem: Problem, plan: Plan, decided: tuple[int, ...]) -> list[int]:
    """Starts of the engine's optimum when these jobs are decided and the others stay."""
    model = ProfitModel(problem, Subproblem(decided, plan))
    answer = ENGINES["cpsat"].solve(model.cpo, time_limit_s=60, workers=1)
    assert answer.status == "optimal"
    found: list[int] = model.starts(answer.solution).tolist()
    return found


def test_a_job_stays_before_one_outside_the_part_that_waits_for_it() -> None:
    """a loses money until ten, when b, which waits for its end, has started: a stays, and may not be left out."""
    jobs = (job("a", 2), job("b", 2, after="afterok:a"))
    problem = day(*jobs, nodes=2, prices=[5.0] * 10 + [0.01], rates=Rates(0.1), defer="free")
    assert best_starts(problem, plan_of(0, 2 * HOUR), (0,)) == [0, 2 * HOUR]


def test_a_job_stays_after_one_outside_the_part_that_it_waits_for() -> None:
    """b would be best right away, before energy is dear: it waits for a, and not at all if a is deferred."""
    problem = day(job("a", 2), job("b", 2, after="afterok:a"), nodes=2, prices=[0.01] * 5 + [0.2], defer="free")
    assert best_starts(problem, plan_of(HOUR, 9 * HOUR), (1,)) == [HOUR, 3 * HOUR]
    assert best_starts(problem, plan_of(DEFERRED, DEFERRED), (1,)) == [DEFERRED, DEFERRED]


def test_a_job_that_cannot_start_today_is_no_part_of_any_problem() -> None:
    """c comes after 25 h of others at the earliest."""
    jobs = (job("a", 20), job("b", 5, after="afterok:a"), job("c", 1, after="afterok:b"))
    problem = day(*jobs, job("d", 1, after="after:z"), nodes=4, never=["z"])
    assert Subproblem.whole_day(problem).jobs == (0, 1)
    around = subproblem_around(problem, plan_of(0, DEFERRED, DEFERRED, DEFERRED), np.arange(4), None)
    assert around.jobs == (0, 1)


def test_a_job_is_added_after_what_it_waits_for_or_not_at_all() -> None:
    """a from 1 to 3 on another node: b fits from 3 on; without a, or with a until midnight, it does not."""
    problem = day(job("a", 2), job("b", 2, after="afterok:a"), nodes=2)
    added = insert(problem, plan_of(HOUR, DEFERRED), 1)
    assert added is not None
    assert added.start_s.tolist() == [HOUR, 3 * HOUR]
    assert insert(problem, plan_of(DEFERRED, DEFERRED), 1) is None
    assert insert(problem, plan_of(22 * HOUR, DEFERRED), 1) is None
