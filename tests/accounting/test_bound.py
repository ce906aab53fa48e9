"""The bound holds: no plan, however found, settles to more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.waits import WaitPrice
from planner.search.decode import decode
from planner.search.orderings import ORDERINGS, job_order
from tests import plain_day
from tests.accounting.bound_days import kinked_table, odd_problem, one_segment
from tests.factories import DAY, flat_table, random_problem, random_segments, with_linear_cooling


def found_plans(problem: Problem, seed: int) -> Iterator[Plan]:
    """All orderings; random orders, of some of the jobs, with random later releases."""
    rng = np.random.default_rng(seed)
    for name in ORDERINGS:
        yield decode(problem, job_order(problem, name))
    for _ in range(30):
        order = rng.permutation(len(problem.jobs))[: int(rng.integers(0, len(problem.jobs) + 1))]
        late = rng.random(len(problem.jobs)) < rng.random()
        release = problem.columns.release_s
        later = release + (rng.random(len(release)) * (DAY.length_s - release)).astype(np.int64)
        yield decode(problem, order.astype(np.int64), np.where(late, later, release))


def allowed(problem: Problem, plan: Plan) -> bool:
    """Whether a plan keeps the rules other than that of deadlines, which the bound does not use."""
    return not [violation for violation in audit(problem, plan) if violation.rule != "deadline"]


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("seed", range(60))
def test_no_plan_earns_more(seed: int) -> None:
    """On days with some of everything, every plan that can be found settles to at most the bound."""
    problem = odd_problem(seed)
    bound = profit_bound(problem, slot_s=int(np.random.default_rng(seed).choice([1800, 3600, 14400, 86400])))
    for plan in found_plans(problem, seed):
        assert settle(problem, plan).profit_eur <= bound.profit_eur


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("extras", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_no_plan_of_a_plain_day_earns_more(seed: int, extras: bool) -> None:
    """On the random days of the other tests, full deferral included, every plan settles to at most the bound."""
    problem = random_problem(np.random.default_rng(seed), jobs=12, extras=extras)
    bound = profit_bound(problem)
    best = max(settle(problem, plan).profit_eur for plan in found_plans(problem, seed))
    assert best <= bound.profit_eur


def enumerated(problem: Problem, starts: list[int]) -> float:
    """The best profit over all starts of a grid and all nodes of single-unit jobs, deferral included."""
    nodes = range(problem.cluster.node_count)
    ways = [(DEFERRED, DEFERRED), *product(starts, nodes)]
    best = -np.inf
    for choice in product(ways, repeat=len(problem.jobs)):
        plan = Plan(np.array([s for s, _ in choice], dtype=np.int64), np.array([n for _, n in choice], dtype=np.int64))
        if allowed(problem, plan):
            best = max(best, settle(problem, plan).profit_eur)
    return float(best)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_start_and_node_of_a_grid_earns_more(seed: int, linear: bool) -> None:
    """On tiny days, the best of all starts of a grid and all nodes settles to at most the bound."""
    rng = np.random.default_rng(seed)
    cluster = Cluster(
        (
            NodeClass("a", 1, {"cores": 4, "memory_gb": 8}, idle_w=50.0),
            NodeClass("b", 1, {"cores": 8, "memory_gb": 4}, idle_w=float(rng.choice([0.0, 200.0]))),
        ),
        power_limit_w=float(rng.choice([350.0, 2000.0])),
    )
    jobs = tuple(
        Job(
            f"j{k}",
            DAY.start_unix - 1,
            int(rng.integers(1, 60000)),
            (UnitGroup.of(1, {"cores": float(rng.integers(1, 5)), "memory_gb": float(rng.integers(1, 5))}),),
            float(rng.integers(20, 300)),
        )
        for k in range(3)
    )
    running = Running(Job("r", 0, 10**6, (UnitGroup.of(1, {"cores": 2}),), 40.0), -5, int(rng.integers(1, 50000)), (0,))
    segments = random_segments(rng, extras=bool(seed % 2))
    rates = Rates(0.02, demand_eur_per_kw=float(rng.choice([0.0, 1.0])), demand_interval_s=3600)
    problem = Problem(DAY, cluster, jobs, segments, kinked_table(rng), rates, (running,), "free")
    if linear:
        problem = with_linear_cooling(problem, rng)
    assert enumerated(problem, [0, 20000, 43200, 70000]) <= profit_bound(problem).profit_eur


def test_more_nodes_and_looser_limits_never_lower_it(is_whole: bool) -> None:
    """A second machine beside the first, no power limit, or free deferral leave the bound as high as it was."""
    for seed in range(8 if is_whole else 3):
        problem = random_problem(np.random.default_rng(seed), jobs=12)
        here = profit_bound(problem)
        slack = (here.slack_eur or 0.0) + 1e-6
        for looser in (
            replace(problem, cluster=replace(problem.cluster, power_limit_w=None)),
            replace(
                problem,
                cluster=replace(
                    problem.cluster,
                    classes=(*problem.cluster.classes, NodeClass("new", 2, {"cores": 4, "memory_gb": 8})),
                ),
            ),
            replace(problem, defer="free"),
        ):
            assert profit_bound(looser).profit_eur >= here.profit_eur - slack


@pytest.mark.slow
def test_finer_slots_never_raise_it(is_whole: bool) -> None:
    """Half-hour slots hold every price of hour slots, so that their bound is at most as high."""
    for seed in range(5 if is_whole else 2):
        problem = random_problem(np.random.default_rng(seed), jobs=12, extras=True)
        coarse, fine = profit_bound(problem), profit_bound(problem, slot_s=1800)
        assert fine.profit_eur <= coarse.profit_eur + (fine.slack_eur or 0.0) + 1e-6


def crowded(problem: Problem, times: int = 20) -> Problem:
    """The same day with every job so many times."""
    jobs = tuple(replace(job, id=f"{job.id}-{k}") for job in problem.jobs for k in range(times))
    return replace(problem, jobs=jobs)


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("seed", range(40))
def test_without_time_it_holds_on_crowded_days(seed: int) -> None:
    """Where far more jobs wait than have room the bound without a search is the full machine's, and holds.

    Days with negative prices, idle power, sun, demand charges, weights and tables with kinks.
    """
    problem = crowded(odd_problem(seed))
    rough = profit_bound(problem, time_limit_s=0.0)
    for name in ORDERINGS:
        assert settle(problem, decode(problem, job_order(problem, name))).profit_eur <= rough.profit_eur, name


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("seed", range(12))
def test_without_time_no_start_and_node_of_a_grid_earns_more(seed: int) -> None:
    """Three jobs of most of a day on two nodes: the best of all starts of a grid, by enumeration."""
    rng = np.random.default_rng(seed)
    classes = (NodeClass("a", 1, {"cores": 4}, idle_w=60.0), NodeClass("b", 1, {"cores": 8}))
    jobs = tuple(
        Job(
            f"j{k}",
            DAY.start_unix - 1,
            int(rng.integers(40_000, 86_000)),
            (UnitGroup.of(1, {"cores": float(rng.integers(3, 9))}),),
            float(rng.integers(20, 300)),
            revenue_weight=float(rng.choice([0.5, 1.0, 3.0])),
        )
        for k in range(3)
    )
    low = float(rng.choice([-0.4, 0.0]))
    segments = tuple(
        replace(segment, price_eur_per_kwh=float(rng.uniform(low, 0.5)))
        for segment in random_segments(rng, extras=bool(seed % 2))
    )
    rates = Rates(0.02, demand_eur_per_kw=float(rng.choice([0.0, 1.0])), demand_interval_s=3600)
    problem = Problem(DAY, Cluster(classes), jobs, segments, kinked_table(rng), rates, (), "free")
    assert enumerated(problem, [0, 20000, 43200, 70000]) <= profit_bound(problem, time_limit_s=0.0).profit_eur


def test_without_time_it_is_no_more_than_a_full_machine_earns() -> None:
    """A thousand jobs of 6 h on 2 nodes of 4 cores, of weight 1 but for ten of weight 2: 192 core-hours at 0.02 EUR.

    The ten take 240 core-hours, so the full machine earns 192 * 0.02 * 2 less 192 / 4 * 0.1 kWh at 0.1 EUR (flat, PUE
    1.5). With weights of 1 alone it is half the revenue less the same energy.
    """
    energy = 192 / 4 * 0.1 * 0.1 * 1.5
    for heavy, revenue in ((10, 192 * 0.02 * 2), (0, 192 * 0.02), (2, 48 * 0.02 * 2 + 144 * 0.02)):
        jobs = tuple(
            Job(
                f"j{k}",
                DAY.start_unix - 10,
                6 * 3600,
                (UnitGroup.of(1, {"cores": 4.0}),),
                100.0,
                revenue_weight=2.0 if k < heavy else 1.0,
            )
            for k in range(1000)
        )
        cluster = Cluster((NodeClass("cpu", 2, {"cores": 4}),))
        problem = Problem(DAY, cluster, jobs, one_segment(0.1), flat_table(0.5), Rates(0.02), (), "free")
        rough = profit_bound(problem, time_limit_s=0.0)
        assert rough.rounds == 0
        assert rough.profit_eur == pytest.approx(revenue - energy, rel=1e-6)


def test_without_time_it_counts_the_waiting_of_a_queue() -> None:
    """Twenty jobs of an hour on one node earn 8 EUR and wait 0, 1, ... 19 h at 1 EUR, more with age: 241.46 EUR.

    One hour of the node after the other, at what it saves those who wait behind, leaves less than a tenth of that out.
    """
    jobs = [plain_day.job(f"j{k}", 1, power_w=0.0) for k in range(20)]
    waits = {each.id: WaitPrice(0, 1.0, DAY.length_s, 0.0) for each in jobs}
    problem = replace(plain_day.day(*jobs), waits=waits)
    best = 8.0 - sum(hours * (1 + hours / 48) for hours in range(20))
    assert best <= profit_bound(problem, time_limit_s=0.0).profit_eur < best + 24.0


def test_without_time_it_still_holds() -> None:
    """With no time for any linear program the bound is rough, and says so, but stands."""
    for seed in range(20):
        problem = odd_problem(seed)
        rough = profit_bound(problem, time_limit_s=0.0)
        assert rough.rounds == 0
        assert rough.slack_eur is None
        best = max(settle(problem, plan).profit_eur for plan in found_plans(problem, seed))
        assert best <= rough.profit_eur
        assert profit_bound(problem).profit_eur <= rough.profit_eur + 1e-9


def test_a_solver_that_does_not_finish_leaves_the_bound_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """When HiGHS gives up, or is stopped by the time limit in the middle, the bound of earlier prices stands."""
    monkeypatch.setattr("planner.accounting.bound.bound.solve_master", lambda *_, **__: None)
    problem = odd_problem(3)
    bound = profit_bound(problem)
    assert bound.rounds == 0
    assert max(settle(problem, plan).profit_eur for plan in found_plans(problem, 3)) <= bound.profit_eur
    monkeypatch.undo()
    large = random_problem(np.random.default_rng(1), jobs=1000)
    hurried, whole = profit_bound(large, time_limit_s=0.3), profit_bound(large, tolerance=1e-3)
    assert hurried.profit_eur >= whole.profit_eur * (1 - 1e-3) - 1e-6


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("has_program", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_prices_by_descent(seed: int, has_program: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices by descent give nearly the bound of the linear program on plain days, and on all with it after them."""
    problem = random_problem(np.random.default_rng(seed), jobs=60, extras=has_program)
    direct = profit_bound(problem)
    monkeypatch.setattr("planner.accounting.bound.bound._FEW_CELLS", 0)
    monkeypatch.setattr("planner.accounting.bound.bound._MANY_CELLS", 10**9 if has_program else 0)
    monkeypatch.setattr("planner.accounting.bound.bound._MANY_STARTS", 100)
    descended = profit_bound(problem)
    assert descended.profit_eur == pytest.approx(direct.profit_eur, rel=5e-4 if has_program else 1e-2)
    assert (descended.slack_eur is None) == (not has_program)
    assert max(settle(problem, plan).profit_eur for plan in found_plans(problem, seed)) <= descended.profit_eur


