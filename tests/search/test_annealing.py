"""Claims about the steps of RebuildSearch and about how HarvestSearch leads it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.compiled import kernel_of
from planner.domain.method_params import HarvestParams
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.domain.result import BestSoFar, Candidate, never
from planner.domain.waits import WaitPrice
from planner.search import harvest as subject
from planner.search.decode import decode
from planner.search.harvest import Budget, harvest
from planner.search.kernel.money import cooling_share
from planner.search.kernel.search_state import ACCEPTED, BEST, CURRENT, STEPS, Habits
from planner.search.orderings import ORDERINGS, job_order
from planner.search.rebuild import Chain
from planner.search.whole_plan_rules import evaluate_decoded
from tests.factories import flat_table, random_problem
from tests.plain_day import HOUR, day, job


def chain_of(problem: Problem, *, priced: float = 0.5, wanders: float = 0.4, exact: bool = True) -> Chain:
    habits = Habits(4, 4, priced, wanders, exact, problem.defer == "free")
    return Chain.from_plan(problem, decode(problem, job_order(problem, "+area")), seed=1, habits=habits)


def having(candidate: Candidate) -> BestSoFar:
    """What a search has in hand that found one candidate."""
    so_far = BestSoFar(never, None)
    so_far.keep_if_better(candidate)
    return so_far


def budget(iterations: int = 4000) -> Budget:
    return Budget(time_limit_s=60, iterations=iterations)


def test_the_temperature_falls_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve meetings in 12,000 steps: each has 500 steps for two chains, and a twelfth less heat than the one before.

    4 cores for an hour earn 0.40 EUR, so a heat of 0.5 is 0.20 EUR.
    """
    runs: list[tuple[int, float]] = []
    monkeypatch.setattr(subject, "run_chains", lambda chains, steps, heat, workers: runs.append((steps, heat)))
    params = HarvestParams(tier_share=0.0, heat=0.5)
    harvest(day(job("a", 1)), seed=0, workers=1, stop=never, time_limit_s=9, iterations=12_000, params=params)
    assert [steps for steps, _ in runs] == [500] * 12
    assert [heat for _, heat in runs] == pytest.approx([0.2 * (12 - k) / 12 for k in range(12)])


def test_a_round_takes_a_fifth_of_a_second_by_the_pace_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first round counts on 1,000 steps a second: 200. It takes 0.1 s, so the next ones have 400, in 0.2 s each."""
    now, rounds = [100.0], []

    def run(chains: list[Chain], steps: int, heat: float, workers: int) -> None:
        rounds.append(steps)
        now[0] += steps / 2000

    clock = SimpleNamespace(perf_counter=lambda: now[0], monotonic=lambda: now[0])
    monkeypatch.setattr(subject, "run_chains", run)
    monkeypatch.setattr(subject, "time", clock)
    monkeypatch.setattr("planner.search.harvest.time", clock)
    params = HarvestParams(tier_share=0.0, meetings=1)
    harvest(day(job("a", 1)), seed=0, workers=1, stop=never, time_limit_s=0.65, params=params)
    assert rounds == [200, 400, 400, 400]


def test_every_chain_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two chains for each seed of the search, so that no two searches share one; later ones are 1,000 apart."""
    seeds, made = [], Chain.from_plan

    def from_plan(problem: Problem, plan: Plan, *, seed: int, habits: Habits) -> Chain:
        seeds.append(seed)
        return made(problem, plan, seed=seed, habits=habits)

    monkeypatch.setattr(Chain, "from_plan", from_plan)
    params = HarvestParams(tier_share=0.0, meetings=2)
    harvest(day(job("a", 1)), seed=3, workers=1, stop=never, time_limit_s=9, iterations=8, params=params)
    assert seeds == [7, 8, 1003, 2003]


def test_without_heat_the_plan_never_gets_worse() -> None:
    """At temperature 0 the present plan is the best one after every step, and some steps are undone."""
    chain = chain_of(random_problem(np.random.default_rng(3), jobs=14))
    before = -np.inf
    for _ in range(200):
        chain.run(1, 0.0)
        assert chain.state.profits[CURRENT] >= before - 1e-9
        before = chain.state.profits[CURRENT]
    assert before == pytest.approx(chain.state.profits[BEST], abs=1e-9)
    assert 0 < chain.state.counts[ACCEPTED] < chain.state.counts[STEPS] == 200


