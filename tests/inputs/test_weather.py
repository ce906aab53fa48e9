"""Weather of real years: CSV, holes, zones, days of 23 and 25 hours, and what no weather can be."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.domain.segment import Weather
from planner.errors import CoverageError, FileFormatError, InputError
from planner.inputs.weather.read import constant_weather, read_weather
from tests.weather_files import BERLIN, JUNE, hours, weather_csv


def test_csv_value_holds_from_its_time_on(tmp_path: Path) -> None:
    """Row k of a UTC day is the temperature of hour k, and nothing is repaired."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [float(k) for k in range(24)])
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values.tolist() == list(range(24))
    assert weather.temperature_c.edges_unix[0] == JUNE.start_unix
    assert (intake.kept, sum(intake.repaired.values())) == (24, 0)


def test_csv_offsets_are_honoured(tmp_path: Path) -> None:
    """Times at +02:00 lie two hours earlier: 02:00+02:00 is midnight UTC, the third row."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [float(k) for k in range(26)], suffix="+02:00")
    weather, _ = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values.tolist() == list(range(2, 26))


def test_naive_times_are_refused_with_the_remedy(tmp_path: Path) -> None:
    """Times without a zone name the line and ask for one; with the zone given they are read in it."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [float(k) for k in range(24)], suffix="")
    with pytest.raises(FileFormatError, match=r"w\.csv:2: .*has no zone; .*Europe/Paris"):
        read_weather(path, horizon=JUNE)
    weather, _ = read_weather(path, horizon=Horizon(JUNE.day, BERLIN), zone=BERLIN)
    assert weather.temperature_c.values.tolist() == list(range(24))


def test_mixed_and_unreadable_times_name_their_line(tmp_path: Path) -> None:
    """A row whose time has no zone among others that do, or is no time, is named by line, past blank lines."""
    path = tmp_path / "w.csv"
    path.write_text("time,temperature_c\n2024-06-01T00:00Z,1\n\n2024-06-01T01:00,2\n")
    with pytest.raises(FileFormatError, match=r"w\.csv:4: "):
        read_weather(path, horizon=JUNE)
    path.write_text("time,temperature_c\n2024-06-01T00:00Z,1\n\n2024-06-31T01:00Z,2\n")
    with pytest.raises(FileFormatError, match=r"w\.csv:4: cannot read '2024-06-31T01:00Z'"):
        read_weather(path, horizon=JUNE)


def test_repeated_time_and_bad_number_name_their_line(tmp_path: Path) -> None:
    """A time given twice and a cell that is no number are errors at their line."""
    path = tmp_path / "w.csv"
    path.write_text("time,temperature_c\n2024-06-01T00:00Z,1\n2024-06-01T00:00Z,2\n")
    with pytest.raises(FileFormatError, match=r"w\.csv:3: .*given twice"):
        read_weather(path, horizon=JUNE)
    path.write_text("time,temperature_c\n2024-06-01T00:00Z,1\n2024-06-01T01:00Z,warm\n")
    with pytest.raises(FileFormatError, match=r"w\.csv:3: temperature_c is 'warm'"):
        read_weather(path, horizon=JUNE)


def test_missing_column_suggests_the_near_one(tmp_path: Path) -> None:
    """A misspelt temperature column is named with the column that was probably meant."""
    path = tmp_path / "w.csv"
    path.write_text("time,temperature_C\n2024-06-01T00:00Z,1\n")
    with pytest.raises(FileFormatError, match="did you mean 'temperature_C'"):
        read_weather(path, horizon=JUNE)


@pytest.mark.parametrize("as_empty_cells", [True, False])
def test_three_hours_missing_are_filled_linearly(tmp_path: Path, as_empty_cells: bool) -> None:
    """Empty cells and absent rows are the same hole: 10 and 18 with three hours between give 12, 14, 16."""
    values: list[float | None] = [10.0] * 12 + [None] * 3 + [18.0] * 9
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", values)
    if not as_empty_cells:
        path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.endswith(",")))
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values[11:16].tolist() == [10.0, 12.0, 14.0, 16.0, 18.0]
    assert list(intake.repaired.values()) == [3]
    assert intake.kept == 21


def test_four_hours_missing_are_an_error_only_on_the_day_they_touch(tmp_path: Path) -> None:
    """A hole of four hours stops its own day with its bounds, and leaves the next day alone."""
    values: list[float | None] = [10.0] * 12 + [None] * 4 + [18.0] * 32
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", values)
    with pytest.raises(CoverageError, match=r"2024-06-01 12:00 UTC to 2024-06-01 16:00 UTC"):
        read_weather(path, horizon=JUNE)
    weather, intake = read_weather(path, horizon=JUNE.next_day())
    assert set(weather.temperature_c.values) == {18.0}
    assert not intake.repaired


def test_hole_over_midnight_counts_only_the_hours_of_the_day(tmp_path: Path) -> None:
    """23:00 to 01:00 missing between 10 (22:00) and 16 (01:00): 12 belongs to the day before, 14 to the day."""
    values: list[float | None] = [10.0] * 23 + [None] * 2 + [16.0] * 23
    path = weather_csv(tmp_path / "w.csv", "2024-05-31T00:00", values)
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values[:2].tolist() == [14.0, 16.0]
    assert list(intake.repaired.values()) == [1]


