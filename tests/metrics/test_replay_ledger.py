"""Energy and money of a replay through the planner's own accounting."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.inputs.traces import read_cluster
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.check_request import open_scenario
from planner.runs.measured_replays import Measurement, simulate, with_money
from planner.runs.replay_ledger import settle_replays, sum_of_days

JOBS = """\
job_id,submit_time,requested_s,runtime_s,units,cores_per_unit,power_w
late,2024-06-01T23:30:00-04:00,7200,3600,1,32,1000
next,2024-06-02T01:00:00-04:00,3600,1800,2,32,500
"""
SETTINGS = ("weather.source=constant", "weather.temperature_c=20")


def test_a_job_over_midnight_earns_on_both_days(tmp_path: Path) -> None:
    """1 kW for 1 h, half of it before midnight, and 500 W for half an hour: 0.5 and 0.75 kWh; 32 + 32 core-hours."""
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS, encoding="utf-8")
    scenario = open_scenario("sample", SETTINGS)
    source = read_cluster(path, scenario)
    measured = Measurement.named(["wait", "it_kwh", "revenue_eur", "profit_eur", "energy_cost_eur"], scenario=scenario)
    (run,) = simulate(source, [policy_named("easy")], [estimate_named("requested")], measured)
    days = settle_replays(scenario, source.jobs, [run.replay])[0]
    assert [day.isoformat() for day, _ in days] == ["2024-06-01", "2024-06-02"]
    assert [totals.work_kwh for _, totals in days] == pytest.approx([0.5, 0.75])
    (settled,) = with_money([run], source, measured)
    assert settled.values["revenue_eur"] == pytest.approx(64 * 0.02)
    total = sum_of_days(days)
    assert settled.values["profit_eur"] == pytest.approx(total["revenue_eur"] - total["energy_cost_eur"])
    assert settled.values["it_kwh"] == pytest.approx(1.25 + total["idle_kwh"])
