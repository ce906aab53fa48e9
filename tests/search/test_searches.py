"""The searches that improve a plan: exact money, never worse than their seed, reproducible, and clean."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, IdleRule, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.method_params import DelayParams, HarvestParams
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Battery, Rates
from planner.domain.result import BestSoFar, MaxRuntime, Result, Trial, never
from planner.domain.segment import Segment
from planner.machine.node_timelines import copy_timelines
from planner.search.decode import decode, opening_timelines
from planner.search.delay import delay_search
from planner.search.harvest import harvest
from planner.search.kernel.search_state import CURRENT, Habits
from planner.search.multisearch import multisearch
from planner.search.orderings import job_order
from planner.search.rebuild import Chain, load_plan
from planner.search.tiers import TierSearch
from planner.search.whole_plan_rules import complete
from tests.factories import DAY, flat_table, random_problem, small_table
from tests.plain_day import HOUR, day, job

Search = Callable[[Problem], Result]


def by_harvest(problem: Problem) -> Result:
    return harvest(problem, seed=1, workers=2, stop=never, time_limit_s=60, iterations=6000)


def by_delay(problem: Problem) -> Result:
    return delay_search(problem, workers=2, stop=never, params=DelayParams(7200))


SEARCHES = pytest.mark.parametrize("search", [by_harvest, by_delay])


def chain_at(problem: Problem, plan: Plan, seed: int = 3) -> Chain:
    habits = Habits(4, 4, 0.5, 0.1, True, problem.defer == "free")
    return Chain.from_plan(problem, plan, seed=seed, habits=habits)


@pytest.mark.parametrize("extras", [False, True])
@pytest.mark.parametrize("defer", ["full", "free"])
def test_the_kernel_counts_money_as_settle_does(extras: bool, defer: str) -> None:
    """After thousands of steps with undos, the profit kept step by step is the settled profit of the plan."""
    for seed in range(12):
        problem = dataclasses.replace(random_problem(np.random.default_rng(seed), jobs=14, extras=extras), defer=defer)
        chain = chain_at(problem, decode(problem, job_order(problem, "+area")))
        for temperature in (0.0, 0.01):
            chain.run(400, temperature)
            present = chain.present_plan()
            assert chain.state.profits[CURRENT] == pytest.approx(settle(problem, present).profit_eur, abs=1e-6)
            best = chain.best_plan()
            assert chain.best_profit_eur == pytest.approx(settle(problem, best).profit_eur, abs=1e-6)


@pytest.mark.parametrize("included", [False, True])
def test_the_kernel_counts_contracts_as_settle_does(included: bool) -> None:
    """Fees, feed-in, curtailed sun, a peak so far, prices by resource, nodes that sleep and wake, and later days.

    The money of a later day counts in part; so does what sun earns there that is fed in.
    """
    for seed in range(12):
        problem = random_problem(np.random.default_rng(seed), jobs=14, extras=True)
        rng = np.random.default_rng([seed, 1])
        classes = tuple(dataclasses.replace(each, sleep_w=each.idle_w / 5) for each in problem.cluster.classes)
        rule = IdleRule(included, after_s=int(rng.integers(0, 7200)), wake_s=int(rng.integers(0, 7200)))
        problem = dataclasses.replace(
            problem,
            cluster=dataclasses.replace(problem.cluster, classes=classes, idle_rule=rule),
            segments=tuple(
                dataclasses.replace(
                    each,
                    fee_eur_per_kwh=float(rng.uniform(0, 0.1)),
                    feed_in_eur_per_kwh=float(rng.uniform(-0.1, 0.3)),
                    counts=float(rng.uniform(0.2, 1.0)),
                )
                for each in problem.segments
            ),
            rates=dataclasses.replace(problem.rates, eur_per_hour={"cores": 0.01}, demand_so_far_kw=0.5),
        )
        chain = chain_at(problem, decode(problem, job_order(problem, "+area")))
        for temperature in (0.0, 0.01):
            chain.run(400, temperature)
            settled = settle(problem, chain.present_plan()).profit_eur
            assert chain.state.profits[CURRENT] == pytest.approx(settled, abs=1e-6)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("demand_eur_per_kw", [0.0, 0.3])
def test_the_best_plan_beside_a_battery_is_exact_and_no_plan_is_counted_too_low(demand_eur_per_kw: float) -> None:
    """The cuts of a few plans bound what a battery saves beside all others; the best plan has its own."""
    learned = used = 0
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), jobs=14, extras=True)
        battery = Battery(2.0, 1.0, 0.8, start_kwh=1.0, end_kwh=0.5)
        rates = dataclasses.replace(problem.rates, demand_eur_per_kw=demand_eur_per_kw, battery=battery)
        problem = dataclasses.replace(problem, rates=rates)
        chain = chain_at(problem, decode(problem, job_order(problem, "+area")))
        for temperature in (0.0, 0.01):
            chain.run(200, temperature)
            settled = settle(problem, chain.present_plan()).profit_eur
            assert chain.state.profits[CURRENT] >= settled - 1e-7
            best = settle(problem, chain.best_plan()).profit_eur
            assert chain.best_profit_eur == pytest.approx(best, abs=1e-7)
        learned += chain.learned
        used += int(abs(settle(problem, chain.best_plan()).totals.battery_eur) > 0.001)
    assert learned > 20
    assert used >= 4


def test_a_job_moves_to_where_the_battery_helps() -> None:
    """The peak costs 1 EUR/kW; the battery shaves it by half at any hour, and sun before noon fills it for free."""
    rates = Rates(0.2, demand_eur_per_kw=1.0, demand_interval_s=HOUR, battery=Battery(1.0, 0.5, 1.0, 0.0, 0.0))
    problem = day(job("a", 2), prices=[0.3] * 24, rates=rates)
    sunny = tuple(
        dataclasses.replace(each, solar_w=500.0 if 9 <= k < 11 else 0.0) for k, each in enumerate(problem.segments)
    )
    problem = dataclasses.replace(problem, segments=sunny)
    found = harvest(problem, seed=1, workers=1, stop=never, time_limit_s=60, iterations=2000)
    starts = range(0, 22)
    best = max(settle(problem, Plan.of(problem, {"a": Placement("a", h * HOUR, (0,))})).profit_eur for h in starts)
    assert found.ledger.profit_eur >= best - 1e-9


def test_taking_jobs_off_and_putting_them_back_leaves_the_timelines_as_they_were() -> None:
    """After many steps the timelines are those that the present plan gives when it is loaded afresh."""
    for seed in range(12):
        problem = random_problem(np.random.default_rng(seed), jobs=14)
        chain = chain_at(problem, decode(problem, job_order(problem, "-area")))
        chain.run(500, 0.01)
        jobs, opening = opening_timelines(problem)
        present = chain.present_plan()
        fresh = load_plan(copy_timelines(opening), jobs, present)
        assert np.array_equal(fresh.length, chain.timelines.length)
        assert np.array_equal(fresh.tops, chain.timelines.tops)
        assert np.all(chain.timelines.crests >= chain.timelines.tops.max(axis=1))
        for node, length in enumerate(fresh.length):
            assert np.array_equal(fresh.times[node, :length], chain.timelines.times[node, :length])
            assert np.array_equal(fresh.free[node, :length], chain.timelines.free[node, :length])


def test_rebuilding_leaves_overdue_jobs_where_they_are() -> None:
    """They were placed before all others, and nothing may take their place again."""
    moved = 0
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), jobs=16)
        overdue = [job.id for job in problem.jobs[::3]]
        problem = dataclasses.replace(problem, overdue=frozenset(overdue))
        plan = decode(problem, job_order(problem, "-area"))
        chain = chain_at(problem, plan)
        chain.run(500, 1.0)
        held = np.array([job.id in problem.overdue for job in problem.jobs])
        assert np.array_equal(chain.state.start_of[held], plan.start_s[held])
        moved += int(np.count_nonzero(chain.state.start_of != plan.start_s))
    assert moved > 0


def test_delaying_leaves_overdue_jobs_where_they_are() -> None:
    """Pushed later they would not go before all others any more; the rest still is."""
    delayed = 0
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), jobs=10)
        problem = dataclasses.replace(problem, overdue=frozenset(job.id for job in problem.jobs[::3]))
        seeded = multisearch(problem, workers=1, stop=never)
        found = by_delay(problem)
        assert np.array_equal(found.plan.start_s[problem.is_overdue], seeded.plan.start_s[problem.is_overdue])
        delayed += found.ledger.profit_eur > seeded.ledger.profit_eur
    assert delayed > 0


@pytest.mark.slow(keep=1)
@SEARCHES
@pytest.mark.parametrize("defer", ["full", "free"])
def test_a_search_is_never_worse_than_its_seed_and_clean(search: Search, defer: str) -> None:
    """On random days with several resources, classes, running work, power limits and every extra cost."""
    better = 0
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), jobs=16, extras=seed % 2 == 0)
        problem = dataclasses.replace(problem, defer=defer)
        result, base = search(problem), multisearch(problem)
        assert result.ledger.profit_eur >= base.ledger.profit_eur
        assert result.ledger.profit_eur == settle(problem, result.plan).profit_eur
        assert audit(problem, result.plan) == []
        better += result.ledger.profit_eur > base.ledger.profit_eur + 1e-9
    assert better > 0


def test_the_same_seed_gives_the_same_plan_on_any_number_of_workers() -> None:
    """With an iteration limit the answer depends on the seed alone; another seed walks another way."""
    problem = random_problem(np.random.default_rng(21), jobs=30)

    def plan(seed: int, workers: int) -> Result:
        return harvest(problem, seed=seed, workers=workers, stop=never, time_limit_s=60, iterations=8000)

    one, two, other = plan(5, 1), plan(5, 3), plan(6, 1)
    assert np.array_equal(one.plan.start_s, two.plan.start_s)
    assert np.array_equal(one.plan.node_of_unit, two.plan.node_of_unit)
    assert one.trials == two.trials
    assert one.trials != other.trials


@SEARCHES
def test_a_day_without_jobs(search: Search) -> None:
    """Nothing to search is no reason to fail."""
    empty = dataclasses.replace(random_problem(np.random.default_rng(2), jobs=0), running=())
    assert search(empty).ledger.profit_eur == 0


def test_no_time_at_all_still_gives_a_plan() -> None:
    """A time limit of zero returns the first ordering's plan, audited like any other."""
    problem = random_problem(np.random.default_rng(4), jobs=12)
    for result in (
        harvest(problem, seed=0, workers=1, stop=MaxRuntime(0), time_limit_s=0),
        delay_search(problem, workers=1, stop=MaxRuntime(0)),
    ):
        assert audit(problem, result.plan) == []
        assert len(result.trials) >= 1


