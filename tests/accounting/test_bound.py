"""The bound holds: no plan, however found, settles to more; and it is reached where the best plan is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.accounting.bound.curve import bought_points, hull, lower_hull
from planner.accounting.bound.shares import node_shares
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Rates, Running
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment
from planner.search.decode import decode
from planner.search.orderings import ORDERINGS, job_order
from tests.factories import DAY, flat_table, random_problem, random_segments

HOURS = DAY.length_s // 3600


def kinked_table(rng: np.random.Generator) -> PueTable:
    """A table without any order in its cells, of few rows, so that most powers lie beyond it."""
    rows = int(rng.integers(1, 8))
    step = int(rng.choice([100, 250, 500]))
    first = int(rng.choice([0, 100, 700]))
    return PueTable("kinked", first, step, -10, 5, rng.uniform(0.0, 1.0, (rows, 12)), clamp=True)


def odd_problem(seed: int) -> Problem:
    """A random small day with some of everything: kinks, clamps, negative prices, idle power, sun, demand, weights."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=int(rng.integers(1, 9)), extras=bool(rng.random() < 0.6))
    if rng.random() < 0.6:
        problem = replace(problem, table=kinked_table(rng))
    if rng.random() < 0.6:
        low = float(rng.choice([-0.5, -0.1, 0.0]))
        segments = [
            replace(segment, price_eur_per_kwh=float(rng.uniform(low, 0.5)))
            for segment in random_segments(rng, extras=bool(rng.random() < 0.5))
        ]
        problem = replace(problem, segments=tuple(segments))
    rates = Rates(
        float(rng.choice([0.0, 0.005, 0.02])),
        demand_eur_per_kw=float(rng.choice([0.0, 0.3, 2.0])),
        demand_interval_s=int(rng.choice([900, 3600, 5000])),
        carbon_eur_per_tonne=float(rng.choice([0.0, 60.0])),
    )
    jobs = tuple(replace(job, revenue_weight=float(rng.choice([0.0, 1.0, 1.5]))) for job in problem.jobs)
    return replace(problem, rates=rates, jobs=jobs, defer="free")


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


@pytest.mark.parametrize("seed", range(250))
def test_no_plan_earns_more(seed: int) -> None:
    """On days with some of everything, every plan that can be found settles to at most the bound."""
    problem = odd_problem(seed)
    bound = profit_bound(problem, slot_s=int(np.random.default_rng(seed).choice([1800, 3600, 14400, 86400])))
    for plan in found_plans(problem, seed):
        assert settle(problem, plan).profit_eur <= bound.profit_eur


@pytest.mark.parametrize("extras", [False, True])
@pytest.mark.parametrize("seed", range(25))
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


@pytest.mark.parametrize("seed", range(20))
def test_no_start_and_node_of_a_grid_earns_more(seed: int) -> None:
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
    assert enumerated(problem, [0, 20000, 43200, 70000]) <= profit_bound(problem).profit_eur


def one_segment(price: float = 0.1, **more: float) -> tuple[Segment, ...]:
    return (Segment(0, DAY.length_s, 10, price, **more),)


def job(name: str, cores: float, hours: float, power_w: float, units: int = 1) -> Job:
    return Job(name, DAY.start_unix - 10, int(hours * 3600), (UnitGroup.of(units, {"cores": cores}),), power_w)


def machine(nodes: int, idle_w: float = 0.0) -> Cluster:
    return Cluster((NodeClass("cpu", nodes, {"cores": 4}, idle_w=idle_w),))


def test_one_job_is_exact() -> None:
    """4 cores for 5 h at 0.1, less 1 kW for 5 h at 0.1 with half as much cooling: 2.00 - 0.75; nothing at 0.02."""
    day = Problem(DAY, machine(2), (job("a", 4, 5, 1000),), one_segment(), flat_table(0.5), Rates(0.1), defer="free")
    assert profit_bound(day).profit_eur == pytest.approx(20 * 0.1 - 5 * 1.5 * 0.1)
    poor = replace(day, rates=Rates(0.02))
    assert profit_bound(poor).profit_eur == pytest.approx(0.0, abs=1e-6)