def test_best_values_are_those_of_all_starts() -> None:
    """What the compiled loop finds for each job is the greatest over the starts that the program is given."""
    from planner.accounting.bound.bound import _PriceSearch

    for seed in range(20):
        problem = odd_problem(seed)
        search = _PriceSearch(problem, 7200, 0.0, 1e-4, lambda: True)
        shape = search.site.job_prices(search.best_price).shape
        price = np.random.default_rng(seed).normal(0.0, 0.3, shape)
        expected = search.offers.away_eur.copy()
        for part, value in search.offers.chunks(price):
            np.maximum.at(expected, search.offers.job[part], value.max(axis=1))
        assert search.offers.best(price) == pytest.approx(expected, abs=1e-9)


def test_prices_are_looked_at_together_as_one_by_one() -> None:
    """To the last bit: what jobs earn with each of several prices, and what the site's matrix makes of them."""
    from planner.accounting.bound.bound import _PriceSearch

    for seed in range(10):
        search = _PriceSearch(odd_problem(seed), 7200, 0.0, 1e-4, lambda: True)
        site, rng = search.site, np.random.default_rng(seed)
        prices = [site.settled(rng.normal(0.0, 0.3, len(site.rhs))) for _ in range(3)]
        together = search.offers.best_of_each([site.job_prices(price) for price in prices])
        for price, best in zip(prices, together, strict=True):
            assert search.offers.best(site.job_prices(price)).tolist() == best.tolist()
            left = site.cost - site.matrix.T @ price
            terms = np.concatenate([price * site.rhs, np.where(left > 0, site.high * left, site.low * left)])
            assert site.value(price) == (float(terms.sum()), float(np.abs(terms).sum()))


