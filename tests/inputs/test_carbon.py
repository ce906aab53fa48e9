"""Carbon intensity of bought electricity."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from planner.domain.horizon import Horizon
from planner.errors import CoverageError, FileFormatError
from planner.inputs.prices import carbon_of, hourly_carbon
from planner.scenario.revenue_tariff_carbon import ConstantCarbon

DAY = Horizon(dt.date(2024, 6, 1), "UTC")
HEADER = "Datetime (UTC),Zone,Carbon Intensity gCO₂eq/kWh (direct),Carbon Intensity gCO₂eq/kWh (LCA)"


def _file(path: Path, hours: int, lca: str = "3{k:02d}") -> Path:
    rows = [f"2024-06-01 {k:02d}:00:00,DE,2{k:02d},{lca.format(k=k)}" for k in range(hours)]
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_constant_carbon() -> None:
    """One value over the day."""
    carbon = carbon_of(ConstantCarbon(g_per_kwh=60.0), DAY)
    assert carbon is not None
    assert carbon.values.tolist() == [60.0]


def test_life_cycle_column_is_the_default(tmp_path: Path) -> None:
    """Times under a header marked (UTC) need no zone; of two carbon columns LCA is taken, the other on request."""
    path = _file(tmp_path / "c.csv", 24)
    assert hourly_carbon(path, DAY).values.tolist() == [300.0 + k for k in range(24)]
    direct = hourly_carbon(path, DAY, column="Carbon Intensity gCO₂eq/kWh (direct)")
    assert direct.values.tolist() == [200.0 + k for k in range(24)]


def test_missing_hours_and_negative_values(tmp_path: Path) -> None:
    """A day that ends an hour early is a CoverageError; a carbon intensity below zero is refused."""
    with pytest.raises(CoverageError, match=r"carbon intensity of c\.csv covers"):
        hourly_carbon(_file(tmp_path / "c.csv", 23), DAY)
    with pytest.raises(FileFormatError, match="is -5 g/kWh on the day"):
        hourly_carbon(_file(tmp_path / "c.csv", 24, lca="-5"), DAY)


def test_german_carbon(planner_data: Path) -> None:
    """2021 opens with 526.77 g/kWh (LCA) and 449.07 (direct); Berlin's autumn day has 25 hours."""
    path = planner_data / "carbon" / "DE-LU_2021_hourly.csv.gz"
    first = Horizon(dt.date(2021, 1, 1), "UTC")
    assert hourly_carbon(path, first).values[0] == 526.77
    assert hourly_carbon(path, first, column="Carbon Intensity gCO₂eq/kWh (direct)").values[0] == 449.07
    assert len(hourly_carbon(path, Horizon(dt.date(2021, 10, 31), "Europe/Berlin")).values) == 25
