"""Claims about starting jobs sooner in a plan that earns enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import Result, never
from planner.search.decode import decode
from planner.search.orderings import job_order
from planner.search.shorter_waits import LEAST_PART, sooner
from tests.factories import random_problem
from tests.plain_day import HOUR, day, job


def result_of(problem: Problem, plan: Plan, *, leaves_room: bool = False) -> Result:
    """A search's result that is this plan."""
    return Result(plan, settle(problem, plan), "harvest", "found", 1.0, "made up", leaves_room=leaves_room)


def hastened(problem: Problem, plan: Plan, *, steps: int = 2000, leaves_room: bool = False) -> Plan:
    """The plan after some steps."""
    return sooner(problem, result_of(problem, plan, leaves_room=leaves_room), seed=1, steps=steps, stop=never).plan


def on_first_node(problem: Problem, *starts_h: float) -> Plan:
    """Jobs on the first node, which start at these hours."""
    return Plan(np.array([round(hour * HOUR) for hour in starts_h]), np.zeros(len(problem.jobs), dtype=np.int64))


def test_short_jobs_no_longer_wait_for_the_long_one() -> None:
    """Ten hours and then an hour twice, one at a time, earn the same in every order; the short ones go first then."""
    problem = day(job("long", 10), job("short", 1), job("brief", 1))
    plan = hastened(problem, on_first_node(problem, 0, 10, 11))
    assert sorted(plan.start_s.tolist()) == [0, HOUR, 2 * HOUR]
    assert plan.start_s[0] == 2 * HOUR


def test_a_job_that_would_not_end_on_the_day_is_not_moved_behind_others() -> None:
    """20 hours and 5: with the short one first an hour of the long one, which pays twice, would fall on tomorrow."""
    problem = day(job("long", 20, weight=2), job("short", 5))
    before = on_first_node(problem, 0, 20)
    assert np.array_equal(hastened(problem, before).start_s, before.start_s)


@pytest.mark.parametrize("defer", ["full", "free"])
def test_the_same_jobs_start_no_later_and_nothing_is_lost(defer: str) -> None:
    """On random days with all rules: no rule is broken, the sum of starts falls, and the profit stays."""
    fell = 0
    for seed in range(40):
        problem = replace(random_problem(np.random.default_rng(seed), jobs=14, extras=True), defer=defer)
        before = decode(problem, job_order(problem, "-duration"))
        after = hastened(problem, before, steps=400)
        assert not audit(problem, after)
        earned = settle(problem, before).profit_eur
        assert settle(problem, after).profit_eur >= earned - LEAST_PART * abs(earned)
        placed = before.is_placed
        assert after.is_placed[placed].all()
        assert after.start_s[placed].sum() <= before.start_s[placed].sum()
        fell += int(after.start_s[placed].sum() < before.start_s[placed].sum())
    assert fell >= 15


def test_jobs_of_tomorrow_are_not_started_where_the_plan_may_leave_room() -> None:
    """A plan of which tomorrow's jobs were cut off keeps them for tomorrow."""
    problem = day(job("long", 10), job("short", 1), job("tomorrow", 2))
    plan = hastened(problem, Plan(np.array([0, 10 * HOUR, -1]), np.array([0, 0, -1])), leaves_room=True)
    assert plan.start_s.tolist() == [HOUR, 0, -1]


def test_a_day_that_must_not_leave_room_starts_what_has_some() -> None:
    """Under ``defer: full`` the third job has room and starts, whatever the plan had left out."""
    problem = day(job("long", 10), job("short", 1), job("left out", 2))
    plan = hastened(problem, Plan(np.array([0, 10 * HOUR, -1]), np.array([0, 0, -1])))
    assert plan.start_s.tolist() == [HOUR, 0, 11 * HOUR]


def test_the_same_seed_gives_the_same_plan_and_no_steps_leave_it() -> None:
    """Two runs agree, and none changes nothing."""
    problem = random_problem(np.random.default_rng(3), jobs=14)
    before = decode(problem, job_order(problem, "-duration"))
    first, second = hastened(problem, before, steps=300), hastened(problem, before, steps=300)
    assert np.array_equal(first.start_s, second.start_s)
    assert np.array_equal(hastened(problem, before, steps=0).start_s, before.start_s)


def test_priorities_count_as_in_the_search() -> None:
    """The day holds 24 of 25 hours: whoever goes last loses one. Only the long job's priority tells them apart."""
    first, second = job("long", 20), job("short", 5)
    before = on_first_node(day(first, second), 0, 20)
    assert hastened(day(first, second), before).start_s.tolist() == [5 * HOUR, 0]
    urgent = day(replace(first, priority=2.0), second)
    assert hastened(urgent, before).start_s.tolist() == [0, 20 * HOUR]