def test_it_never_needs_the_best_prices() -> None:
    """Any prices of the rows give a bound: random ones are above what plans earn as well."""
    from planner.accounting.bound.bound import _PriceSearch

    for seed in range(30):
        problem = odd_problem(seed)
        rng = np.random.default_rng(seed)
        best = max(settle(problem, plan).profit_eur for plan in found_plans(problem, seed))
        search = _PriceSearch(problem, 7200, 0.0, 1e-4, lambda: True)
        for scale in (0.001, 0.1, 1.0):
            search.best_eur = np.inf
            search.consider(rng.normal(0.0, scale, len(search.site.rhs)))
            assert best <= search.best_eur


def test_many_choices_of_classes_still_hold() -> None:
    """A job with more ways over the classes than are written down is taken to need no room, and stays below."""
    classes = tuple(NodeClass(f"c{k}", 2, {"cores": 4 + k}) for k in range(4))
    groups = tuple(UnitGroup.of(1, {"cores": float(1 + k % 4)}) for k in range(4))
    jobs = tuple(Job(f"j{k}", DAY.start_unix - 10, 40000, groups, 100.0) for k in range(5))
    day = Problem(DAY, Cluster(classes), jobs, one_segment(), flat_table(0.2), Rates(0.02), defer="free")
    bound = profit_bound(day)
    assert all(settle(day, plan).profit_eur <= bound.profit_eur for plan in found_plans(day, 1))


def test_a_bound_that_is_no_longer_wanted_ends_at_once_and_holds() -> None:
    """Without a single program solved, opening prices still bound every plan; they are no better than the best."""
    problem = random_problem(np.random.default_rng(3), jobs=12)
    given_up = profit_bound(problem, is_wanted=lambda: False)
    assert given_up.rounds == 0
    assert given_up.profit_eur >= profit_bound(problem).profit_eur


def test_a_job_of_a_later_day_earns_nothing_today() -> None:
    """A job that may not begin today does not count: without idle power and other jobs the day is worth nothing."""
    problem = random_problem(np.random.default_rng(3), jobs=1)
    (job,) = problem.jobs
    later = replace(problem, running=(), jobs=(replace(job, begin_unix=DAY.end_unix),))
    assert abs(profit_bound(later).profit_eur) < 1e-6
    assert profit_bound(replace(later, jobs=(job,))).profit_eur > 1e-3
