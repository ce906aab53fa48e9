"""Contracts and machines as sites have them, each worked out by hand on a day of one job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import IdleRule
from planner.domain.ledger import Ledger
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Battery, Rates
from planner.domain.segment import Segment
from tests.factories import flat_table
from tests.plain_day import HOUR, day, job

DAY_H = 24


def site(*segments: Segment, hours: float = 10, cooling: float = 0.0, **choices: Any) -> Problem:
    """A node of four cores, and a job of 1 kW on all of them for some hours."""
    problem = replace(day(job("a", hours)), segments=segments, table=flat_table(cooling), defer="free")
    cluster, idle = problem.cluster, choices.pop("idle", {})
    rule = choices.pop("rule", IdleRule())
    cluster = replace(cluster, classes=(replace(cluster.classes[0], **idle),), idle_rule=rule)
    return replace(problem, cluster=cluster, **choices)


def settled(problem: Problem, start_h: float = 0) -> Ledger:
    """The ledger of the job started at an hour; no bound is below it."""
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", round(start_h * HOUR), (0,))}))
    assert profit_bound(problem).profit_eur >= ledger.profit_eur - 1e-9
    return ledger


def stretch(first_h: int, last_h: int, price: float, **more: float) -> Segment:
    """A segment between two hours."""
    return Segment(first_h * HOUR, last_h * HOUR, 20, price, **more)


def test_fees_come_on_top_of_the_price() -> None:
    """10 kWh for IT and 5 for cooling, at 0.10 and 0.06 on top: 2.40, of which fees 0.90."""
    totals = settled(site(stretch(0, 24, 0.1, fee_eur_per_kwh=0.06), cooling=0.5)).totals
    assert (totals.it_cost_eur, totals.cooling_cost_eur) == pytest.approx((1.6, 0.8))
    assert totals.fees_eur == pytest.approx(0.9)
    assert totals.profit_eur == pytest.approx(10 * 4 * 0.1 - 2.4)


def test_unused_sun_is_fed_in() -> None:
    """24 h of 2 kW: 10 kWh used, 38 fed in at 0.05."""
    totals = settled(site(stretch(0, 24, 0.1, solar_w=2000.0, feed_in_eur_per_kwh=0.05))).totals
    assert (totals.solar_kwh, totals.fed_kwh, totals.curtailed_kwh, totals.bought_kwh) == pytest.approx((10, 38, 0, 0))
    assert totals.feed_in_eur == pytest.approx(1.9)
    assert totals.profit_eur == pytest.approx(4.0 + 1.9)


def test_sun_is_fed_in_where_that_earns_more_than_it_saves() -> None:
    """At 0.10 bought and 0.15 fed in all 48 kWh are fed in, and 10 bought."""
    totals = settled(site(stretch(0, 24, 0.1, solar_w=2000.0, feed_in_eur_per_kwh=0.15))).totals
    assert (totals.solar_kwh, totals.fed_kwh, totals.bought_kwh) == pytest.approx((0, 48, 10))
    assert totals.profit_eur == pytest.approx(4.0 + 48 * 0.15 - 1.0)


def test_sun_is_curtailed_where_electricity_has_a_negative_price() -> None:
    """At -0.45 using own sun would give 4.50 away; feeding in for less than nothing would cost money."""
    totals = settled(site(stretch(0, 24, -0.45, solar_w=2000.0, feed_in_eur_per_kwh=-0.45))).totals
    assert (totals.solar_kwh, totals.fed_kwh, totals.curtailed_kwh, totals.bought_kwh) == pytest.approx((0, 0, 48, 10))
    assert totals.profit_eur == pytest.approx(4.0 + 4.5)


def test_only_what_is_above_the_peak_so_far_is_charged() -> None:
    """1 kW of IT and 0.5 of cooling; 1.2 kW are charged already."""
    rates = Rates(0.1, demand_eur_per_kw=2.0)
    plain = settled(site(stretch(0, 24, 0.0), cooling=0.5, rates=rates))
    assert (plain.peak_kw, plain.demand_cost_eur) == pytest.approx((1.5, 3.0))
    later = settled(site(stretch(0, 24, 0.0), cooling=0.5, rates=replace(rates, demand_so_far_kw=1.2)))
    assert (later.peak_kw, later.demand_cost_eur) == pytest.approx((1.5, 0.6))
    below = site(stretch(0, 24, 0.0), cooling=0.5, rates=replace(rates, demand_so_far_kw=2.0))
    assert settled(below).demand_cost_eur == 0
    assert profit_bound(below).profit_eur == pytest.approx(4.0, abs=1e-3)


def test_what_a_battery_saves_does_not_depend_on_starts_where_the_site_draws_more_than_it_gives() -> None:
    """So the rule that holds jobs need not know of it. Where the site draws less, it does depend."""
    prices = np.random.default_rng(5).uniform(0.05, 0.5, DAY_H)
    battery = Battery(3.0, 0.8, 0.81, start_kwh=1.0, end_kwh=1.0)
    saved: dict[str, set[float]] = {"always on": set(), "alone": set()}
    for start_h in range(DAY_H - 6):
        for name, jobs in {"always on": (job("b", DAY_H), job("a", 6)), "alone": (job("a", 6),)}.items():
            plain = day(*jobs, nodes=2, prices=prices.tolist(), defer="free")
            starts = {each.id: Placement(each.id, start_h * HOUR if each.id == "a" else 0, (0,)) for each in jobs}
            if "b" in starts:
                starts["b"] = Placement("b", 0, (1,))
            with_battery = replace(plain, rates=replace(plain.rates, battery=battery))
            profits = [settle(each, Plan.of(each, starts)).profit_eur for each in (with_battery, plain)]
            saved[name].add(round(profits[0] - profits[1], 9))
    assert len(saved["always on"]) == 1
    assert len(saved["alone"]) > 1


def test_a_battery_moves_energy_to_dear_hours() -> None:
    """Ten hours at 0.10, then dear ones at 0.40 with 10 kWh to buy.

    2 kWh are given in a dear hour; 81 % come out again, so that 2 / 0.81 are bought for them: 0.80 less 0.2469.
    """
    battery = Battery(capacity_kwh=2 / 0.9, power_kw=1.0, efficiency=0.81, start_kwh=0.0, end_kwh=0.0)
    ledger = settled(site(stretch(0, 10, 0.1), stretch(10, 24, 0.4), rates=Rates(0.1, battery=battery)), start_h=12)
    totals = ledger.totals
    assert totals.discharged_kwh == pytest.approx(2.0)
    assert totals.charged_kwh == pytest.approx(2 / 0.81)
    assert totals.battery_eur == pytest.approx(0.8 - 0.1 * 2 / 0.81)
    assert totals.bought_kwh == pytest.approx(10 + 2 / 0.81 - 2)
    assert totals.profit_eur == pytest.approx(4.0 - 4.0 + totals.battery_eur)
    assert ledger.segments.battery_kwh == pytest.approx([2 / 0.9, 0.0])


def test_a_battery_keeps_what_it_must_hold_at_the_end() -> None:
    """It begins with 1 kWh and must end with 1: at one price all day it rests."""
    battery = Battery(2.0, 1.0, 0.81, start_kwh=1.0, end_kwh=1.0)
    ledger = settled(site(stretch(0, 24, 0.1), rates=Rates(0.1, battery=battery)))
    assert ledger.totals.charged_kwh == pytest.approx(0, abs=1e-9)
    assert ledger.segments.battery_kwh[-1] == pytest.approx(1.0)


def test_a_battery_that_cannot_be_charged_in_time_is_charged_as_far_as_it_goes() -> None:
    """0.01 kW for a day through 0.9: 0.216 kWh."""
    battery = Battery(2.0, 0.01, 0.81, start_kwh=0.0, end_kwh=2.0)
    ledger = settled(site(stretch(0, 24, 0.1), rates=Rates(0.1, battery=battery)))
    assert ledger.segments.battery_kwh[-1] == pytest.approx(0.216)


def test_a_battery_takes_unused_sun_before_anything_is_bought() -> None:
    """Sun of 1 kW until noon with nothing to run then; the job from noon on buys 0.9 kWh less for 1 kWh stored."""
    battery = Battery(0.9, 1.0, 0.81, start_kwh=0.0, end_kwh=0.0)
    segments = (stretch(0, 12, 0.1, solar_w=1000.0, feed_in_eur_per_kwh=0.02), stretch(12, 24, 0.1))
    totals = settled(site(*segments, rates=Rates(0.1, battery=battery)), start_h=12).totals
    assert (totals.charged_kwh, totals.discharged_kwh) == pytest.approx((1.0, 0.81))
    assert totals.fed_kwh == pytest.approx(11.0)
    assert totals.profit_eur == pytest.approx(4.0 - (10 - 0.81) * 0.1 + 11 * 0.02)


def test_a_battery_cuts_the_peak() -> None:
    """1 kW for ten hours from a battery of 5 kWh without loss: half of it each hour, so that 0.5 kW are bought."""
    battery = Battery(5.0, 5.0, 1.0, start_kwh=5.0, end_kwh=0.0)
    hours = tuple(stretch(hour, hour + 1, 0.0) for hour in range(DAY_H))
    ledger = settled(site(*hours, rates=Rates(0.1, demand_eur_per_kw=2.0, battery=battery)))
    assert (ledger.peak_kw, ledger.demand_cost_eur) == pytest.approx((0.5, 1.0))


def test_idle_power_of_empty_nodes_and_on_top_of_jobs() -> None:
    """100 W for 14 empty hours; for all 24 where the power of jobs leaves it out."""
    included = settled(site(stretch(0, 24, 0.1), idle={"idle_w": 100.0}))
    assert included.totals.idle_kwh == pytest.approx(1.4)
    on_top = settled(site(stretch(0, 24, 0.1), idle={"idle_w": 100.0}, rule=IdleRule(included=False)))
    assert on_top.totals.idle_kwh == pytest.approx(2.4)
    assert on_top.profit_eur == pytest.approx(4.0 - 12.4 * 0.1)


def test_nodes_without_work_sleep_and_wake_in_time() -> None:
    """The job runs from 8 to 18 h. Asleep from 1 to 7:30 and from 19 to 24 h: 11.5 h at 10 W, 2.5 h at 100 W."""
    rule = IdleRule(after_s=HOUR, wake_s=HOUR // 2)
    problem = site(stretch(0, 24, 0.1), idle={"idle_w": 100.0, "sleep_w": 10.0}, rule=rule)
    ledger = settled(problem, start_h=8)
    assert ledger.totals.asleep_h == pytest.approx(11.5)
    assert ledger.totals.idle_kwh == pytest.approx(0.115 + 0.25)
    assert ledger.totals.it_kwh == pytest.approx(10.365)


def test_too_short_a_rest_is_no_sleep() -> None:
    """Until 1:20 there is no time to sleep an hour after midnight and to wake up for half an hour."""
    rule = IdleRule(after_s=HOUR, wake_s=HOUR // 2)
    problem = site(stretch(0, 24, 0.1), hours=23, idle={"idle_w": 100.0, "sleep_w": 10.0}, rule=rule)
    assert settled(problem, start_h=4 / 3).totals.asleep_h == 0


def test_at_a_negative_price_nodes_that_do_not_sleep_yet_earn_more_than_sleeping_ones() -> None:
    """2.5 h awake at 100 W and 11.5 h asleep at 10 W: what they draw is paid for, and the bound lets them draw it."""
    rule = IdleRule(after_s=HOUR, wake_s=HOUR // 2)
    problem = site(stretch(0, 24, -0.1), idle={"idle_w": 100.0, "sleep_w": 10.0}, rule=rule)
    assert settled(problem, start_h=8).profit_eur == pytest.approx(4.0 + 10.365 * 0.1)