def test_in_great_heat_every_step_is_kept() -> None:
    """A loss of an euro at a billion is kept with all but certainty: the plan gets worse now and then, the best not."""
    chain = chain_of(random_problem(np.random.default_rng(3), jobs=14))
    profits = []
    for _ in range(200):
        chain.run(1, 1e9)
        profits.append(float(chain.state.profits[CURRENT]))
    assert chain.state.counts[ACCEPTED] == chain.state.counts[STEPS] == 200
    assert min(np.diff(profits)) < -0.01
    assert chain.state.profits[BEST] == max(profits)


def test_a_step_begins_with_a_job_that_earns_little() -> None:
    """The poorest of ten jobs is taken in two steps of five, the richest hardly ever.

    A step takes the poorest of 1 to 9 draws. It misses one job with 0.9 to that power, on the mean
    (0.9 + 0.81 + ... + 0.387) / 9 = 0.61; the richest needs every draw, (0.1 + 0.01 + ...) / 9 = 0.012.
    """
    jobs = [job(f"j{k}", 1, weight=1 + k) for k in range(10)]
    chain = chain_of(day(*jobs, nodes=10))
    first = []
    for _ in range(500):
        chain.run(1, 0.0)
        first.append(int(chain.state.out[0]))
    assert 0.3 < first.count(0) / 500 < 0.5
    assert first.count(9) / 500 < 0.03


@pytest.mark.parametrize("exact", [True, False])
def test_a_job_is_put_where_its_energy_costs_least(exact: bool) -> None:
    """Of eight prices the seventh is the lowest: jobs that are put back by price find it, wherever they were.

    Without the cost of energy every start would be as good as the earliest.
    """
    prices = (0.3, 0.29, 0.28, 0.27, 0.26, 0.25, 0.05, 0.3)
    chain = chain_of(day(job("a", 1), prices=prices), priced=1.0, wanders=0.0, exact=exact)
    chain.run(30, 0.0)
    assert chain.best_plan().start_s.tolist() == [6 * HOUR]
    assert chain.best_profit_eur == pytest.approx(0.35)


def test_a_job_waits_for_cheap_hours_only_as_long_as_they_save_more_than_the_waiting_costs() -> None:
    """An hour saves 0.20 EUR and every later one 0.01, and an hour of waiting counts 0.05 EUR: it starts at 1:00."""
    prices = (0.3, *(0.1 - 0.01 * hour for hour in range(10)))
    problem = replace(day(job("a", 1), prices=prices), waits={"a": WaitPrice(0, 0.05, 24 * HOUR, 0.0)})
    late = Plan(np.array([20 * HOUR]), np.array([0]))
    habits = Habits(4, 4, 1.0, 0.0, True, problem.defer == "free")
    chain = Chain.from_plan(problem, late, seed=1, habits=habits)
    chain.run(30, 0.0)
    assert chain.best_plan().start_s.tolist() == [HOUR]


def test_the_best_paying_time_is_looked_at_although_others_cost_less() -> None:
    """A job of 12 h earns 0.40 EUR and draws 1 kWh an hour; noon is the best start: 4.80 - 12 * 0.29 = 1.32 EUR.

    Later starts cost less by the hours that fall behind midnight, and earn less by more; midnight brings 1.20 EUR.
    """
    problem = day(job("a", 12), prices=[0.3] * 12 + [0.29] * 12)
    chain = chain_of(problem, priced=1.0, wanders=0.0, exact=False)
    chain.run(10, 0.0)
    assert chain.best_plan().start_s.tolist() == [12 * HOUR]
    assert chain.best_profit_eur == pytest.approx(1.32)


@pytest.mark.parametrize(("weight", "placed"), [(1.0, True), (0.999, False)])
def test_only_a_job_that_loses_money_is_left_waiting(weight: float, placed: bool) -> None:
    """An hour of 4 cores earns 1 EUR at 0.25 EUR per core-hour; 1 kWh costs 1 EUR: nothing is gained, nor lost."""
    problem = day(job("a", 1, weight=weight), prices=(1.0,), rates=Rates(0.25), defer="free")
    chain = chain_of(problem, wanders=0.0)
    chain.run(1, 1e9)
    assert (chain.state.start_of[0] >= 0) == placed


def test_the_least_energy_is_cooled_too() -> None:
    """One milliwatt-second has the share of the table; nothing at all has none."""
    money = chain_of(replace(day(job("a", 1)), table=flat_table(0.5))).money
    share = kernel_of(cooling_share)
    assert [share(money, 0, energy) for energy in (0, 1)] == [0.0, 0.5]


