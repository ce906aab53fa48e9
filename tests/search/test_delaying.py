"""Claims about DelaySearch: it tries every step of a job, remembers what it found, and breaks no rule for a gain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.domain.result import never
from planner.search import delay
from planner.search.delay import delay_search
from planner.search.multisearch import multisearch
from planner.search.orderings import ORDERINGS, job_order
from tests.plain_day import HOUR, day, job


def test_a_job_is_pushed_step_by_step_to_the_best_hour() -> None:
    """The second hour is better than the first, the fourth is the best and the third the worst: it starts at 3:00.

    4 cores for an hour earn 0.40 EUR, and 1 kWh at 3:00 costs 0.10 EUR.
    """
    problem = day(job("a", 1), prices=(0.4, 0.3, 0.5, 0.1, 0.2))
    found = delay_search(problem, workers=1, stop=never)
    assert found.plan.start_s.tolist() == [3 * HOUR]
    assert found.ledger.profit_eur == pytest.approx(0.30)


def test_jobs_are_taken_in_the_best_ordering_of_multisearch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of the orderings did best: the delays are tried in its sequence, and in the first one's if none did."""
    taken = []
    monkeypatch.setattr(delay, "job_order", lambda problem, name: taken.append(name) or job_order(problem, name))
    for best in (ORDERINGS[-1], "none of them"):
        monkeypatch.setattr(
            delay, "multisearch", lambda *given, b=best, **more: replace(multisearch(*given, **more), best_trial=b)
        )
        delay_search(day(job("a", 1)), workers=1, stop=never)
    assert taken == [ORDERINGS[-1], ORDERINGS[0]]


def test_a_start_that_was_found_is_kept_for_the_jobs_after_it() -> None:
    """Two jobs share a node: the second one moves to the cheap hour with the first one still there."""
    jobs = (job("a", 1, units=[(1, 2)]), job("b", 1, units=[(1, 2)]))
    found = delay_search(day(*jobs, prices=(0.4, 0.4, 0.1, 0.4)), workers=1, stop=never)
    assert found.plan.start_s.tolist() == [2 * HOUR, 2 * HOUR]


def test_a_job_is_not_pushed_out_of_the_day_for_a_gain() -> None:
    """The node is full from 2:00 on: leaving out a job that earns nothing would pay, but there is room at midnight."""
    due = job("due", 23, release_s=2 * HOUR, due_s=25 * HOUR)
    found = delay_search(day(due, job("poor", 1, weight=0)), workers=1, stop=never)
    assert found.plan.start_s.tolist() == [2 * HOUR, 0]
