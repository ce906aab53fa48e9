"""The ledger against a second-by-second sum, and the properties that it must have."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Callable

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from planner.errors import TableError
from planner.search.decode import decode
from planner.search.orderings import job_order
from tests.factories import DAY, flat_table, random_problem, small_table, with_linear_cooling
from tests.plain_day import HOUR, day, job


def nearest_cell(mean_w: float, temperature_c: float) -> float:
    """The cell of the nearest row and column of the small table."""
    row = min(math.floor(round(mean_w, 9) / 500 + 0.5), 39)
    return float(small_table().cooling[row, int(temperature_c + 10) // 5])


def between_cells(mean_w: float, temperature_c: float) -> float:
    """On the straight lines between cells of the small table, at the nearest tenth of its step of power."""
    power_w = min(math.floor(round(mean_w, 9) / 50 + 0.5) * 50, 39 * 500)
    by_row = [np.interp(temperature_c, np.arange(-10, 50, 5), cells) for cells in small_table().cooling]
    return float(np.interp(power_w, np.arange(40) * 500, by_row))


def brute_force(
    problem: Problem, plan: Plan, cooling: Callable[[float, float], float] = nearest_cell
) -> dict[str, float]:
    """The day's totals by walking through every second, with nothing but arrays of seconds."""
    length = problem.horizon.length_s
    watts, cores = np.zeros(length), np.zeros(length)
    busy = np.zeros((problem.cluster.node_count, length), dtype=bool)
    work = [(r.job, 0, r.end_s, r.nodes) for r in problem.running]
    jobs = {job.id: job for job in problem.jobs}
    for placed in plan.placements(problem):
        job = jobs[placed.job_id]
        work.append((job, placed.start_s, placed.start_s + job.requested_s, placed.nodes))
    for job, start, end, nodes in work:
        watts[start:end] += job.power_w
        units = [group for group in job.units for _ in range(group.count)]
        for group, node in zip(units, nodes, strict=True):
            billed = [
                max(amount / node_class.capacity[name] for name, amount in group.amounts) * node_class.capacity["cores"]
                for node_class in problem.cluster.classes
                if all(amount <= node_class.capacity.get(name, 0.0) for name, amount in group.amounts)
            ]
            cores[start:end] += min(billed) * job.revenue_weight
            busy[node, start:end] = True
    idle_w = np.array([problem.cluster.classes[problem.cluster.class_index(n)].idle_w for n in range(len(busy))])
    idle = (~busy * idle_w[:, None]).sum(axis=0)
    totals = dict.fromkeys(["revenue", "it", "cooling", "bought", "cost", "carbon"], 0.0)
    bought_w = np.zeros(length)
    for s in problem.segments:
        part = slice(s.start_s, s.end_s)
        it = float((watts + idle)[part].sum())
        mean = it / s.length_s
        overhead = cooling(mean, s.temperature_c) if it else 0.0
        bought = max(0.0, it * (1 + overhead) - s.solar_w * s.length_s) / 3.6e6
        bought_w[part] = np.maximum(0, (watts + idle)[part] * (1 + overhead) - s.solar_w)
        totals["revenue"] += cores[part].sum() / 3600 * problem.rates.eur_per_core_hour
        totals["it"] += it / 3.6e6
        totals["cooling"] += it * overhead / 3.6e6
        totals["bought"] += bought
        totals["cost"] += bought * s.price_eur_per_kwh
        totals["carbon"] += bought * s.carbon_g_per_kwh / 1e6 * problem.rates.carbon_eur_per_tonne
    return totals


@pytest.mark.parametrize("cooling", [nearest_cell, between_cells])
@pytest.mark.parametrize("extras", [False, True])
def test_totals_equal_a_second_by_second_sum(extras: bool, cooling: Callable[[float, float], float]) -> None:
    """Revenue, energies and costs of random days equal sums over 86,400 seconds, also with cooling between cells."""
    for seed in range(25):
        problem = random_problem(np.random.default_rng(seed), extras=extras)
        if cooling is between_cells:
            problem = with_linear_cooling(problem, np.random.default_rng([seed, 1]))
        plan = decode(problem, job_order(problem, "+area"))
        totals, expected = settle(problem, plan).totals, brute_force(problem, plan, cooling)
        assert totals.revenue_eur == pytest.approx(expected["revenue"], rel=1e-9)
        assert totals.it_kwh == pytest.approx(expected["it"], rel=1e-9)
        assert totals.cooling_kwh == pytest.approx(expected["cooling"], rel=1e-9)
        assert totals.bought_kwh == pytest.approx(expected["bought"], rel=1e-9, abs=1e-9)
        assert totals.it_cost_eur + totals.cooling_cost_eur == pytest.approx(expected["cost"], rel=1e-9, abs=1e-9)
        assert totals.carbon_cost_eur == pytest.approx(expected["carbon"], rel=1e-9, abs=1e-9)


