"""What holding knows: of prices as far as their file goes, also within a day, and of jobs of days before."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.inputs.build import build_day
from planner.online.day_under_policy import DayTrace
from planner.online.expected_prices import QUARTER_S
from planner.online.policies import policy_named
from planner.planning.energy_costs import energy_costs
from planner.planning.hold_settings import holding_of_day
from planner.scenario.load import load_scenario
from tests.days import DAY, write_small_site

HOUR = 3600


def test_a_day_is_known_as_far_as_its_prices_go(tmp_path: Path) -> None:
    """Until two in the afternoon; each later hour is expected as on the days before."""
    write_small_site(tmp_path)
    today = Horizon(dt.date.fromisoformat(DAY), "Europe/Paris")
    hours = range(-5 * 24, 14)
    rows = [
        f"{dt.datetime.fromtimestamp(today.start_unix + k * HOUR, dt.UTC):%Y-%m-%dT%H:%MZ},{k % 24 + 1}" for k in hours
    ]
    (tmp_path / "prices.csv").write_text("\n".join(["time,price", *rows]) + "\n", encoding="utf-8")
    tariff = f"tariff={{kind: hourly, file: '{tmp_path / 'prices.csv'}', unit: ct/kWh}}"
    scenario = load_scenario("site", folders=[tmp_path / "scenarios"], overrides=(tariff,))
    costs = energy_costs(scenario, today.start_unix, today.end_unix, 1000.0)
    first = (today.start_unix - costs.first_unix) // QUARTER_S
    of_today = costs.eur_per_kwh[first : first + 96]
    assert np.isnan(of_today).tolist() == [False] * 56 + [True] * 40
    assert of_today[:56] == pytest.approx(np.repeat(np.arange(1, 15), 4) / 100)
    known = costs.known_at(today.start_unix + 10 * HOUR, 96)
    assert known / known[0] == pytest.approx(np.repeat([*range(11, 25), *range(1, 11)], 4) / 11)


def test_waiting_is_worth_what_jobs_of_days_before_really_took(tmp_path: Path) -> None:
    """A part of the energy of the mean job, by its runtime: twice as much where jobs lasted twice as long."""
    write_small_site(tmp_path)
    today = Horizon(dt.date.fromisoformat(DAY), "Europe/Paris")

    def eur_per_hour(runtime_s: int) -> float:
        rows = [f"y{k},{today.start_unix - k * HOUR},36000,{runtime_s},8,100" for k in range(3, 20)]
        text = "\n".join(["job_id,submit_unix,requested_s,runtime_s,cores,power_w", *rows]) + "\n"
        (tmp_path / "history.csv").write_text(text, encoding="utf-8")
        given = (
            'tariff={kind: bands, eur_per_kwh: 0.4, bands: [{from: "11:00", to: "15:00", eur_per_kwh: 0.1}]}',
            "rules.max_delay=6h",
            f"hold.history={tmp_path / 'history.csv'}",
        )
        scenario = load_scenario("site", folders=[tmp_path / "scenarios"], overrides=given)
        problem = build_day(scenario, today.day).problem
        holding = holding_of_day(scenario, problem)
        day = DayTrace(problem, problem, holding.history)
        return day.play(policy_named("hold"), holding=holding).eur_per_waiting_hour

    short, long = eur_per_hour(360), eur_per_hour(720)
    # 2 % of 0.1 kW for 0.1 h at 0.1 to 0.4 EUR/kWh and its cooling
    assert 0.02 * 0.01 * 0.1 < short < 0.02 * 0.01 * 0.8
    assert long == pytest.approx(2 * short)
