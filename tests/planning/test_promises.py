"""Promises in planning: reference starts, plans that keep them, figures about them, and days carried out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.promises import promises_of
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.executed import executed
from planner.domain.job import Job, Promise, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.search_params import ReplanParams
from planner.domain.segment import Segment
from planner.domain.situation import Situation, StartedJob
from planner.online.look_ahead import carry_out, look_ahead, promised
from planner.planning.estimates import with_estimates
from planner.planning.promises import why_broken_promises, with_promises
from tests.factories import DAY, flat_table, random_problem

HOUR = 3600
NODE = Cluster((NodeClass("n", 1, {"cores": 4}),))


def job(name: str, hours: float, *, submit_s: int = -HOUR, cores: int = 4, **more: object) -> Job:
    """A job of one unit that draws 500 W."""
    units = (UnitGroup.of(1, {"cores": cores}),)
    return replace(Job(name, DAY.start_unix + submit_s, int(hours * HOUR), units, 500.0), **more)


def one_node(*jobs: Job, prices: tuple[float, float] = (0.1, 0.1), **more: object) -> Problem:
    """A day of one node with one price until noon and another after it."""
    noon = 12 * HOUR
    empty = Problem(
        horizon=DAY,
        cluster=NODE,
        jobs=jobs,
        segments=(Segment(0, noon, 20, prices[0]), Segment(noon, DAY.length_s, 20, prices[1])),
        table=flat_table(),
        rates=Rates(0.02),
    )
    return replace(empty, **more)


def starts(problem: Problem, plan: Plan) -> dict[str, int]:
    """Start of each placed job."""
    return {placed.job_id: placed.start_s for placed in plan.placements(problem)}


def test_reference_starts_are_list_scheduling_in_submit_order() -> None:
    """a runs from 0 to 2, b from 2 to 5; c is short, but finds no hole before 5 h; d follows it.

    e would start the day after, and f is not submitted yet.
    """
    jobs = (job("a", 2), job("b", 3, submit_s=-30), job("c", 1, submit_s=-20), job("d", 30, submit_s=-10))
    later = (job("e", 1, submit_s=-5), job("f", 1, submit_s=HOUR))
    given = promised(one_node(*jobs, *later), 2 * HOUR)
    assert {name: each.reference_unix - DAY.start_unix for name, each in given.items()} == {
        "a": 0,
        "b": 2 * HOUR,
        "c": 5 * HOUR,
        "d": 6 * HOUR,
        "e": 36 * HOUR,
    }
    assert all(each.latest_unix == each.reference_unix + 2 * HOUR for each in given.values())


def test_an_old_promise_stands() -> None:
    old = Promise(DAY.start_unix, DAY.start_unix + 60)
    first, second = job("a", 2, promise=old), job("b", 3, submit_s=-30)
    problem = one_node(first, second)
    told = with_promises(problem, promised(problem, HOUR))
    assert told.jobs[0].promise == old
    assert told.jobs[1].promise == Promise(DAY.start_unix + 2 * HOUR, DAY.start_unix + 3 * HOUR)


@pytest.mark.parametrize(("delay_h", "start_h"), [(0, 0), (11, 0), (12, 12), (15, 12)])
def test_work_is_held_for_a_cheaper_hour_as_far_as_promised(delay_h: int, start_h: int) -> None:
    """Energy is cheap from noon on: a job of an hour is held until then, if that is within its promise."""
    problem = one_node(job("a", 1), prices=(0.5, 0.1))
    problem = with_promises(problem, promised(problem, delay_h * HOUR))
    plan = look_ahead(problem, ReplanParams(waiting_core_hours=0.1)).plan
    assert starts(problem, plan) == {"a": start_h * HOUR}


def test_nothing_is_held_where_waiting_costs_more_or_holding_is_off() -> None:
    problem = one_node(job("a", 1), prices=(0.5, 0.1))
    problem = with_promises(problem, promised(problem, 15 * HOUR))
    assert starts(problem, look_ahead(problem, ReplanParams(waiting_core_hours=1000)).plan) == {"a": 0}
    assert starts(problem, look_ahead(problem, ReplanParams(waiting_core_hours=0.1, holds=False)).plan) == {"a": 0}


@pytest.mark.parametrize("delay_h", [0, 3])
@pytest.mark.parametrize("seed", range(40))
def test_plans_of_replan_keep_every_promise(seed: int, delay_h: int) -> None:
    problem = random_problem(np.random.default_rng(seed), jobs=12)
    waits = [replace(each, submit_unix=DAY.start_unix - 9000 + 10 * k) for k, each in enumerate(problem.jobs)]
    problem = replace(problem, jobs=tuple(waits))
    problem = with_promises(problem, promised(problem, delay_h * HOUR))
    result = look_ahead(problem, ReplanParams(), seed=seed)
    assert not audit(problem, result.plan, leaves_room=True)
    told = promises_of(problem, result.plan)
    assert told is not None
    assert not told.broken
    for each, start_s in zip(problem.jobs, result.plan.start_s.tolist(), strict=True):
        if each.promise is not None and each.promise.latest_unix < DAY.end_unix:
            assert 0 <= start_s <= DAY.to_s(each.promise.latest_unix)


def test_figures_about_promises() -> None:
    """a starts 1 h and b 4 h after the reference, b 1 h beyond its promise; r began in time; c waits past the day."""
    reference = Promise(DAY.start_unix, DAY.start_unix + 3 * HOUR)
    running = Running(job("r", 2, promise=Promise(DAY.start_unix - 9, DAY.start_unix)), -10, HOUR, (0,))
    late = Promise(DAY.start_unix, DAY.end_unix - 2 * HOUR)
    jobs = (job("a", 1, promise=reference), job("b", 1, promise=reference), job("c", 1, promise=late), job("d", 1))
    problem = one_node(*jobs, running=(running,))
    placed = {"a": Placement("a", HOUR, (0,)), "b": Placement("b", 4 * HOUR, (0,))}
    plan = Plan.of(problem, placed)
    told = promises_of(problem, plan, reason="so", reasons={"c": "thus"})
    assert told is not None
    assert (told.given, told.delayed, told.longest_delay_s) == (4, 3, DAY.length_s)
    assert told.mean_delay_s == pytest.approx((HOUR + 4 * HOUR + DAY.length_s) / 3)
    assert [(each.job_id, each.late_s, each.reason) for each in told.broken] == [
        ("b", HOUR, "so"),
        ("c", 2 * HOUR, "thus"),
    ]
    tomorrow = promises_of(problem, plan, {"c": DAY.length_s + HOUR})
    assert tomorrow is not None
    assert tomorrow.longest_delay_s == DAY.length_s + HOUR
    assert promises_of(one_node(job("d", 1)), Plan.of(one_node(job("d", 1)), {})) is None


def test_why_promises_are_broken() -> None:
    """Another method says so by itself; under replan a job that outlived its estimate is named, or what runs."""
    outlived = Running(job("r", 10, estimate_s=HOUR), -HOUR, 9 * HOUR, (0,))
    problem = one_node(job("a", 1), running=(outlived,), now_s=60)
    assert why_broken_promises(problem, "harvest") == "the method harvest keeps no promises"
    assert why_broken_promises(problem, "replan") == "job r outlived the estimate"
    assert why_broken_promises(one_node(), "replan") == "what runs now leaves no room earlier"


@pytest.mark.parametrize("seed", range(25))
def test_a_day_carried_out_with_real_runtimes(seed: int) -> None:
    """Jobs end early and the rest moves up: nothing is over-used, every promise given on arrival is kept."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=12)
    real = [replace(each, runtime_s=int(rng.integers(1, each.requested_s + 1))) for each in problem.jobs]
    problem = replace(problem, jobs=tuple(real))
    done = carry_out(problem, ReplanParams(), max_delay_s=HOUR, seed=seed)
    assert not audit(executed(problem), done.result.plan, leaves_room=True)
    assert set(starts(problem, done.result.plan)) <= set(done.promises)
    assert not done.reasons
    for name, start_s in starts(problem, done.result.plan).items():
        assert DAY.start_unix + start_s <= done.promises[name].latest_unix


