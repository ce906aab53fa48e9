"""Days with a past and outages: every method keeps to them, the money is that of the same day as one plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.result import never
from planner.domain.segment import Segment
from planner.domain.situation import UNTIL_FURTHER_NOTICE_S, NodeOutage
from planner.errors import InputError
from planner.methods import Params, method_named
from planner.search.harvest import harvest
from planner.search.kernel.rebuild_steps import rebuild
from planner.search.kernel.search_state import CURRENT, Habits
from planner.search.multisearch import multisearch
from planner.search.rebuild import Chain
from tests.factories import DAY, flat_table, random_problem
from tests.past_days import carried_out, random_outages

HOUR = 3600


def two_nodes(jobs: tuple[Job, ...], **more: object) -> Problem:
    """A day of two nodes of four cores, 100 W when idle."""
    empty = Problem(
        horizon=DAY,
        cluster=Cluster((NodeClass("n", 2, {"cores": 4}, idle_w=100.0),)),
        jobs=jobs,
        segments=(Segment(0, DAY.length_s, 20, 0.1),),
        table=flat_table(),
        rates=Rates(0.02),
    )
    return replace(empty, **more)


def job(name: str, hours: float, cores: int = 4, submit_s: int = -HOUR) -> Job:
    """A job of one unit that draws 500 W."""
    return Job(name, DAY.start_unix + submit_s, int(hours * HOUR), (UnitGroup.of(1, {"cores": cores}),), 500.0)


def past_day(seed: int) -> tuple[Problem, Plan, Problem, Plan]:
    """A random day with its plan, and the same day at some moment with what is left of the plan."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=10, extras=seed % 2 == 0)
    plan = multisearch(problem).plan
    now_s = int(rng.integers(1, problem.horizon.length_s))
    return problem, plan, *carried_out(problem, plan, now_s)


@pytest.mark.parametrize("seed", range(30))
def test_money_of_past_and_plan_is_that_of_one_plan(seed: int) -> None:
    problem, plan, later, rest = past_day(seed)
    assert not audit(later, rest, leaves_room=True)
    once, again = settle(problem, plan), settle(later, rest)
    assert again.profit_eur == pytest.approx(once.profit_eur, abs=1e-9)
    for name in ("work_kwh", "idle_kwh", "cooling_kwh", "bought_kwh", "revenue_eur", "profit_eur"):
        np.testing.assert_allclose(getattr(again.segments, name), getattr(once.segments, name), atol=1e-9)
    by_id = dict(zip(once.jobs.job_ids, once.jobs.profit_eur.tolist(), strict=True))
    assert dict(zip(again.jobs.job_ids, again.jobs.profit_eur.tolist(), strict=True)) == pytest.approx(by_id)


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("method", ["multisearch", "est", "est-strict", "profit", "delay", "hold"])
@pytest.mark.parametrize("seed", range(8))
def test_every_method_keeps_to_the_past_and_to_outages(method: str, seed: int) -> None:
    later = past_day(seed)[2]
    later = replace(later, outages=random_outages(np.random.default_rng(1000 + seed), later))
    result = method_named(method)(later, Params(workers=1), never)
    assert not audit(later, result.plan, leaves_room=result.leaves_room)
    bound = profit_bound(later, time_limit_s=5.0)
    assert result.ledger.profit_eur <= bound.profit_eur + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_the_search_counts_the_money_of_the_past_and_of_closed_nodes(seed: int) -> None:
    later = past_day(seed)[2]
    later = replace(later, outages=random_outages(np.random.default_rng(1000 + seed), later))
    result = harvest(later, seed=seed, workers=1, iterations=300, time_limit_s=60.0, stop=never)
    assert not audit(later, result.plan)
    chain = Chain.from_plan(later, result.plan, seed=0, habits=Habits(1, 1, 0.5, 0.1, True, True))
    rebuild(chain.timelines, chain.jobs, chain.money, chain.tally, chain.state, chain.habits, 0.0, 0)
    assert chain.state.profits[CURRENT] == pytest.approx(result.ledger.profit_eur, abs=1e-6)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(6))