def test_job_lines_add_up_to_the_day() -> None:
    """What jobs carry, plus what falls where none runs, is the day's profit, with every extra cost on."""
    for seed in range(25):
        problem = random_problem(np.random.default_rng(seed), extras=True)
        ledger = settle(problem, decode(problem, job_order(problem, "-total")))
        carried = math.fsum(ledger.jobs.profit_eur) - ledger.site_cost_eur
        assert carried == pytest.approx(ledger.profit_eur, abs=1e-9)
        assert math.fsum(ledger.jobs.work_kwh) == pytest.approx(ledger.totals.work_kwh, rel=1e-12)


def one_node_day(segments: tuple[Segment, ...], jobs: tuple[Job, ...], **choices: object) -> Problem:
    cluster = Cluster((NodeClass("n", 2, {"cores": 32, "memory_gb": 128}),))
    return Problem(DAY, cluster, jobs, segments, choices.pop("table", small_table()), Rates(0.02), **choices)


def job_of(name: str, hours: float, cores: int = 32, power_w: float = 1000.0, **more: object) -> Job:
    return Job(name, DAY.start_unix, int(hours * 3600), (UnitGroup.of(1, {"cores": cores, **more}),), power_w)


def test_a_day_worked_out_by_hand() -> None:
    """One job of 32 cores and 1 kW for 6 h in a 24 h segment at 20 C and 0.10 EUR/kWh."""
    problem = one_node_day((Segment(0, 86400, 20, 0.10),), (job_of("a", 6),))
    totals = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (0,))})).totals
    # Mean power 6 kWh / 24 h = 250 W, half of a step: it rounds up to the row of 500 W.
    # Cooling there: 0.05 + 0.01 * 20 + 100 / 1500 = 0.316667.
    assert totals.revenue_eur == pytest.approx(32 * 6 * 0.02)
    assert totals.it_kwh == pytest.approx(6.0)
    assert totals.cooling_kwh == pytest.approx(6 * (0.25 + 1 / 15))
    assert totals.profit_eur == pytest.approx(32 * 6 * 0.02 - 6 * (1.25 + 1 / 15) * 0.10)
    assert totals.pue == pytest.approx(1.25 + 1 / 15)


def test_a_day_with_linear_cooling_worked_out_by_hand() -> None:
    """The same job for 24 h at 22 C, with cooling on the straight lines between cells."""
    problem = one_node_day((Segment(0, 86400, 22.0, 0.10),), (job_of("a", 24, power_w=612.0),))
    problem = dataclasses.replace(problem, table=small_table().linear())
    totals = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (0,))})).totals
    # 612 W is nearest to 600 W, a fifth of the way from 500 to 1000 W: 0.8 * 100 / 1500 + 0.2 * 100 / 2000 = 0.0633333.
    # 22 C is two fifths of the way from 20 to 25 C: 0.05 + 0.6 * 0.20 + 0.4 * 0.25 = 0.27.
    assert totals.pue == pytest.approx(1 + 0.27 + 0.8 / 15 + 0.2 / 20)
    assert totals.cooling_cost_eur == pytest.approx(24 * 0.612 * (0.27 + 0.8 / 15 + 0.01) * 0.10)


def test_core_equivalents_follow_the_largest_share() -> None:
    """4 of 32 cores with half the memory counts as 16 cores."""
    problem = one_node_day((Segment(0, 86400, 20, 0.1),), (job_of("a", 1, cores=4, memory_gb=64),))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (1,))}))
    assert ledger.jobs.core_equivalents.tolist() == [16.0]


def test_splitting_a_segment_changes_no_money_under_steady_power() -> None:
    """Cut in two with the same temperature and price, a segment of steady power gives the same ledger."""
    jobs = (job_of("a", 24), job_of("b", 24, power_w=730))
    whole = one_node_day((Segment(0, 86400, 20, 0.1),), jobs)
    split = dataclasses.replace(whole, segments=(Segment(0, 30001, 20, 0.1), Segment(30001, 86400, 20, 0.1)))
    placements = {"a": Placement("a", 0, (0,)), "b": Placement("b", 0, (1,))}
    one, two = (settle(p, Plan.of(p, placements)).totals for p in (whole, split))
    assert two.as_dict() == pytest.approx(one.as_dict(), rel=1e-12)


def test_splitting_a_segment_never_changes_revenue_or_it_energy() -> None:
    """Where power varies, only the rounded mean power of the two parts, and so the cooling, may differ."""
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed))
        problem = dataclasses.replace(problem, table=flat_table(0.3))
        plan = decode(problem, job_order(problem, "+duration"))
        parts = []
        for s in problem.segments:
            middle = (s.start_s + s.end_s) // 2
            if middle == s.start_s:
                parts.append(s)
                continue
            parts += [dataclasses.replace(s, end_s=middle), dataclasses.replace(s, start_s=middle)]
        split = dataclasses.replace(problem, segments=tuple(parts))
        assert settle(split, plan).totals.as_dict() == pytest.approx(settle(problem, plan).totals.as_dict(), rel=1e-9)