def test_hole_at_the_end_of_the_file_is_not_invented(tmp_path: Path) -> None:
    """A missing last hour has no neighbour after it, so it is an error however short."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [10.0] * 23 + [None])
    with pytest.raises(CoverageError, match="no value from 2024-06-01 23:00 UTC"):
        read_weather(path, horizon=JUNE)


def test_day_outside_the_file_names_covered_and_wanted(tmp_path: Path) -> None:
    """The error for a day that the file does not reach says what it covers and what is needed."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [10.0] * 24)
    with pytest.raises(
        CoverageError, match=r"covers 2024-06-01 00:00 UTC to 2024-06-02 00:00 UTC, .*needs 2024-06-02 00:00"
    ):
        read_weather(path, horizon=JUNE.next_day())


@pytest.mark.parametrize("value", [70.5, -90.5])
def test_impossible_temperature_is_refused(tmp_path: Path, value: float) -> None:
    """A temperature beyond any on earth is a wrong unit, and the error shows it."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [10.0] * 23 + [value])
    with pytest.raises(FileFormatError, match=rf"2024-06-01 23:00 UTC is {value} C"):
        read_weather(path, horizon=JUNE)


def test_three_hourly_rows_hold_three_hours(tmp_path: Path) -> None:
    """The usual distance of the rows is how long a value holds: eight rows make a day."""
    path = weather_csv(tmp_path / "w.csv", "2024-06-01T00:00", [float(k) for k in range(8)], step_h=3)
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.temperature_c.values.tolist() == list(range(8))
    assert not intake.repaired


@pytest.mark.parametrize("known", [2, 20])
def test_the_tail_of_a_forecast_may_have_longer_steps(tmp_path: Path, known: int) -> None:
    """Hours, then every third one: each value holds until the next, none is said to be filled; holes still are."""
    first = JUNE.start_unix - known * 86400
    times = [*range(first, JUNE.start_unix, 3600), *range(JUNE.start_unix, JUNE.start_unix + 3 * 86400, 3 * 3600)]
    rows = [f"{dt.datetime.fromtimestamp(time, dt.UTC):%Y-%m-%dT%H:%M}Z,{time // 3600 % 24}" for time in times]
    path = tmp_path / "w.csv"
    path.write_text("\n".join(["time,temperature_c", *rows]))
    weather, intake = read_weather(path, horizon=JUNE)
    assert (weather.temperature_c.values.tolist(), sum(intake.repaired.values())) == (list(range(0, 24, 3)), 0)
    path.write_text("\n".join(["time,temperature_c", *(row for row in rows if "06-01T12" not in row)]))
    weather, intake = read_weather(path, horizon=JUNE)
    assert (weather.temperature_c.values.tolist(), sum(intake.repaired.values())) == (list(range(0, 24, 3)), 1)


def test_optional_columns_and_negative_night_irradiance(tmp_path: Path) -> None:
    """Irradiance and wind are read where present; a pyranometer's -2 W/m2 at night is 0; dni stays absent."""
    rows = [f"2024-06-01T{k:02d}:00Z,10,{-2 if k < 6 else 100},3.5" for k in range(24)]
    path = tmp_path / "w.csv"
    path.write_text("time,temperature_c,ghi_w_per_m2,wind_m_per_s\n" + "\n".join(rows))
    weather, _ = read_weather(path, horizon=JUNE)
    assert weather.ghi_w_per_m2 is not None
    assert weather.ghi_w_per_m2.values.tolist() == [0.0] * 6 + [100.0] * 18
    assert weather.wind_m_per_s is not None
    assert set(weather.wind_m_per_s.values) == {3.5}
    assert weather.dni_w_per_m2 is None


def test_irradiance_with_a_long_hole_is_left_out_with_a_note(tmp_path: Path) -> None:
    """Temperature suffices to plan, so a long hole in irradiance drops it and says so."""
    rows = [f"2024-06-01T{k:02d}:00Z,10,{'' if 8 <= k < 12 else 100}" for k in range(24)]
    path = tmp_path / "w.csv"
    path.write_text("time,temperature_c,ghi_w_per_m2\n" + "\n".join(rows))
    weather, intake = read_weather(path, horizon=JUNE)
    assert weather.ghi_w_per_m2 is None
    assert any("not used: ghi of w.csv has no value from 2024-06-01 08:00 UTC" in note for note in intake.notes)


def test_naive_spring_day_of_23_hours(tmp_path: Path) -> None:
    """Europe/Berlin, 2024-03-31: a row at 02:00, which no clock shows, is left out, and 23 hours remain."""
    path = weather_csv(tmp_path / "w.csv", "2024-03-31T00:00", [float(k) for k in range(24)], suffix="")
    weather, intake = read_weather(path, horizon=Horizon(dt.date(2024, 3, 31), BERLIN), zone=BERLIN)
    assert weather.temperature_c.values.tolist() == [0, 1, *range(3, 24)]
    assert list(intake.dropped.values()) == [1]


