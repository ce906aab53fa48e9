"""What holding knows of prices: as far as their file goes, also within a day."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.online.prices import QUARTER_S
from planner.planning.energy_costs import energy_costs
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
