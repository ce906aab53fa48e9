"""Claims about what is true when a day is planned: every way to begin a day finds the site in the same state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.days import plan
from tests.rolling import DAYS, write_rolling_site

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
