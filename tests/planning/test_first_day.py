"""Claims about the first of several days that are planned together, and about jobs of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.horizon import Horizon
from planner.domain.job import DeferRule, Job
from planner.domain.plan import DEFERRED, Plan, cut_plan
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.planning.outlook import after_the_day
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


def test_jobs_of_tomorrow_start_today_where_they_have_room_and_must() -> None:
    """14 hours are free: under ``defer: full`` the next job takes them, under ``defer: free`` it waits for tomorrow."""
    for defer, starts_h in (("full", [0, 10, 17]), ("free", [0, 24, 31])):
        problem, ahead = days(job("today", 10), job("next", 7), job("last", 7), defer=defer)  # type: ignore[arg-type]
        plan = after_the_day(problem, ahead, result_of(ahead, [0, 26, 40]).plan)
        assert (plan.start_s / HOUR).tolist() == starts_h


def test_the_first_day_of_a_plan_has_no_nodes_of_later_jobs() -> None:
    """What starts tomorrow is deferred, its nodes too."""
    problem, ahead = days(job("today", 10), job("tomorrow", 14), job("left out", 13))
    plan = cut_plan(problem, result_of(ahead, [0, 24, -1]).plan, problem.horizon.length_s)
    assert plan.start_s.tolist() == [0, DEFERRED, DEFERRED]
    assert plan.node_of_unit.tolist() == [0, DEFERRED, DEFERRED]