def test_carrying_out_moves_work_up() -> None:
    """a asks ten hours and takes one: b, which would start at ten by the plan, starts when a really ends."""
    problem = one_node(job("a", 10, runtime_s=HOUR), job("b", 2, submit_s=-30, runtime_s=HOUR))
    done = carry_out(problem, ReplanParams(), max_delay_s=0)
    assert starts(problem, done.result.plan) == {"a": 0, "b": HOUR}


@pytest.mark.parametrize(("delay_h", "start_h"), [(0, 1), (2, 12)])
def test_nothing_is_held_where_no_delay_is_allowed(delay_h: int, start_h: int) -> None:
    """a asks thirteen hours and takes one; energy is cheap from noon on, an hour before b's reference start."""
    problem = one_node(job("a", 13, runtime_s=HOUR), job("b", 2, submit_s=-30, runtime_s=HOUR), prices=(0.5, 0.1))
    done = carry_out(problem, ReplanParams(waiting_core_hours=0.001), max_delay_s=delay_h * HOUR)
    assert starts(problem, done.result.plan)["b"] == start_h * HOUR


def test_estimates_are_learned_from_ended_jobs() -> None:
    """Ann's last two jobs took one and three hours: her next is thought to take two; Bob's takes what he asked."""
    ann = [
        StartedJob(job(f"a{k}", 10, submit_s=-9 * HOUR + k, user="ann"), DAY.start_unix - 8 * HOUR, (0,), end)
        for k, end in enumerate((DAY.start_unix - 7 * HOUR, DAY.start_unix - 5 * HOUR))
    ]
    runs = StartedJob(job("r", 10, submit_s=-4 * HOUR, user="ann"), DAY.start_unix - 3 * HOUR, (0,))
    waits = (job("next", 10, user="ann"), job("bob", 10, user="bob"))
    told = with_estimates(Situation(DAY.start_unix, waits, (*ann, runs)), NODE, "last2")
    assert [each.estimate_s for each in told.pending] == [2 * HOUR, 10 * HOUR]
    assert told.started[-1].job.estimate_s is None, "it has outlived two hours: all that it asked for counts"
    assert with_estimates(told, NODE, "requested") is told