@pytest.mark.parametrize("after", [23, 30])
def test_an_interrupt_returns_the_best_so_far(after: int) -> None:
    """Ctrl-C in the middle of a search keeps what it has found."""
    problem = random_problem(np.random.default_rng(6), jobs=25)
    asked = 0

    def stop(best_eur: float) -> bool:
        nonlocal asked
        asked += 1
        if asked == after:
            raise KeyboardInterrupt
        return False

    result = harvest(problem, seed=0, workers=1, stop=stop, time_limit_s=60, iterations=50_000)
    assert result.ledger.profit_eur >= multisearch(problem).ledger.profit_eur
    assert audit(problem, result.plan) == []


def test_completion_starts_all_that_has_room() -> None:
    """Under `defer: full` a plan with jobs taken out at random is clean again once completed."""
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), jobs=14)
        plan = decode(problem, job_order(problem, "+duration")[::2].copy())
        assert audit(problem, complete(problem, plan)) == []


def test_tiered_orders_report_their_trials_and_end_when_they_are_of_no_use() -> None:
    """Eight trials per batch; the listener is told about improvements alone; a hundred in a row without one is the end.

    With batches of eight the hundredth falls into the thirteenth batch after the one that helped last.
    """
    problem = random_problem(np.random.default_rng(8), jobs=20)
    base = multisearch(problem)
    told: list[Trial] = []
    so_far = BestSoFar.after(base, never, told.append)
    tiers = TierSearch(problem, so_far, seed=0, workers=2)
    while tiers.try_batch():
        assert len(tiers.trials) % 8 == 0
    profits = [trial.profit_eur for trial in tiers.trials]
    assert told
    assert all(trial.profit_eur > base.ledger.profit_eur for trial in told)
    assert so_far.best.worth_eur == max(profits) == told[-1].profit_eur
    last = profits.index(max(profits))
    assert len(profits) == (last + 100) // 8 * 8 + 8