def test_work_past_midnight_counts_on_the_next_day() -> None:
    """A job of 10 h from 20:00 earns 4 h today and 6 h tomorrow, and the two days add up to the whole."""
    today = one_node_day((Segment(0, 86400, 20, 0.1),), (job_of("a", 10),), table=flat_table(0.25))
    first = settle(today, Plan.of(today, {"a": Placement("a", 20 * 3600, (0,))}))
    tomorrow = dataclasses.replace(
        today,
        horizon=Horizon(dt.date(2024, 6, 2), "UTC"),
        jobs=(),
        running=(Running(today.jobs[0], -4 * 3600, 6 * 3600, (0,)),),
    )
    second = settle(tomorrow, Plan.of(tomorrow, {}))
    assert first.totals.core_hours == pytest.approx(32 * 4)
    assert second.totals.core_hours == pytest.approx(32 * 6)
    whole = settle(today, Plan.of(today, {"a": Placement("a", 0, (0,))}))
    assert first.profit_eur + second.profit_eur == pytest.approx(whole.profit_eur, rel=1e-12)


def test_with_flat_price_and_pue_one_the_start_does_not_matter() -> None:
    """Nothing but the seconds inside the day enters the ledger then."""
    problem = one_node_day((Segment(0, 86400, 20, 0.1),), (job_of("a", 3),), table=flat_table(0.0))
    profits = [
        settle(problem, Plan.of(problem, {"a": Placement("a", start, (0,))})).profit_eur for start in (0, 7, 50000)
    ]
    assert profits == pytest.approx([profits[0]] * 3, rel=1e-12)


def test_demand_is_charged_on_the_highest_interval() -> None:
    """1 kW for the first 10 minutes and 2 kW for the next 5: the first quarter of an hour has the mean of 4/3 kW."""
    jobs = (job_of("a", 0.25, cores=1), job_of("b", 1 / 12, cores=1))
    problem = one_node_day((Segment(0, 86400, 0, 0.0),), jobs, table=flat_table(0.0))
    problem = dataclasses.replace(problem, rates=Rates(0.0, demand_eur_per_kw=3.0, demand_interval_s=900))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", 600, (0,))})
    ledger = settle(problem, plan)
    assert ledger.peak_kw == pytest.approx(4 / 3)
    assert ledger.profit_eur == pytest.approx(-4.0)


def test_a_power_outside_the_table_names_power_and_temperature() -> None:
    """30 kW at 20 C on a table up to 19.5 kW is an error that says both; with clamp it takes the last row."""
    jobs = (job_of("a", 24, power_w=30_000),)
    problem = one_node_day((Segment(0, 86400, 20, 0.1),), jobs)
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,))})
    with pytest.raises(TableError, match=r"30000 W at 20 C"):
        settle(problem, plan)
    clamped = dataclasses.replace(problem, table=small_table(clamp=True))
    assert settle(clamped, plan).totals.pue == pytest.approx(1 + small_table().cooling[-1, 6])


def test_the_demand_charge_is_shared_by_energy() -> None:
    """One job draws 1 kWh and the other 3 kWh: of a charge of 2 EUR on 1 kW they carry 0.50 and 1.50 EUR."""
    problem = day(job("a", 1), job("b", 3), rates=Rates(0.1, demand_eur_per_kw=2.0))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", HOUR, (0,))})
    ledger = settle(problem, plan)
    assert ledger.demand_cost_eur == pytest.approx(2.0)
    assert ledger.jobs.demand_cost_eur.tolist() == pytest.approx([0.5, 1.5])


def test_the_peak_counts_cooling_and_the_sun_of_its_quarter_hour() -> None:
    """1 kW cooled with half as much again is a peak of 1.5 kW; with 0.6 kW from the roof, 0.9 kW are bought."""
    problem = dataclasses.replace(day(job("a", 1)), table=flat_table(0.5))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,))})
    assert settle(problem, plan).peak_kw == pytest.approx(1.5)
    sunny = dataclasses.replace(problem, segments=(dataclasses.replace(problem.segments[0], solar_w=600.0),))
    assert settle(sunny, plan).peak_kw == pytest.approx(0.9)


def test_idle_nodes_draw_power_where_only_some_classes_do() -> None:
    """A class of two nodes at 100 W idles beside one that draws nothing: 24 h of one node and 23 h of the other.

    The job runs for an hour on the second node: 4.7 kWh are idle.
    """
    classes = (NodeClass("off", 1, {"cores": 4}), NodeClass("on", 2, {"cores": 4}, idle_w=100.0))
    problem = dataclasses.replace(day(job("a", 1)), cluster=Cluster(classes))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (2,))}))
    assert ledger.totals.idle_kwh == pytest.approx(4.7)
    assert ledger.totals.work_kwh == pytest.approx(1.0)


def test_the_least_energy_is_cooled_too() -> None:
    """A milliwatt for a second, with half as much cooling: 0.5 mW s, of 3.6e9 in a kWh."""
    problem = dataclasses.replace(day(job("a", 1 / HOUR, power_w=0.001)), table=flat_table(0.5))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (0,))}))
    assert ledger.totals.cooling_kwh == pytest.approx(0.5 / 3.6e9, abs=0)
