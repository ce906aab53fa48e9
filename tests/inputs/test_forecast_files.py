"""Forecasts with several members, places for weather files without one, and the power of photovoltaics from files."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.errors import CoverageError, FileFormatError, InputError
from planner.inputs.prices import hourly_tariff, price_members
from planner.inputs.weather.read import read_weather, weather_of
from planner.inputs.weather.solar import solar_of
from planner.scenario.revenue_tariff_carbon import HourlyTariff
from planner.scenario.solar_battery import FileSolar, ModelledSolar
from planner.scenario.weather_cooling import FileWeather
from tests.weather_files import JUNE, hours, open_meteo


def table(path: Path, header: str, cells: list[str], first: str = "2024-06-01T00:00") -> Path:
    """A CSV of hours with the same columns in each."""
    times = hours(first, len(cells))
    path.write_text("\n".join([header, *(f"{time}Z,{cell}" for time, cell in zip(times, cells, strict=True))]) + "\n")
    return path


def test_temperatures_are_the_mean_of_the_members(tmp_path: Path) -> None:
    """Members of 10, 14 and 21 C: 15 C for all, 12 C for the first two; wind and sun are those of the file."""
    path = table(tmp_path / "f.csv", "time,temp_a,temp_b,other,wind_m_per_s", ["10,14,21,3"] * 24)
    weather, intake = read_weather(path, horizon=JUNE, members=["temp_*", "other"])
    assert weather.temperature_c.values == pytest.approx(15.0)
    assert weather.members == ("temp_a", "temp_b", "other")
    assert "mean of 3 members: temp_a, temp_b, other" in intake.notes
    assert weather.wind_m_per_s is not None
    assert read_weather(path, horizon=JUNE, members=["temp_*"])[0].temperature_c.values == pytest.approx(12.0)
    assert read_weather(path, horizon=JUNE, members=["temp_b"])[0].temperature_c.values == pytest.approx(14.0)


def test_a_column_that_members_replace_is_left_alone(tmp_path: Path) -> None:
    """Whatever ``temperature_c`` is beside members, holes and all, does not matter."""
    path = table(tmp_path / "f.csv", "time,temp_a,temp_b,temperature_c", ["10,14,"] * 12 + ["10,14,999"] * 12)
    weather, intake = read_weather(path, horizon=JUNE, members=["temp_*"])
    assert weather.temperature_c.values == pytest.approx(12.0)
    assert not intake.repaired
    assert intake.kept == 2 * 24


def test_members_of_an_open_meteo_ensemble(tmp_path: Path) -> None:
    """Its members are called temperature_2m_member01 and so on, beside temperature_2m itself."""
    path = open_meteo(tmp_path / "e.json", hours("2024-06-01T00:00", 24), [10.0] * 24, utc_offset_seconds=0)
    document = json.loads(path.read_text())
    document["hourly"] |= {"temperature_2m_member01": [13.0] * 24, "relative_humidity_2m": [50] * 24}
    document["hourly_units"] |= {"relative_humidity_2m": "%"}
    path.write_text(json.dumps(document))
    weather, _ = read_weather(path, horizon=JUNE, members=["temperature_2m*"])
    assert weather.members == ("temperature_2m", "temperature_2m_member01")
    assert weather.temperature_c.values == pytest.approx(11.5)
    with pytest.raises(FileFormatError, match="relative_humidity_2m is in '%', no temperature"):
        read_weather(path, horizon=JUNE, members=["temperature_2m", "relative*"])


def test_members_that_are_not_there(tmp_path: Path) -> None:
    """The columns there are, a typical year, a gap of a member that is longer than three hours: one line each."""
    path = table(tmp_path / "f.csv", "time,temp_a,temp_b", ["10,14"] * 24)
    with pytest.raises(FileFormatError, match=r"has no column 'tmp_\*' for a member; its columns are temp_a, temp_b"):
        read_weather(path, horizon=JUNE, members=["temp_a", "tmp_*"])
    with pytest.raises(FileFormatError, match="is a typical year, without members"):
        read_weather("sample", horizon=Horizon(dt.date(2024, 6, 1), "America/New_York"), members=["a"])
    gap = table(tmp_path / "g.csv", "time,temp_a,temp_b", ["10,14"] * 8 + ["10,"] * 4 + ["10,14"] * 12)
    with pytest.raises(CoverageError, match=r"temperature temp_b of g\.csv has no value from 2024-06-01 08:00 UTC"):
        read_weather(gap, horizon=JUNE, members=["temp_*"])
    hot = table(tmp_path / "h.csv", "time,temp_a,temp_b", ["10,285"] * 24)
    with pytest.raises(FileFormatError, match=r"the temperature at .* is 285 C"):
        read_weather(hot, horizon=JUNE, members=["temp_*"])


def test_prices_are_the_mean_of_the_members(tmp_path: Path) -> None:
    """40 and 60 EUR/MWh are 0.05 EUR/kWh; a missing hour of a member is an error, because no price is invented."""
    path = table(tmp_path / "p.csv", "time,low,high", ["40,60"] * 24)
    price = hourly_tariff(path, JUNE, unit="EUR/MWh", members=["low", "high"])
    assert price.values == pytest.approx(0.05)
    choice = HourlyTariff(kind="hourly", file=str(path), unit="EUR/MWh", members=["*"])
    assert price_members(choice) == ("low", "high")
    gap = table(tmp_path / "g.csv", "time,low,high", ["40,60"] * 8 + ["40,"] + ["40,60"] * 15)
    with pytest.raises(CoverageError, match=r"price high of g\.csv has no value from 2024-06-01 08:00 UTC"):
        hourly_tariff(gap, JUNE, unit="EUR/MWh", members=["*"])


def test_photovoltaics_from_a_csv_with_a_place(tmp_path: Path) -> None:
    """A CSV has no place; with that of the scenario it gives what the same file with its own place gives."""
    sun = [max(0, round(800 * np.sin((k - 4) / 16 * np.pi))) if 4 <= k <= 20 else 0 for k in range(24)]
    path = table(tmp_path / "w.csv", "time,temperature_c,ghi_w_per_m2", [f"20,{watts}" for watts in sun])
    array = ModelledSolar(peak_kw=10.0)
    bare, _ = weather_of(FileWeather(source=str(path)), JUNE)
    with pytest.raises(InputError, match=r"need a place, and w\.csv has none; give weather\.latitude_deg"):
        solar_of(array, bare, JUNE)
    choice = FileWeather(source=str(path), latitude_deg=50.1, longitude_deg=8.7, altitude_m=111.0)
    weather, _ = weather_of(choice, JUNE)
    assert (weather.latitude_deg, weather.longitude_deg, weather.altitude_m) == (50.1, 8.7, 111.0)
    power = solar_of(array, weather, JUNE)
    assert power is not None
    # 6 kWh of sun on the level ground make about 5 kWh of each kW of modules by these losses
    assert 35_000 < (power.values * np.diff(power.edges_unix)).sum() / 3600 < 70_000
    elsewhere = FileWeather(source=str(path), latitude_deg=-50.1, longitude_deg=8.7)
    south = solar_of(array, weather_of(elsewhere, JUNE)[0], JUNE)
    assert south is not None
    assert south.values.sum() != pytest.approx(power.values.sum(), rel=0.05)


@pytest.mark.parametrize(("unit", "cell"), [("W", "2500"), ("kW", "2.5"), ("MW", "0.0025")])
def test_power_of_photovoltaics_from_a_file(tmp_path: Path, unit: str, cell: str) -> None:
    """2.5 kW from noon on, and what the inverter draws before counts as nothing; the weather's sun is not asked."""
    draws = {"W": "-12", "kW": "-0.012", "MW": "-0.000012"}[unit]
    path = table(tmp_path / "pv.csv", "time,power", [draws] * 12 + [cell] * 12)
    bare, _ = read_weather(table(tmp_path / "w.csv", "time,temperature_c", ["20"] * 24), horizon=JUNE)
    power = solar_of(FileSolar(file=str(path), unit=unit), bare, JUNE)
    assert power is not None
    assert power.values.tolist() == pytest.approx([0.0] * 12 + [2500.0] * 12)
    assert (power.edges_unix[0], power.edges_unix[-1]) == (JUNE.start_unix, JUNE.end_unix)


