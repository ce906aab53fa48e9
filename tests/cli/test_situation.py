"""Claims about what is true when a day is planned: every way to begin a day finds the site in the same state."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.cli.main import run
from planner.domain.horizon import Horizon
from planner.domain.problem import Problem
from planner.domain.situation import Outage
from planner.methods import Params
from planner.runs.one_day import PlanRequest, plan_from
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.read_last_plan import read_last_plan, situation_of
from tests.days import plan, write_small_site
from tests.rolling import CSVS, DAYS, SITE, write_rolling_site
from tests.written_snapshots import write_snapshot

STATE = (
    *("--set", "demand={eur_per_kw: 10, period: month}"),
    *("--set", "battery={capacity_kwh: 2, power_kw: 0.5, start_fraction: 1.0, end_fraction: 0.0}"),
    *("--set", "tariff={kind: bands, eur_per_kwh: 0.3, bands: [{from: '00:00', to: '06:00', eur_per_kwh: 0.1}]}"),
    *("-m", "est", "--bound-time", "0", "-q"),
)
"""A monthly demand charge, and a battery that is full at first and empty in the evening."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The rolling site with two days planned, to stand in."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    for day in DAYS[:2]:
        plan("--day", day, *STATE)
    return tmp_path


def facts(day: str, name: str) -> dict[str, Any]:
    """What a file of a day says."""
    found: dict[str, Any] = json.loads((Path("reports/site") / day / name).read_text("utf-8"))
    return found


def state(day: str) -> tuple[float, float]:
    """The peak that was charged before a day, and what its battery held at midnight."""
    rates = facts(day, "run.json")["rates"]
    return rates["demand_so_far_kw"], rates["battery"]["start_kwh"]


def test_planning_again_finds_the_peak_of_the_month_and_the_battery_as_the_day_did(site: Path) -> None:
    """The first day left a peak and an empty battery: whoever plans the second one again pays for no peak twice."""
    left = facts(DAYS[0], "run.json")["left"]
    assert left["battery_kwh"] == pytest.approx(0.0, abs=1e-6)
    assert state(DAYS[1]) == (left["peak_kw"], left["battery_kwh"])
    charged = facts(DAYS[1], "summary.json")["totals"]["demand_cost_eur"]
    for moment in ("00:10", "09:00"):
        plan("now", "--at", f"{DAYS[1]}T{moment}+02:00", "--hours", "12", *STATE)
        assert state(DAYS[1]) == (left["peak_kw"], left["battery_kwh"])
    assert facts(DAYS[1], "summary.json")["totals"]["demand_cost_eur"] == pytest.approx(charged, abs=1.0)


def test_a_first_plan_from_a_moment_begins_with_what_the_day_before_left(site: Path) -> None:
    left = facts(DAYS[1], "run.json")["left"]
    plan("now", "--at", f"{DAYS[2]}T00:10+02:00", *STATE)
    assert state(DAYS[2]) == (left["peak_kw"], left["battery_kwh"])


def test_books_find_the_site_as_its_plan_did_and_a_later_plan_goes_by_them(site: Path) -> None:
    """The day before is booked with so little work that the battery served it: the planned peak counts no more."""
    head = "job_id,submit_time,requested_h,units,cores_per_unit,power_w,state,start_time,end_time,nodes"
    ran = f"b,{DAYS[0]}T00:00:00+02:00,4,1,8,76,done,{DAYS[0]}T01:00:00+02:00,{DAYS[0]}T05:00:00+02:00,cpu1"
    Path("books.csv").write_text(f"{head}\n{ran}\n")
    began = state(DAYS[0])
    plan("book", "--day", DAYS[0], "--table", "books.csv", *STATE[:-5], "-q")
    assert state(DAYS[0]) == began
    left = facts(DAYS[0], "run.json")["left"]
    assert left["peak_kw"] < state(DAYS[1])[0]
    plan("now", "--at", f"{DAYS[1]}T09:00+02:00", *STATE)
    assert state(DAYS[1]) == (left["peak_kw"], left["battery_kwh"])


MIDNIGHTS = [dt.date(2024, 5, 20) + dt.timedelta(days=number) for number in range(20)]
"""Twenty days, with the end of a month in the middle."""