def test_a_full_machine_is_exact() -> None:
    """Five jobs of a whole node and 24 h on two nodes: two of them run, 2 * 4 * 24 * 0.02 = 3.84."""
    jobs = tuple(job(f"j{k}", 4, 24, 0.0) for k in range(5))
    day = Problem(DAY, machine(2), jobs, one_segment(), flat_table(), Rates(0.02))
    assert profit_bound(day).profit_eur == pytest.approx(3.84)


def test_wide_units_share_no_node() -> None:
    """Four jobs of 3 of 4 cores for a day on two nodes: a fluid would run 2 2/3 of them, nodes take two."""
    jobs = tuple(job(f"j{k}", 3, 24, 0.0) for k in range(4))
    day = Problem(DAY, machine(2), jobs, one_segment(), flat_table(), Rates(0.02))
    assert profit_bound(day).profit_eur == pytest.approx(2 * 3 * 24 * 0.02)


def test_a_job_does_not_pick_the_cheap_hours_alone() -> None:
    """Free power every other hour, and a job of 24 h: a fluid would earn 12 h, the job pays for the others."""
    segments = tuple(Segment(h * 3600, (h + 1) * 3600, 10, 0.0 if h % 2 else 0.3) for h in range(HOURS))
    day = Problem(DAY, machine(1), (job("a", 4, 24, 1000),), segments, flat_table(), Rates(0.04), defer="free")
    # From 1:00, a free hour, to midnight: 23 * 0.16 - 11 * 0.3 = 0.38. From 0:00 0.24, from 23:00 0.16.
    assert profit_bound(day).profit_eur == pytest.approx(0.38)


def test_negative_prices_pay_for_cooling() -> None:
    """At -0.1 a job of 1 kW for 10 h with half as much cooling is paid for 15 kWh: 1.50."""
    day = Problem(DAY, machine(1), (job("a", 4, 10, 1000),), one_segment(-0.1), flat_table(0.5), Rates(0.0))
    assert profit_bound(day).profit_eur == pytest.approx(1.5)


