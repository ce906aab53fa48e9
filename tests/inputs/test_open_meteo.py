"""Weather as Open-Meteo answers: its clock, its hours, its units, and values of every wrong type."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.errors import CoverageError, FileFormatError, InputError
from planner.inputs.weather.read import read_weather
from tests.weather_files import BERLIN, JUNE, hours, open_meteo


def test_open_meteo_clock_is_fixed_within_an_answer(tmp_path: Path) -> None:
    """With utc_offset_seconds 3600, 01:00 in the file is midnight UTC all year, summer time or not."""
    path = open_meteo(
        tmp_path / "w.json",
        hours("2024-06-01T00:00", 48),
        [float(k) for k in range(48)],
        timezone=BERLIN,
        utc_offset_seconds=3600,
    )
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values.tolist() == list(range(1, 25))
    assert (weather.latitude_deg, weather.longitude_deg, weather.altitude_m) == (50.1, 8.7, 111.0)
    assert any("UTC+01:00" in note for note in intake.notes)


def test_open_meteo_times_that_follow_the_clock_are_read_so(tmp_path: Path) -> None:
    """If 02:00 is absent in spring, the times are local: 03:00 comes one real hour after 01:00."""
    times = [time for time in hours("2024-03-31T00:00", 24) if not time.endswith("T02:00")]
    path = open_meteo(
        tmp_path / "w.json", times, [float(k) for k in range(23)], timezone=BERLIN, utc_offset_seconds=7200
    )
    weather, intake = read_weather(path, horizon=Horizon(dt.date(2024, 3, 31), BERLIN))
    assert weather.temperature_c.values.tolist() == list(range(23))
    assert any("clock changes they follow" in note for note in intake.notes)


def test_open_meteo_zone_argument_overrules_the_file(tmp_path: Path) -> None:
    """The caller knows better: in UTC the first row of the day is midnight UTC."""
    path = open_meteo(
        tmp_path / "w.json", hours("2024-06-01T00:00", 24), [float(k) for k in range(24)], utc_offset_seconds=3600
    )
    weather, _ = read_weather(path, horizon=JUNE, zone="UTC")
    assert weather.temperature_c.values.tolist() == list(range(24))


def test_open_meteo_radiation_is_of_the_hour_before(tmp_path: Path) -> None:
    """Radiation stamped 01:00 is that of 00:00 to 01:00; the last hour repeats; km/h become m/s (36 -> 10)."""
    path = tmp_path / "w.json.gz"
    document = {
        "utc_offset_seconds": 0,
        "hourly_units": {"temperature_2m": "°C", "shortwave_radiation": "W/m²", "windspeed_10m": "km/h"},
        "hourly": {
            "time": hours("2024-06-01T00:00", 24),
            "temperature_2m": [20.0] * 24,
            "shortwave_radiation": [float(k) for k in range(24)],
            "windspeed_10m": [36.0] * 24,
        },
    }
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    weather, _ = read_weather(path, horizon=JUNE)
    assert weather.ghi_w_per_m2 is not None
    assert weather.wind_m_per_s is not None
    assert weather.ghi_w_per_m2.values.tolist() == [*range(1, 24), 23]
    assert weather.wind_m_per_s.values == pytest.approx(np.full(24, 10.0))


def test_open_meteo_radiation_of_a_tail_is_of_the_steps_before(tmp_path: Path) -> None:
    """After a day of hours, radiation stamped 03:00 is that of midnight to 03:00."""
    times = [*hours("2024-05-28T00:00", 97), *hours("2024-06-01T00:00", 48)[3::3]]
    path = tmp_path / "w.json"
    head: dict[str, Any] = {"utc_offset_seconds": 0, "hourly_units": {"shortwave_radiation": "W/m²"}}
    sun = [float(k) for k in range(len(times))]
    hourly = {"time": times, "temperature_2m": [20.0] * len(times), "shortwave_radiation": sun}
    path.write_text(json.dumps({**head, "hourly": hourly}))
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.ghi_w_per_m2 is not None
    assert weather.ghi_w_per_m2.values.tolist() == sun[97:105]
    assert not sum(intake.repaired.values())


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", r"has no hourly\.time"),
        ('{"hourly": {"time": ["2024-06-01T00:00"]}}', r"has no hourly\.temperature_2m"),
        ('{"hourly": {"time": ["2024-06-01T00:00"], "temperature_2m": [1]}}', "neither timezone nor"),
        (
            '{"utc_offset_seconds": 0, "hourly": {"time": ["2024-06-01T00:00"], "temperature_2m": [1, 2]}}',
            "2 values for 1 times",
        ),
        (
            '{"utc_offset_seconds": 0, "hourly_units": {"temperature_2m": "°F"},'
            ' "hourly": {"time": ["2024-06-01T00:00"], "temperature_2m": [70]}}',
            "is in '°F'; ask the API for celsius",
        ),
    ],
)
def test_open_meteo_errors_name_file_and_field(tmp_path: Path, document: str, problem: str) -> None:
    """Each way in which an answer can be wrong names the file and the field."""
    path = tmp_path / "w.json"
    path.write_text(document)
    with pytest.raises(FileFormatError, match=rf"w\.json: .*{problem}"):
        read_weather(path, horizon=JUNE)


def test_frankfurt_2021(planner_data: Path) -> None:
    """Frankfurt's file has 8,760 even hours at UTC+1; Jul 1 in Berlin (UTC+2) starts at its Jun 30, 23:00."""
    path = planner_data / "weather" / "DE-LU_Frankfurt_2021.json.gz"
    hourly = json.loads(gzip.decompress(path.read_bytes()))["hourly"]
    first = hourly["time"].index("2021-06-30T23:00")
    weather, intake = read_weather(path, horizon=Horizon(dt.date(2021, 7, 1), BERLIN))
    assert weather.temperature_c.values.tolist() == hourly["temperature_2m"][first : first + 24]
    assert (intake.kept, dict(intake.repaired), dict(intake.dropped)) == (24, {}, {})
    autumn, _ = read_weather(path, horizon=Horizon(dt.date(2021, 10, 31), BERLIN))
    assert len(autumn.temperature_c.values) == 25
    with pytest.raises(CoverageError, match="covers 2020-12-31 23:00 UTC to 2021-12-31 23:00 UTC"):
        read_weather(path, horizon=Horizon(dt.date(2022, 1, 1), BERLIN))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"hourly_units": ["°C"]}, "hourly_units holds no names and values"),
        ({"hourly_units": 5}, "hourly_units holds no names and values"),
        ({"hourly_units": {"temperature_2m": ["°C"]}}, "hourly.temperature_2m is in a list"),
        ({"utc_offset_seconds": [3600]}, "utc_offset_seconds is a list, not a number"),
        ({"utc_offset_seconds": 1e9}, "utc_offset_seconds is 1,000,000,000; it must be from"),
        ({"latitude": "north"}, "latitude is 'north', not a number"),
        ({"latitude": {"deg": 5}}, "latitude is a mapping, not a number"),
        ({"latitude": 10**400}, "latitude is a number far beyond, not a number"),
        ({"longitude": 181}, "longitude is 181; it must be from -180 to 180 degrees"),
        ({"elevation": float("inf")}, "elevation is inf, not a number"),
        ({"timezone": 5}, "timezone is 5, not plain text"),
        ({"timezone": "\ud800"}, "timezone is .*, not plain text"),
        ({"hourly": [1]}, "hourly holds no names and values"),
    ],
)
def test_open_meteo_values_of_the_wrong_type(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    """Each is named in one line."""
    path = open_meteo(tmp_path / "w.json", hours("2024-06-01T00:00", 48), [1.0] * 48, utc_offset_seconds=0)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=problem):
        read_weather(path, horizon=JUNE)


