"""Claims about deadlines in what is written: in time is to the second, and so is too late."""

from __future__ import annotations

import pytest

from planner.accounting.settle import settle
from planner.domain.plan import DEFERRED, Placement, Plan
from planner.store.write_day import figures
from planner.store.write_tables import schedule_table
from tests.plain_day import HOUR, day, job


@pytest.mark.parametrize(("start_s", "missed", "met"), [(HOUR, 0, "yes"), (HOUR + 1, 1, "no")])
def test_a_deadline_is_missed_from_the_first_second_on(start_s: int, missed: int, met: str) -> None:
    """Due at 2:00, a job of an hour that starts at 1:00 is in time; a second later it is not."""
    problem = day(job("a", 1, due_s=2 * HOUR))
    plan = Plan.of(problem, {"a": Placement("a", start_s, (0,))})
    ledger = settle(problem, plan)
    assert figures(problem, plan, ledger, rejected=0).jobs.missed_deadlines == missed
    assert schedule_table(problem, plan, ledger).column("deadline_met") == [met]


@pytest.mark.parametrize(("due_s", "missed"), [(25 * HOUR, 0), (25 * HOUR - 1, 1)])
def test_a_deferred_job_misses_what_it_cannot_meet_tomorrow(due_s: int, missed: int) -> None:
    """At midnight tomorrow a job of an hour meets a deadline at 25:00, and misses one a second before."""
    problem = day(job("a", 1, due_s=due_s), defer="free")
    plan = Plan.of(problem, {})
    assert plan.start_s.tolist() == [DEFERRED]
    assert figures(problem, plan, settle(problem, plan), rejected=0).jobs.missed_deadlines == missed