def test_each_part_of_harvest_can_be_left_out() -> None:
    """With no share for tiers the plan is rebuilt from MultiSearch's; the answer is still clean."""
    problem = random_problem(np.random.default_rng(9), jobs=20)
    params = HarvestParams(tier_share=0.0)
    result = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=9, iterations=3000, params=params)
    assert audit(problem, result.plan) == []
    assert result.ledger.profit_eur >= multisearch(problem).ledger.profit_eur


def sunny_day(seed: int, *, idle_w: float, demand_eur_per_kw: float) -> Problem:
    """Two nodes, two jobs, hourly prices and a roof of 1.5 kW; every job may be left out."""
    rng = np.random.default_rng(seed)
    segments = tuple(
        Segment(
            hour * 3600,
            (hour + 1) * 3600,
            int(rng.integers(1, 6)) * 5,
            round(float(rng.uniform(0.02, 0.4)), 3),
            solar_w=1500 * max(0.0, float(np.sin((hour - 6) / 12 * np.pi))),
        )
        for hour in range(24)
    )
    jobs = tuple(
        Job(
            f"j{number}",
            DAY.start_unix + int(rng.integers(0, 8)) * 1800,
            int(rng.integers(3600, 8 * 3600)),
            (UnitGroup.of(1, {"cores": float(rng.integers(1, 8))}),),
            float(rng.uniform(200, 1500)),
        )
        for number in range(2)
    )
    cluster = Cluster((NodeClass("n", 2, {"cores": 8}, idle_w=idle_w),))
    rates = Rates(float(rng.uniform(0.005, 0.04)), demand_eur_per_kw=demand_eur_per_kw)
    return Problem(DAY, cluster, jobs, segments, small_table(clamp=True), rates, defer="free")


