"""Claims about the first of several days, once it is planned again without what is kept for later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import DeferRule, Problem
from planner.domain.result import Result
from planner.methods import Params, method_named
from planner.planning.ahead import after_the_day, first_day_of, planned_again
from tests.plain_day import HOUR, LENGTH, day, job


def days(*jobs: Job, defer: DeferRule = "full") -> tuple[Problem, Problem]:
    """A day of one node, and it with the day after."""
    problem = day(*jobs, defer=defer)
    longer = Horizon.from_moment(problem.horizon.start_unix, 2 * LENGTH, problem.horizon.zone)
    last = problem.segments[-1]
    return problem, replace(problem, horizon=longer, segments=(*problem.segments[:-1], replace(last, end_s=2 * LENGTH)))


def result_of(ahead: Problem, starts_h: Sequence[float]) -> Result:
    """A plan of both days in which jobs start at these hours; a negative one leaves a job out."""
    start_s = np.array([round(hour * HOUR) if hour >= 0 else DEFERRED for hour in starts_h], dtype=np.int64)
    plan = Plan(start_s, np.where(start_s >= 0, 0, DEFERRED))
    return Result(plan, settle(ahead, plan), "multisearch", "found", 1.0, "made up")


def again(problem: Problem, ahead: Problem, together: Result) -> Result:
    return planned_again(problem, ahead, together, method_named("multisearch"), Params(workers=1))


def test_gaps_of_the_day_are_filled_with_others_than_are_kept_for_later() -> None:
    """14 hours of today are wasted: the job that was left out fills them, not tomorrow's, which pays twice."""
    problem, ahead = days(job("today", 10), job("tomorrow", 14, weight=2), job("left out", 13))
    found = again(problem, ahead, result_of(ahead, [0, 24, -1]))
    assert found.plan.start_s[1] == 24 * HOUR
    assert sorted(found.plan.start_s[[0, 2]].tolist()) in ([0, 10 * HOUR], [0, 13 * HOUR])
    assert found.best_trial != "made up"


def test_what_waits_for_a_job_of_tomorrow_waits_today() -> None:
    """The problem of the day lacks the job that it waits for: that does not look as if it were done."""
    problem, ahead = days(job("today", 2), job("tomorrow", 14), job("next", 13, after="afterok:tomorrow"), job("x", 3))
    found = again(problem, ahead, result_of(ahead, [0, 24, -1, -1]))
    assert found.plan.start_s[[1, 2]].tolist() == [24 * HOUR, 38 * HOUR]
    assert 0 <= found.plan.start_s[3] < LENGTH


def test_a_day_that_gets_no_better_stays_as_it_is() -> None:
    """Both plans fill the day, so the first is kept, with the time that both took."""
    problem, ahead = days(job("today", 24), job("tomorrow", 24))
    together = result_of(ahead, [0, 24])
    found = again(problem, ahead, together)
    assert found.plan is together.plan
    assert found.best_trial == "made up"
    assert found.solve_s > together.solve_s


def test_jobs_of_tomorrow_start_today_where_they_have_room_and_must() -> None:
    """14 hours are free: under ``defer: full`` the next job takes them, under ``defer: free`` it waits for tomorrow."""
    for defer, starts_h in (("full", [0, 10, 17]), ("free", [0, 24, 31])):
        problem, ahead = days(job("today", 10), job("next", 7), job("last", 7), defer=defer)  # type: ignore[arg-type]
        plan = after_the_day(problem, ahead, result_of(ahead, [0, 26, 40]).plan)
        assert (plan.start_s / HOUR).tolist() == starts_h


def test_the_first_day_of_a_plan_has_no_nodes_of_later_jobs() -> None:
    """What starts tomorrow is deferred, its nodes too."""
    problem, ahead = days(job("today", 10), job("tomorrow", 14), job("left out", 13))
    plan = first_day_of(problem, result_of(ahead, [0, 24, -1]).plan)
    assert plan.start_s.tolist() == [0, DEFERRED, DEFERRED]
    assert plan.node_of_unit.tolist() == [0, DEFERRED, DEFERRED]
