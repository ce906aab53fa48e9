"""Promises in planning: jobs that are held for cheaper hours, figures about them, and days carried out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.promises import promises_of, with_promises
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, Promise, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running, executed
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from planner.domain.situation import Situation, StartedJob
from planner.online.day_under_policy import carry_out, look_ahead
from planner.online.estimates import with_estimates
from planner.online.expected_prices import QUARTER_S, EnergyCosts
from planner.online.holding import NO_HOLDING, Holding
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


def holding(problem: Problem, delay_h: float, waiting_eur: float = 0.0) -> Holding:
    """How jobs are held on a day whose prices are all known."""
    columns = problem.segment_columns
    quarters = np.arange(0, problem.horizon.length_s, QUARTER_S)
    price = columns.full_price_eur_per_kwh[np.searchsorted(columns.edges_s, quarters, side="right") - 1]
    costs = EnergyCosts(DAY.start_unix, price, np.zeros(len(price), dtype=np.int64), np.ones(len(price)))
    return Holding(round(delay_h * HOUR), costs, waiting_eur)


@pytest.mark.parametrize(("delay_h", "start_h"), [(0, 0), (11, 0), (12, 12), (15, 12)])
def test_work_is_held_for_a_cheaper_hour_as_far_as_promised(delay_h: int, start_h: int) -> None:
    """Energy is cheap from noon on: a job of an hour is held until then, if that is within its promise."""
    problem = one_node(job("a", 1), prices=(0.5, 0.1))
    result = look_ahead(problem, holding(problem, delay_h))
    assert starts(problem, result.plan) == {"a": start_h * HOUR}
    told = [(each.until_unix - DAY.start_unix, each.latest_unix - DAY.start_unix) for each in result.holds]
    assert told == ([(12 * HOUR, delay_h * HOUR)] if start_h else [])
    kw = problem.jobs[0].power_w / 1000
    assert [each.saved_eur for each in result.holds] == pytest.approx([0.4 * kw] if start_h else [])


def test_nothing_is_held_where_waiting_costs_more() -> None:
    """0.4 EUR/kWh are saved by a wait of twelve hours."""
    problem = one_node(job("a", 1), prices=(0.5, 0.1))
    saved = 0.4 * problem.jobs[0].power_w / 1000
    for waiting_eur, start_h in ((saved / 13, 12), (saved / 11, 0)):
        result = look_ahead(problem, holding(problem, 15, waiting_eur))
        assert starts(problem, result.plan) == {"a": start_h * HOUR}
        assert [each.waiting_eur for each in result.holds] == pytest.approx([12 * waiting_eur] if start_h else [])


def test_an_old_promise_stands() -> None:
    """It may be held until eleven o'clock and no longer, though it would be twelve by now; a shorter rule is kept."""
    old = Promise(DAY.start_unix - HOUR, DAY.start_unix + 11 * HOUR)
    problem = one_node(job("a", 1, submit_s=-2 * HOUR, promise=old), prices=(0.5, 0.1))
    assert starts(problem, look_ahead(problem, holding(problem, 20)).plan) == {"a": 0}
    longer = replace(old, latest_unix=DAY.start_unix + 12 * HOUR)
    problem = one_node(job("a", 1, submit_s=-2 * HOUR, promise=longer), prices=(0.5, 0.1))
    assert starts(problem, look_ahead(problem, holding(problem, 20)).plan) == {"a": 12 * HOUR}
    assert starts(problem, look_ahead(problem, holding(problem, 12)).plan) == {"a": 0}


@pytest.mark.parametrize("seed", range(20))
def test_plans_of_hold_keep_every_promise(seed: int) -> None:
    """Jobs are held within their promises, and the plan is sound."""
    problem = random_problem(np.random.default_rng(seed), jobs=12)
    waits = [replace(each, submit_unix=DAY.start_unix - 9000 + 10 * k) for k, each in enumerate(problem.jobs)]
    problem = replace(problem, jobs=tuple(waits))
    result = look_ahead(problem, holding(problem, 3))
    assert not audit(problem, result.plan, leaves_room=True)
    for each in result.holds:
        assert each.reference_unix <= each.until_unix <= each.latest_unix == each.reference_unix + 3 * HOUR
    told = with_promises(problem, result.holds)
    assert {each.id for each in told.jobs if each.promise is not None} == {each.job_id for each in result.holds}


def test_figures_about_promises() -> None:
    """a starts 1 h and b 4 h after the reference, b 1 h beyond its promise; r began in time; c waits past the day."""
    reference = Promise(DAY.start_unix, DAY.start_unix + 3 * HOUR)
    running = Running(job("r", 2, promise=Promise(DAY.start_unix - 9, DAY.start_unix)), -10, HOUR, (0,))
    late = Promise(DAY.start_unix, DAY.end_unix - 2 * HOUR)
    jobs = (job("a", 1, promise=reference), job("b", 1, promise=reference), job("c", 1, promise=late), job("d", 1))
    problem = one_node(*jobs, running=(running,))
    placed = {"a": Placement("a", HOUR, (0,)), "b": Placement("b", 4 * HOUR, (0,))}
    plan = Plan.of(problem, placed)
    told = promises_of(problem, plan, reason="so")
    assert told is not None
    assert (told.given, told.delayed, told.longest_delay_s) == (4, 3, DAY.length_s)
    assert told.mean_delay_s == pytest.approx((HOUR + 4 * HOUR + DAY.length_s) / 3)
    assert [(each.job_id, each.late_s, each.reason) for each in told.broken] == [
        ("b", HOUR, "so"),
        ("c", 2 * HOUR, "so"),
    ]
    tomorrow = promises_of(problem, plan, {"c": DAY.length_s + HOUR})
    assert tomorrow is not None
    assert tomorrow.longest_delay_s == DAY.length_s + HOUR
    assert promises_of(one_node(job("d", 1)), Plan.of(one_node(job("d", 1)), {})) is None


@pytest.mark.parametrize("seed", range(25))
def test_a_day_carried_out_with_real_runtimes(seed: int) -> None:
    """Jobs end early and the rest moves up: nothing is over-used, and no job is held for longer than an hour."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=12)
    real = [replace(each, runtime_s=int(rng.integers(1, each.requested_s + 1))) for each in problem.jobs]
    problem = replace(problem, jobs=tuple(real))
    result = carry_out(problem, holding(problem, 1))
    assert not audit(executed(problem), result.plan, leaves_room=True)
    assert all(each.until_unix <= each.reference_unix + HOUR for each in result.holds)


def test_carrying_out_moves_work_up() -> None:
    """a asks ten hours and takes one: b, which would start at ten by the plan, starts when a really ends."""
    problem = one_node(job("a", 10, runtime_s=HOUR), job("b", 2, submit_s=-30, runtime_s=HOUR))
    assert starts(problem, carry_out(problem, NO_HOLDING).plan) == {"a": 0, "b": HOUR}


@pytest.mark.parametrize(("delay_h", "start_h"), [(0, 1), (10, 1), (11, 12), (20, 12)])
def test_holds_count_from_when_the_scheduler_would_start_a_job(delay_h: int, start_h: int) -> None:
    """Until one o'clock another job runs, which asked for more; energy is cheap from noon on, and b likely short."""
    before = Running(job("r", 13, runtime_s=2 * HOUR), -HOUR, 12 * HOUR, (0,))
    problem = one_node(job("b", 2, runtime_s=HOUR), prices=(0.5, 0.1), running=(before,))
    result = carry_out(problem, holding(problem, delay_h))
    assert starts(problem, result.plan) == {"b": start_h * HOUR}


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