BUSY = """\
base: site
rules: {max_deferral_days: 2}
demand: {eur_per_kw: 10, period: month}
battery: {capacity_kwh: 2, power_kw: 0.5, start_fraction: 1.0, end_fraction: 0.0}
tariff: {kind: bands, eur_per_kwh: 0.3, bands: [{from: "00:00", to: "06:00", eur_per_kwh: 0.1}]}
cluster: {down: [{nodes: cpu4, from: 2024-05-23T15:00+02:00, to: 2024-05-26T09:00+02:00}]}
"""


def busy_site(folder: Path) -> Scenario:
    """Work for twenty days on four nodes: some of it runs over midnight, some waits for days."""
    rng = np.random.default_rng(3)
    lines = ["job_id,submit_time,requested_h,units,cores_per_unit,power_w"]
    for number in range(12 * len(MIDNIGHTS)):
        day = MIDNIGHTS[number // 12] - dt.timedelta(days=1)
        moment = dt.datetime.combine(day, dt.time(int(rng.integers(0, 24)), 0)).isoformat()
        hours, units, cores = int(rng.integers(1, 15)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
        lines.append(f"j{number:03d},{moment}+02:00,{hours},{units},{cores},{9.5 * units * cores:.2f}")
    write_small_site(folder, SITE, "\n".join(lines) + "\n")
    (folder / "scenarios" / "busy.yaml").write_text(BUSY)
    return load_scenario("busy", folders=[folder / "scenarios"])


def test_a_day_is_planned_at_its_midnight_as_from_any_moment(tmp_path: Path, is_whole: bool) -> None:
    """`plan --day` and `plan now` at midnight write the same bytes on 20 days: the month's peak, the battery, carried
    and overdue work, and outages, those of the scenario and those that the last plan was told of at noon."""
    scenario = busy_site(tmp_path)
    nights, moments = tmp_path / "nights", tmp_path / "moments"
    seen = set()
    for number, day in enumerate(MIDNIGHTS if is_whole else MIDNIGHTS[9:14]):
        horizon = Horizon(day, scenario.zone)
        method = ("est", "multisearch")[number % 2]
        how = Params(method, workers=1, bound_time_s=0, page=False, baselines=False)
        if number:
            before = (day - dt.timedelta(days=1)).isoformat()
            shutil.copytree(nights / before, moments / before, dirs_exist_ok=True)
        nightly = plan_from(scenario, how, PlanRequest(horizon.start_unix, nightly=True), nights)
        plan_from(scenario, how, PlanRequest(horizon.start_unix, hours=24), moments)
        for name in CSVS:
            both = [(folder / day.isoformat() / name).read_bytes() for folder in (nights, moments)]
            assert both[0] == both[1], (day, name)
        if number % 3 == 2:  # the day before was told of an outage
            assert run(["audit", str(nights / day.isoformat())]) == 0
        assert nightly.planned is not None
        seen |= _what_is_there(nightly.planned.day.problem)
        if number % 3 == 1:
            noon = horizon.start_unix + 12 * 3600
            told, _ = situation_of(scenario, horizon, read_last_plan(nights / day.isoformat(), scenario, horizon), noon)
            out = Outage(number % 4, noon - 60, noon + 86400 if number % 2 else None, "drain")
            jobs, nodes = tmp_path / "jobs.csv", tmp_path / "nodes.csv"
            write_snapshot(replace(told, outages=(out,)), jobs, cluster=scenario.cluster, nodes_path=nodes)
            plan_from(scenario, how, PlanRequest(noon, snapshot=jobs, nodes=nodes), nights)
    assert seen == {"peak", "no peak", "battery", "carried", "overdue", "outage"}


def _what_is_there(problem: Problem) -> set[str]:
    """What makes a day more than a first one."""
    rates = problem.rates
    assert rates.battery is not None
    found = {
        "peak": rates.demand_so_far_kw > 0,
        "no peak": not rates.demand_so_far_kw,
        "battery": rates.battery.start_kwh < rates.battery.capacity_kwh,
        "carried": bool(problem.running),
        "overdue": bool(problem.overdue),
        "outage": bool(problem.outages),
    }
    return {what for what, is_there in found.items() if is_there}