@pytest.mark.parametrize(
    ("header", "cells", "unit", "message"),
    [
        ("time,power_w", ["2500"] * 24, "kW", r"column 'power_w' is in W, but solar\.unit is kW; correct one"),
        ("time,PV [kW]", ["2.5"] * 24, "W", r"is in kW, but solar\.unit is W"),
        ("time,power", ["2"] * 8 + [""] + ["2"] * 15, "kW", r"pv\.csv has no value from 2024-06-01 08:00 UTC"),
        ("time,power", ["2"] * 20, "kW", r"covers .* but the day needs"),
        ("time,power", ["0"] * 23 + ["-2000"], "kW", r"falls to -2000 kW; give what the modules feed in as positive"),
        ("time,power", ["20000000"] * 24, "kW", r"photovoltaic power of pv\.csv, in kW, is 20,000,000"),
        ("time,a,b", ["1,2"] * 24, "kW", r"cannot tell which column holds the power"),
    ],
)
def test_files_of_power_that_cannot_be_used(
    tmp_path: Path, header: str, cells: list[str], unit: str, message: str
) -> None:
    """A wrong unit, a gap, a day not covered, the wrong sign, too much, no column: one line each."""
    path = table(tmp_path / "pv.csv", header, cells)
    bare, _ = read_weather(table(tmp_path / "w.csv", "time,temperature_c", ["20"] * 24), horizon=JUNE)
    with pytest.raises(InputError, match=message):
        solar_of(FileSolar(file=str(path), unit=unit), bare, JUNE)