def test_naive_autumn_day_of_25_hours(tmp_path: Path) -> None:
    """Europe/Berlin, 2024-10-27: 02:00 given twice is two hours; given once it holds for both, as a repair."""
    horizon = Horizon(dt.date(2024, 10, 27), BERLIN)
    path = weather_csv(tmp_path / "w.csv", "2024-10-27T00:00", [float(k) for k in range(24)], suffix="")
    weather, intake = read_weather(path, horizon=horizon, zone=BERLIN)
    assert weather.temperature_c.values.tolist() == [0, 1, 2, 2, *range(3, 24)]
    assert list(intake.repaired.values()) == [1]
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], "2024-10-27T02:00:00,2.5", *lines[4:]]))
    weather, intake = read_weather(path, horizon=horizon, zone=BERLIN)
    assert weather.temperature_c.values.tolist() == [0, 1, 2, 2.5, *range(3, 24)]
    assert not intake.repaired


def test_taken_day_keeps_the_local_clock(tmp_path: Path) -> None:
    """Winter's hours for a summer day: hour k of the clock on Jan 15 (UTC+1) at hour k on Jun 1 (UTC+2)."""
    path = weather_csv(tmp_path / "w.csv", "2024-01-15T00:00", [float(k) for k in range(24)], suffix="+01:00")
    weather, intake = read_weather(path, horizon=Horizon(dt.date(2024, 6, 1), BERLIN), taken_day=dt.date(2024, 1, 15))
    assert weather.temperature_c.values.tolist() == list(range(24))
    assert weather.taken_day == dt.date(2024, 1, 15)
    assert any("2024-01-15 stands in for 2024-06-01" in note for note in intake.notes)


def test_taken_day_on_days_of_23_and_25_hours(tmp_path: Path) -> None:
    """A day of 24 hours lends its clock: 02:00 is left out in spring and taken twice in autumn."""
    path = weather_csv(tmp_path / "w.csv", "2024-01-15T00:00", [float(k) for k in range(24)], suffix="+01:00")
    taken = dt.date(2024, 1, 15)
    spring, _ = read_weather(path, horizon=Horizon(dt.date(2024, 3, 31), BERLIN), taken_day=taken)
    autumn, _ = read_weather(path, horizon=Horizon(dt.date(2024, 10, 27), BERLIN), taken_day=taken)
    assert spring.temperature_c.values.tolist() == [0, 1, *range(3, 24)]
    assert autumn.temperature_c.values.tolist() == [0, 1, 2, 2, *range(3, 24)]


def test_unknown_kinds_of_file(tmp_path: Path) -> None:
    """A name that says nothing and a file that is not there are errors with a remedy."""
    path = tmp_path / "w.dat"
    path.write_text("")
    with pytest.raises(InputError, match="give the format"):
        read_weather(path, horizon=JUNE)
    with pytest.raises(InputError, match="no such file"):
        read_weather(tmp_path / "none.epw", horizon=JUNE)


def test_constant_weather() -> None:
    """One temperature over exactly the day, also one of 25 hours."""
    horizon = Horizon(dt.date(2024, 10, 27), BERLIN)
    weather = constant_weather(35.0, horizon)
    assert weather.temperature_c.values.tolist() == [35.0]
    assert np.diff(weather.temperature_c.edges_unix).tolist() == [25 * 3600]


def test_weather_checks_its_place() -> None:
    """Latitude and longitude outside the globe are refused with the value."""
    series = constant_weather(20.0, JUNE).temperature_c
    with pytest.raises(InputError, match="latitude is 91"):
        Weather("w", series, latitude_deg=91.0)
    with pytest.raises(InputError, match="longitude is -181"):
        Weather("w", series, longitude_deg=-181.0)


def test_a_row_of_long_ago_takes_no_memory(tmp_path: Path) -> None:
    """Thirty years before values a second apart are no billion rows; the day is read as without it."""
    path = tmp_path / "w.csv"
    day = [f"{time}:{second:02d}+00:00,7" for time in hours("2024-06-01T00:00", 48) for second in (0, 1)]
    path.write_text("\n".join(["time,temperature_c", "1994-01-01T00:00+00:00,3", *day]))
    tracemalloc.start()
    weather, _ = read_weather(path, horizon=JUNE)
    assert tracemalloc.get_traced_memory()[1] < 500e6
    tracemalloc.stop()
    assert set(weather.temperature_c.values.tolist()) == {7.0}


@pytest.mark.parametrize(("column", "value"), [("ghi_w_per_m2", 1e5), ("wind_m_per_s", 1e5)])
def test_other_quantities_are_bounded_too(tmp_path: Path, column: str, value: float) -> None:
    """Sunlight and wind that no place has are a wrong unit."""
    rows = [f"{time}+00:00,5,{value}" for time in hours("2024-06-01T00:00", 48)]
    (tmp_path / "w.csv").write_text("\n".join([f"time,temperature_c,{column}", *rows]))
    with pytest.raises(FileFormatError, match=r"w\.csv: the (irradiance|wind speed) at 2024-06-01 00:00 UTC is"):
        read_weather(tmp_path / "w.csv", horizon=JUNE)