def test_sunlight_is_free_and_not_sold() -> None:
    """1 kW for 24 h with 600 W of sun buys 400 W: 9.6 kWh; a running job alone leaves nothing to decide."""
    running = Running(job("r", 4, 48, 1000), 0, 2 * DAY.length_s, (0,))
    day = Problem(DAY, machine(1), (), one_segment(0.1, solar_w=600.0), flat_table(), Rates(0.02), (running,))
    plan = Plan(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert profit_bound(day).profit_eur == pytest.approx(settle(day, plan).profit_eur) == pytest.approx(1.92 - 0.96)


def test_idle_nodes_and_the_peak_are_counted() -> None:
    """Two nodes of 500 W idle, one job of 500 W on one of them all day: 1 kW bought whatever is decided."""
    rates = Rates(0.1, demand_eur_per_kw=2.0)
    day = Problem(DAY, machine(2, 500.0), (job("a", 4, 24, 500),), one_segment(), flat_table(), rates)
    assert profit_bound(day).profit_eur == pytest.approx(4 * 24 * 0.1 - 24 * 0.1 - 2.0)


def test_more_nodes_and_looser_limits_never_lower_it() -> None:
    """A second machine beside the first, no power limit, or free deferral leave the bound as high as it was."""
    for seed in range(8):
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


def test_finer_slots_never_raise_it() -> None:
    """Half-hour slots hold every price of hour slots, so that their bound is at most as high."""
    for seed in range(5):
        problem = random_problem(np.random.default_rng(seed), jobs=12, extras=True)
        coarse, fine = profit_bound(problem), profit_bound(problem, slot_s=1800)
        assert fine.profit_eur <= coarse.profit_eur + (fine.slack_eur or 0.0) + 1e-6


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
    large = random_problem(np.random.default_rng(1), jobs=3000)
    hurried, whole = profit_bound(large, time_limit_s=0.3), profit_bound(large, tolerance=1e-3)
    assert hurried.profit_eur >= whole.profit_eur * (1 - 1e-3) - 1e-6


def test_prices_of_a_sample_hold_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beginning with a sample of the jobs changes the way to the bound, and its value within the tolerance alone."""
    for seed in range(5):
        problem = random_problem(np.random.default_rng(seed), jobs=60, extras=True)
        direct = profit_bound(problem)
        with monkeypatch.context() as few:
            few.setattr("planner.accounting.bound.bound._MANY_JOBS", 20)
            few.setattr("planner.accounting.bound.bound._SAMPLE", 10)
            few.setattr("planner.accounting.bound.bound._MANY_STARTS", 100)
            sampled = profit_bound(problem)
        assert sampled.profit_eur == pytest.approx(direct.profit_eur, rel=5e-4)
        assert max(settle(problem, plan).profit_eur for plan in found_plans(problem, seed)) <= sampled.profit_eur


def test_it_never_needs_the_best_prices() -> None:
    """Any prices of the rows give a bound: random ones are above what plans earn as well."""
    from planner.accounting.bound.bound import _PriceSearch

    for seed in range(60):
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


def test_an_empty_day() -> None:
    """With no jobs and nothing running there is nothing to earn."""
    day = Problem(DAY, machine(1), (), one_segment(), flat_table(), Rates(0.02))
    assert profit_bound(day).profit_eur == pytest.approx(0.0, abs=1e-6)
    assert profit_bound(day).gap_fraction(0.0) in (None, pytest.approx(1.0), 0.0)


def test_gap() -> None:
    """The gap is a part of the bound, never below zero, and none when the bound is not positive."""
    bound = profit_bound(Problem(DAY, machine(1), (), one_segment(), flat_table(), Rates(0.02)))
    assert replace(bound, profit_eur=200.0).gap_fraction(150.0) == pytest.approx(0.25)
    assert replace(bound, profit_eur=200.0).gap_fraction(200.1) == 0.0
    assert replace(bound, profit_eur=-5.0).gap_fraction(-6.0) is None


def test_measures_hold_on_every_packed_node() -> None:
    """Units that fit a node together never take more than 1 of it in any measure."""
    rng = np.random.default_rng(5)
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    jobs = tuple(job(f"j{size}", size, 1, 1.0) for size in sizes)
    day = Problem(DAY, Cluster((NodeClass("n", 1, {"cores": 12}),)), jobs, one_segment(), flat_table(), Rates(0.02))
    shares = node_shares(day).of_group
    assert len(shares) == 2
    for _ in range(2000):
        left, packed = 12, []
        while left > 0 and rng.random() < 0.9:
            packed.append(int(rng.integers(1, left + 1)))
            left -= packed[-1]
        assert np.all(shares[:, [size - 1 for size in packed]].sum(axis=1) <= 1 + 1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_curve_holds_what_settle_buys(seed: int) -> None:
    """What settle buys for any IT energy lies within the hull, and what it costs not below the lower hull of cost."""
    rng = np.random.default_rng(seed)
    table, price = kinked_table(rng), float(rng.uniform(-0.3, 0.3))
    segment = one_segment(price, solar_w=float(rng.choice([0.0, 400.0])))[0]
    it, bought = bought_points(table, segment, 0.0, 60.0)
    x, y = lower_hull(it, price * bought)
    corners_x, corners_y = hull(it, bought)
    low_x, low_y = lower_hull(corners_x, corners_y)
    high_x, high_y = lower_hull(corners_x, -corners_y)
    for power_w in [*rng.uniform(0, 2500, 50), *(table.powers_w[:3] + table.power_step_w / 2)]:
        day = Problem(DAY, machine(1), (job("a", 4, 24, float(power_w)),), (segment,), table, Rates(0.0), defer="free")
        lines = settle(day, Plan(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))).segments
        energy, paid = float(lines.it_kwh[0]), float(lines.bought_kwh[0])
        assert np.interp(energy, x, y) <= price * paid + 1e-9
        assert np.interp(energy, low_x, low_y) - 1e-9 <= paid <= -np.interp(energy, high_x, high_y) + 1e-9


def test_a_bound_that_is_no_longer_wanted_ends_at_once_and_holds() -> None:
    """Without a single program solved, opening prices still bound every plan; they are no better than the best."""
    problem = random_problem(np.random.default_rng(3), jobs=12)
    given_up = profit_bound(problem, is_wanted=lambda: False)
    assert given_up.rounds == 0
    assert given_up.profit_eur >= profit_bound(problem).profit_eur