def best_on_a_grid(problem: Problem) -> float:
    """The best profit when jobs start at their release or at an even hour, on either node, or not at all."""
    choices = []
    for release in problem.columns.release_s.tolist():
        starts = [release, *range(-(-release // 7200) * 7200, 86400, 7200)]
        choices.append([None, *product(starts, (0, 1))])
    best = -np.inf
    for chosen in product(*choices):
        placements = {
            job.id: Placement(job.id, one[0], (one[1],))
            for job, one in zip(problem.jobs, chosen, strict=True)
            if one is not None
        }
        plan = Plan.of(problem, placements)
        profit = settle(problem, plan).profit_eur
        if profit > best and not audit(problem, plan):
            best = profit
    return best


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("idle_w", "demand"), [(0.0, 0.0), (100.0, 0.0), (80.0, 0.2)])
def test_harvest_does_not_lose_to_a_two_hour_grid(idle_w: float, demand: float) -> None:
    """With the sun, idle power and a demand charge the best start lies where the sun is used up, not at an edge."""
    for seed in range(4):
        problem = sunny_day(seed, idle_w=idle_w, demand_eur_per_kw=demand)
        found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=8000)
        assert found.ledger.profit_eur >= best_on_a_grid(problem) - 1e-9, f"seed {seed}"


def test_a_job_starts_where_the_sun_just_covers_it() -> None:
    """Sun of 0.3, 1 and 0.3 kW from 10:00, 11:00 and 12:00, and dear power: 600 W for two hours cost nothing at 10:30.

    Half an hour of 600 W is the 0.3 kWh that the first and the last hour have; any other start buys some energy.
    """
    edges, sun = (0, 36000, 39600, 43200, 46800, 86400), (0.0, 300.0, 1000.0, 300.0, 0.0)
    segments = tuple(
        Segment(start, end, 20, 1.0, solar_w=watts) for start, end, watts in zip(edges, edges[1:], sun, strict=False)
    )
    cluster = Cluster((NodeClass("n", 1, {"cores": 1}),))
    jobs = (Job("a", DAY.start_unix, 7200, (UnitGroup.of(1, {"cores": 1.0}),), 600.0),)
    problem = Problem(DAY, cluster, jobs, segments, flat_table(), Rates(0.01), defer="free")
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=2000)
    assert found.plan.start_s.tolist() == [37800]
    assert found.ledger.profit_eur == pytest.approx(0.02)
