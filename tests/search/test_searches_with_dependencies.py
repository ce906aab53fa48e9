"""Every search keeps what jobs wait for: by hand on small days, and on crowded random ones by the audit."""

from __future__ import annotations

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.plan import DEFERRED
from planner.domain.problem import Running
from planner.domain.rates import Rates
from planner.domain.result import MaxRuntime, never
from planner.search.decode import decode
from planner.search.delay import delay_search
from planner.search.harvest import harvest
from planner.search.multisearch import multisearch
from planner.search.rebuild import _movable
from planner.search.whole_plan_rules import complete, without_losses
from tests.dependent_jobs import crowded
from tests.plain_day import HOUR, LENGTH, day, job


def order(*jobs: int) -> np.ndarray:
    return np.array(jobs, dtype=np.int64)


def test_a_sequence_places_before_every_job_what_it_waits_for() -> None:
    """c is first in the sequence: a goes before it, then b, and c starts where both have ended."""
    problem = day(job("c", 1, after="afterok:b,afterok:a"), job("b", 2, after="after:a"), job("a", 3), nodes=2)
    assert decode(problem, order(0, 1, 2)).start_s.tolist() == [3 * HOUR, 0, 0]


def test_a_job_starts_when_the_other_has_ended_although_there_is_room_before() -> None:
    """The other node is free all day. After r, which runs until four, d may start at four and e at once."""
    held = Running(job("r", 5, release_s=-HOUR), -HOUR, 4 * HOUR, (0,))
    jobs = (job("a", 2), job("b", 1, after="afterany:a"), job("d", 1, after="afterok:r"), job("e", 1, after="after:r"))
    problem = day(*jobs, nodes=5, running=(held,))
    assert decode(problem, order(3, 2, 1, 0)).start_s.tolist() == [0, 2 * HOUR, 4 * HOUR, 0]


def test_a_job_starts_after_the_end_that_the_other_really_has_in_the_plan() -> None:
    """x holds both nodes until three, so that a ends at five; b could start at two if a had the machine for itself."""
    problem = day(job("x", 3, units=((2, 4.0),)), job("a", 2), job("b", 1, after="afterok:a"), nodes=2)
    assert decode(problem, order(0, 1, 2)).start_s.tolist() == [0, 3 * HOUR, 5 * HOUR]


def test_a_job_waits_for_another_that_has_no_room_today_or_that_never_runs() -> None:
    """a needs both nodes, and one is taken until tomorrow; b and c wait with it, d for a job too large for the site."""
    held = Running(job("r", 50, release_s=-HOUR), -HOUR, 2 * LENGTH, (0,))
    waits = {"b": "after:a", "c": "afterok:b", "d": "afterok:z", "e": "afterok:r"}
    jobs = (job("a", 1, units=((2, 4.0),)), *(job(name, 1, after=text) for name, text in waits.items()))
    problem = day(*jobs, nodes=2, running=(held,), never=["z"])
    assert decode(problem, order(0, 1, 2, 3, 4)).start_s.tolist() == [DEFERRED] * 5
    assert audit(problem, decode(problem, order(0, 1, 2, 3, 4))) == []


def test_a_plan_is_completed_with_jobs_in_the_order_in_which_they_wait() -> None:
    """b earns more for its power, but waits for a: both start, one after the other."""
    problem = day(job("b", 1, power_w=1.0, after="afterok:a"), job("a", 1))
    assert complete(problem, decode(problem, order())).start_s.tolist() == [HOUR, 0]


def test_a_loss_stays_as_long_as_a_job_that_pays_waits_for_it() -> None:
    """a and c lose money: c goes, and a stays for b, which earns more than a costs."""
    cheap = {"power_w": 9000.0, "weight": 0.1}
    jobs = (job("a", 1, **cheap), job("b", 1, power_w=1.0, weight=9.0, after="afterok:a"))
    problem = day(*jobs, job("c", 1, after="afterok:b", **cheap), rates=Rates(0.5), defer="free")
    plan = decode(problem, order(0, 1, 2))
    kept, ledger = without_losses(problem, plan, settle(problem, plan))
    assert kept.start_s.tolist() == [0, HOUR, DEFERRED]
    assert ledger.profit_eur == settle(problem, kept).profit_eur


def test_a_job_that_an_overdue_one_waits_for_is_not_moved() -> None:
    """Through others, too; what waits for the overdue job itself may move."""
    waits = {"b": "afterok:a", "c": "afterok:b", "d": "afterok:c", "e": "after:a"}
    jobs = (job("a", 1), *(job(name, 1, after=text) for name, text in waits.items()))
    assert _movable(day(*jobs, overdue=["c"])).tolist() == [False, False, False, True, True]


def test_rebuilding_moves_a_whole_chain_to_where_it_is_cheap() -> None:
    """Energy is dear until ten: a chain of three that could start at midnight is best begun at ten."""
    jobs = (job("a", 2), job("b", 2, after="afterok:a"), job("c", 2, after="afterok:b"))
    problem = day(*jobs, prices=[5.0] * 10 + [0.01], rates=Rates(0.5))
    found = harvest(problem, seed=1, workers=1, stop=never, time_limit_s=60, iterations=4000)
    assert found.plan.start_s.min() >= 10 * HOUR
    assert audit(problem, found.plan) == []


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(4))
def test_crowded_days_are_clean(block: int) -> None:
    """MultiSearch, HarvestSearch and DelaySearch: no plan breaks a rule, and no chain had to be dropped for one."""
    for seed in range(6 * block, 6 * block + 6):
        problem = crowded(seed)
        for found in (
            multisearch(problem),
            harvest(problem, seed=seed, workers=1, stop=never, time_limit_s=60, iterations=3000),
            delay_search(problem, workers=1, stop=MaxRuntime(0.2)),
        ):
            assert audit(problem, found.plan) == [], f"seed {seed}, {found.method}"
            assert not found.stands_in_for, f"seed {seed}, {found.method}: {found.stands_in_for}"