def test_a_plan_of_the_chains_is_completed_before_it_is_judged() -> None:
    """A chain's plan that leaves out a job with room breaks `defer: full`; once the job is started it is accepted."""
    problem = day(job("a", 1), job("b", 1))
    nothing = Plan(np.full(2, DEFERRED), np.full(2, DEFERRED))
    chain: Any = SimpleNamespace(best_profit_eur=1.0, best_plan=lambda: nothing)
    so_far = having(Candidate(nothing, settle(problem, nothing), "none"))
    subject._Harvest(problem, so_far, budget(), HarvestParams(), 0, 1)._keep_best_of([chain])
    assert sorted(so_far.best.plan.start_s.tolist()) == [0, HOUR]
    assert so_far.best.name == "rebuilt from none"


def test_a_loss_that_is_left_out_makes_room_for_a_deadline() -> None:
    """The overdue job goes first and loses money; without it, the job that is due at 6:00 starts at midnight."""
    jobs = (job("poor", 5, weight=0), job("due", 2, due_s=6 * HOUR))
    problem = day(*jobs, defer="free", overdue=["poor"])
    plan = decode(problem, job_order(problem, "+duration"))
    assert plan.start_s.tolist() == [0, 5 * HOUR]
    found = evaluate_decoded(problem, plan, "+duration")
    assert found.plan.start_s.tolist() == [DEFERRED, 0]
    # 2 h of 4 cores earn 0.80 EUR and draw 2 kWh at 0.10 EUR
    assert found.worth_eur == pytest.approx(0.60)
    assert found.ledger.jobs.start_s.tolist() == [0]


def test_the_sizes_by_which_jobs_are_put_back_name_who_goes_first() -> None:
    """Of a wide short job and a narrow long one: the first by size and width is wide, by length narrow, and so on."""
    state = chain_of(day(job("wide", 2), job("long", 6, units=[(1, 1)]))).state
    # core-hours 8 and 6, hours 2 and 6, cores 4 and 1; by time the shorter, by profit for power the wide one
    assert np.argmin(state.keys, axis=1).tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(("iterations", "listed"), [(2000, 8), (2004, 10)])
def test_a_batch_of_tiered_orders_counts_as_500_steps(iterations: int, listed: int) -> None:
    """Of 2,000 steps a quarter is one batch of eight orders; four steps more make a second one, and ten are listed."""
    params = HarvestParams(rebuilds=False)
    problem = day(job("a", 1))
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=iterations, params=params)
    assert len(found.trials) == len(ORDERINGS) + listed
    assert not found.cut_short


def test_asking_a_budget_spends_nothing() -> None:
    """Only what is counted is spent, however often the budget is asked; a round never goes beyond its share."""
    asked = budget(iterations=1000)
    assert [asked.spent, asked.spent] == [0, 0]
    assert [asked.round_steps(0.5, 1.0, 2), asked.round_steps(0.5, 1.0, 2)] == [250, 250]
    asked.count(498)
    assert asked.spent == 0.498
    assert asked.round_steps(0.5, 1.0, 2) == 1
    asked.count(2)
    assert asked.round_steps(0.5, 1.0, 2) == 0


def test_a_slow_round_still_takes_a_step() -> None:
    """By the clock, 5 steps a second are one in a round; a step in a hundred seconds is one as well."""
    asked = Budget(time_limit_s=60, iterations=None)
    assert [asked.round_steps(0.5, pace, 2) for pace in (50.0, 5.0, 0.01)] == [10, 1, 1]


def test_a_job_with_a_deadline_waits_for_the_cheap_hours_before_it() -> None:
    """Three hours due by 20:00, 0.60 EUR for 1.36 kWh: 0.532 from 12 to 16 h at 0.05 EUR, 0.056 at midnight at 0.40."""
    due = job("due", 3, power_w=1360 / 3, due_s=20 * HOUR)
    problem = day(due, prices=[0.4] * 12 + [0.05] * 4 + [0.4], rates=Rates(0.05))
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=2000)
    assert 12 * HOUR <= found.plan.start_s[0] <= 13 * HOUR
    assert found.ledger.profit_eur == pytest.approx(0.532)


def test_a_deadline_is_met_though_it_is_cheap_only_after_it() -> None:
    """Both jobs pay best after 18:00; the one that is due by then runs before, also where it loses money by that."""
    jobs = (job("due", 3, due_s=18 * HOUR), job("free", 3))
    problem = day(*jobs, nodes=2, prices=[0.4] * 10 + [0.3] * 8 + [0.05], rates=Rates(0.01), defer="free")
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=4000)
    assert 10 * HOUR <= found.plan.start_s[0] <= 15 * HOUR
    assert found.plan.start_s[1] == -1