@pytest.mark.parametrize("value", [True, "5", [5], {}, 10**400, float("inf"), 1e9])
def test_open_meteo_values_that_are_no_temperatures(tmp_path: Path, value: Any) -> None:
    """Nor are those beyond all weather."""
    values = [1.0] * 48
    values[30] = value
    path = open_meteo(tmp_path / "w.json", hours("2024-06-01T00:00", 48), values, utc_offset_seconds=0)
    with pytest.raises(FileFormatError, match=r"w\.json: (hourly.temperature_2m has something|the temperature at)"):
        read_weather(path, horizon=JUNE)


@pytest.mark.parametrize("times", [[2**63] * 48, [1717200000] * 48, [-5] * 48])
def test_open_meteo_unix_times_are_checked(tmp_path: Path, times: Any) -> None:
    """Beyond the calendar, or given twice."""
    path = open_meteo(tmp_path / "w.json", times, [1.0] * 48)
    with pytest.raises(FileFormatError, match=r"no Unix time|given twice"):
        read_weather(path, horizon=JUNE)


def test_deep_json_and_endless_numbers(tmp_path: Path) -> None:
    """Neither is more than one line."""
    for text in ("[" * 100_000, '{"latitude": ' + "9" * 5000 + "}"):
        (tmp_path / "w.json").write_text(text)
        with pytest.raises(FileFormatError, match=r"w\.json: is (nested too deeply|not JSON)"):
            read_weather(tmp_path / "w.json", horizon=JUNE)
