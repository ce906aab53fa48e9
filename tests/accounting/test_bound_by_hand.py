"""The bound where the best plan is known, and its parts, in numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.bound.slots import bought_points, cut_slots, hull, lower_hull, node_shares
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Battery, Rates
from planner.domain.segment import Segment
from planner.domain.situation import NodeOutage
from tests import plain_day
from tests.accounting.bound_days import job, kinked_table, machine, odd_problem, one_segment
from tests.factories import DAY, flat_table

HOURS = DAY.length_s // 3600


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


@pytest.mark.parametrize("idle_w", [0.0, 100.0])
def test_nothing_is_earned_on_nodes_in_outages(idle_w: float) -> None:
    """Of two nodes one is closed from 6:00 to 16:00: 38 of 48 node-hours are left, and more work than that.

    Thirty jobs of a node and 2 h earn 38 h * 4 cores * 0.1 EUR. A node that idles draws as much as a job, 0.1 kW or
    nothing: what is bought is 48 h of that at 0.1 EUR, whatever is decided.
    """
    jobs = tuple(job(f"j{k}", 4, 2, idle_w) for k in range(30))
    day = Problem(DAY, machine(2, idle_w), jobs, one_segment(), flat_table(), Rates(0.1), defer="free")
    bought_eur = 48 * idle_w / 1000 * 0.1
    assert profit_bound(day).profit_eur == pytest.approx(48 * 0.4 - bought_eur)
    closed = replace(day, outages=(NodeOutage(1, 6 * 3600, 16 * 3600),))
    assert profit_bound(closed).profit_eur == pytest.approx(38 * 0.4 - bought_eur)


def test_a_battery_loses_on_the_way_in_and_on_the_way_out() -> None:
    """It holds 9 kWh; 0.9 of what goes in is stored, 0.9 of what is stored comes out: 10 kWh go in, 8.1 come out.

    A job of 2 kW runs all day, at 0.1 EUR until noon and at 0.4 EUR after it: 24 kWh a half. With the battery empty at
    both ends of the day, energy costs 34 * 0.1 + (24 - 8.1) * 0.4 = 9.76; the job earns 24 * 0.4 = 9.60.
    """
    battery = Battery(9.0, 5.0, 0.81, start_kwh=0.0, end_kwh=0.0)
    segments = (Segment(0, DAY.length_s // 2, 10, 0.1), Segment(DAY.length_s // 2, DAY.length_s, 10, 0.4))
    running = Running(job("r", 4, 48, 2000), 0, 2 * DAY.length_s, (0,))
    day = Problem(DAY, machine(1), (), segments, flat_table(), Rates(0.1, battery=battery), (running,))
    plan = Plan(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert settle(day, plan).profit_eur == pytest.approx(9.6 - 9.76)
    assert profit_bound(day).profit_eur == pytest.approx(9.6 - 9.76)


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


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("seed", range(40))
def test_the_curve_holds_what_settle_buys(seed: int) -> None:
    """What settle buys for any IT energy lies within the hull, and what it costs not below the lower hull of cost."""
    rng = np.random.default_rng(seed)
    table, price = kinked_table(rng), float(rng.uniform(-0.3, 0.3))
    segment = one_segment(price, solar_w=float(rng.choice([0.0, 400.0])))[0]
    it, bought, _ = bought_points(table, segment, 0.0, 60.0, uses_sun=price > 0)
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


def test_running_work_leaves_the_rest_of_its_node() -> None:
    """A core runs all day on a node of four and earns 2.40; three cores beside it earn 7.20.

    Four do not fit; in the bound three quarters of them do.
    """
    running = Running(job("r", 1, 48, 0.0), 0, 2 * DAY.length_s, (0,))
    for cores in (3, 4):
        day = Problem(
            DAY, machine(1), (job("a", cores, 24, 0.0),), one_segment(), flat_table(), Rates(0.1), (running,), "free"
        )
        assert profit_bound(day).profit_eur == pytest.approx(2.4 + 7.2)


def test_slots_are_as_short_as_asked() -> None:
    """A slot of a second is the shortest; asked for less, it is that."""
    day = Problem(DAY, machine(1), (), one_segment(), flat_table(), Rates(0.1))
    assert [len(cut_slots(day, slot_s)) for slot_s in (0, 1, 7200, 50_000)] == [86400, 86400, 12, 2]


def test_the_lower_hull_is_what_no_line_between_two_points_undercuts() -> None:
    """300 random sets of whole points: a corner is lowest at its place, and below every line around it."""
    for seed in range(300):
        points = np.random.default_rng(seed).integers(0, 6, (7, 2)).tolist()
        corners = []
        for x, y in sorted({(x, y) for x, y in points}):
            lines = [(a, b) for a in points for b in points if a[0] < x < b[0]]
            # On or above the line from a to b, by cross products.
            undercut = any((y - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (x - a[0]) for a, b in lines)
            if not undercut and y == min(other for at, other in points if at == x):
                corners.append((x, y))
        found = lower_hull(*np.array(points, dtype=float).T)
        assert list(zip(*(each.tolist() for each in found), strict=True)) == corners


TIGHT = {
    0: 2.88765,
    1: 1.95513,
    4: 1.34855,
    5: 2.03096,
    6: 2.06643,
    7: 0.05633,
    8: -0.80611,
    9: 2.63157,
    10: 0.93834,
    11: 0.01565,
    12: 1.95197,
    13: 4.92063,
    14: 0.32615,
    16: 4.40153,
    17: 2.47903,
    18: 2.00224,
    20: 0.65429,
    21: -0.30357,
    22: 1.40497,
}
"""Bounds of random days by their seed, in slots of two hours [EUR]."""


@pytest.mark.parametrize(("seed", "expected"), TIGHT.items())
def test_the_bound_stays_as_tight_as_it_is(seed: int, expected: float) -> None:
    """Whoever finds a tighter one writes it here; its prices are the best there are, within the tolerance."""
    bound = profit_bound(odd_problem(seed), slot_s=7200)
    assert bound.profit_eur == pytest.approx(expected, rel=1.5e-4, abs=1e-5)
    assert bound.rounds > 0
    assert bound.slack_eur is not None
    assert bound.slack_eur <= 1.1e-4 * abs(bound.profit_eur)


def test_a_job_earns_nothing_before_the_chain_of_jobs_that_it_waits_for_can_have_ended() -> None:
    """a runs 20 h, b at least 4 h after it, c after both: of c no second is left today, and of b 4 h of its 10.

    Each node of 4 cores earns 0.4 EUR an hour and draws 1 kW at 0.1 EUR: 0.3 EUR for each of 20 h and 4 h.
    """
    jobs = (
        plain_day.job("a", 20),
        plain_day.job("b", 10, after="afterok:a"),
        plain_day.job("c", 5, after="afterany:b"),
    )
    bound = profit_bound(
        plain_day.day(*jobs, plain_day.job("d", 5, after="afterok:z"), nodes=4, never=["z"]), tolerance=1e-9
    )
    assert bound.profit_eur == pytest.approx(24 * 0.3, abs=1e-6)