def test_an_engine_keeps_to_the_past_and_to_outages(seed: int) -> None:
    later = past_day(seed)[2]
    outages = random_outages(np.random.default_rng(1000 + seed), later)
    later = replace(later, outages=tuple(each for each in outages if each.start_s < DAY.length_s))
    result = method_named("cp")(later, Params(workers=1, time_limit_s=5.0), never)
    assert not audit(later, result.plan, leaves_room=result.leaves_room)


def test_nothing_starts_before_now() -> None:
    day = two_nodes((job("a", 1),), now_s=10 * HOUR)
    assert multisearch(day).plan.start_s.tolist() == [10 * HOUR]
    early = Plan.of(day, {"a": Placement("a", 10 * HOUR - 1, (0,))})
    assert [each.rule for each in audit(day, early)] == ["start"]


def test_nothing_runs_into_an_outage() -> None:
    outages = (NodeOutage(0, 0, UNTIL_FURTHER_NOTICE_S), NodeOutage(1, 5 * HOUR, 6 * HOUR))
    day = two_nodes((job("a", 4), job("b", 2)), now_s=2 * HOUR, outages=outages)
    plan = multisearch(day).plan
    assert set(plan.node_of_unit.tolist()) == {1}
    assert sorted(plan.start_s.tolist()) == [2 * HOUR, 6 * HOUR]
    down = Plan.of(day, {"a": Placement("a", 6 * HOUR, (1,)), "b": Placement("b", 12 * HOUR, (0,))})
    assert [each.rule for each in audit(day, down, leaves_room=True)] == ["outage"]
    into = Plan.of(day, {"a": Placement("a", 2 * HOUR, (1,))})
    assert [each.rule for each in audit(day, into, leaves_room=True)] == ["outage"]


def test_an_outage_after_midnight_is_in_the_way_of_a_job_that_runs_into_it() -> None:
    outages = (NodeOutage(0, 25 * HOUR, 26 * HOUR), NodeOutage(1, 0, UNTIL_FURTHER_NOTICE_S))
    day = two_nodes((job("a", 4),), now_s=22 * HOUR, outages=outages)
    assert multisearch(day).plan.start_s.tolist() == [-1]
    assert not audit(day, multisearch(day).plan)


def test_work_on_a_draining_node_goes_on_and_nothing_follows_it() -> None:
    held = Running(job("r", 6, cores=2), HOUR, 7 * HOUR, (0,))
    day = two_nodes((job("a", 1, cores=2), job("b", 20)), running=(held,), now_s=2 * HOUR)
    drained = replace(day, outages=(NodeOutage(0, 0, UNTIL_FURTHER_NOTICE_S),))
    plan = multisearch(drained).plan
    assert not audit(drained, plan)
    assert set(plan.node_of_unit[plan.node_of_unit >= 0].tolist()) == {1}
    # The drained node draws idle power before and after its work, as any other.
    idle_kwh = settle(drained, Plan.of(drained, {})).segments.idle_kwh
    assert idle_kwh.sum() == pytest.approx((24 + 18) * 0.1)


def test_capacity_of_started_work_is_no_fault_of_a_plan_that_adds_nothing_to_it() -> None:
    held = tuple(Running(job(f"r{k}", 2, cores=3), 0, 2 * HOUR, (0,)) for k in range(2))
    day = two_nodes((job("a", 1),), running=held, now_s=3 * HOUR)
    assert not audit(day, multisearch(day).plan)
    earlier = replace(day, now_s=HOUR)
    assert not audit(earlier, multisearch(day).plan)
    among_them = Plan.of(earlier, {"a": Placement("a", HOUR, (0,))})
    assert {each.rule for each in audit(earlier, among_them)} == {"capacity"}


def test_refusals() -> None:
    with pytest.raises(InputError, match="must hold some time of the day"):
        Running(job("r", 1), HOUR, HOUR, (0,))
    with pytest.raises(InputError, match="has started, but after"):
        two_nodes((), running=(Running(job("r", 1), HOUR, 2 * HOUR, (0,)),))
    with pytest.raises(InputError, match="none of the 2"):
        two_nodes((), outages=(NodeOutage(2, 0, 1),))
    with pytest.raises(InputError, match="none of the 2"):
        two_nodes((), running=(Running(job("r", 1), 0, HOUR, (2,)),))
    with pytest.raises(InputError, match="has no length"):
        NodeOutage(0, 5, 5)
