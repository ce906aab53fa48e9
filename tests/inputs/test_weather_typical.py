"""Typical years: EPW and TMY3 laid onto the planning year."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.errors import CoverageError, FileFormatError
from planner.inputs.weather import typical_year
from planner.inputs.weather.read import read_weather
from planner.inputs.weather.typical_year import sample_path
from planner.places import kept_folder

STANDARD = "Etc/GMT+5"  # UTC-5 all year, the sample's own standard time
HEADER = [
    "LOCATION,Town,-,FRA,made,000000,45.0,5.0,{zone},200.0",
    "DESIGN CONDITIONS,0",
    "TYPICAL/EXTREME PERIODS,0",
    "GROUND TEMPERATURES,0",
    "HOLIDAYS/DAYLIGHT SAVINGS,No,0,0,0",
    "COMMENTS 1,made by a test",
    "COMMENTS 2,",
    "DATA PERIODS,1,1,Data,Sunday,1/ 1,12/31",
]


def _temperature(month: int, day: int, hour: int) -> float:
    """A number that tells month, day and hour (1 to 24): 1.0 + 12 -> months, days and hours in decimals."""
    return month + day / 100 + hour / 10000


def _epw(path: Path, *, zone: float = 1.0, changes: dict[tuple[int, int, int], float] | None = None) -> Path:
    lines = [line.format(zone=zone) for line in HEADER]
    day = dt.date(2023, 1, 1)
    while day.year == 2023:
        # months of different years, as typical years have them; 2012 had a leap day that the file leaves out
        year = 2012 if day.month == 2 else 2005
        for hour in range(1, 25):
            value = (changes or {}).get((day.month, day.day, hour), _temperature(day.month, day.day, hour))
            rest = "10,50,101000,0,0,300,5,6,7,0,0,0,0,180,2.5,5,5,10,77777,9,999999999,10,0.1,0,88,0.2,0,0"
            lines.append(f"{year},{day.month},{day.day},{hour},60,?9,{value},{rest}")
        day += dt.timedelta(days=1)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_epw_hour_k_is_the_hour_that_ends_at_k(tmp_path: Path) -> None:
    """In the file's own standard time, hour 1 of Jun 15 is its first hour and hour 24 its last."""
    weather, _ = read_weather(_epw(tmp_path / "t.epw"), horizon=Horizon(dt.date(2024, 6, 15), "Etc/GMT-1"))
    assert weather.temperature_c.values.tolist() == [_temperature(6, 15, hour) for hour in range(1, 25)]
    assert (weather.latitude_deg, weather.longitude_deg, weather.altitude_m) == (45.0, 5.0, 200.0)
    for series, value in (
        (weather.ghi_w_per_m2, 5),
        (weather.dni_w_per_m2, 6),
        (weather.dhi_w_per_m2, 7),
        (weather.wind_m_per_s, 2.5),
    ):
        assert series is not None
        assert set(series.values) == {value}


def test_summer_day_starts_an_hour_earlier_in_standard_time(tmp_path: Path) -> None:
    """Paris is at UTC+2 in June and the file at UTC+1: the day runs from hour 24 of Jun 14 to 23 of Jun 15."""
    weather, _ = read_weather(_epw(tmp_path / "t.epw"), horizon=Horizon(dt.date(2024, 6, 15), "Europe/Paris"))
    expected = [_temperature(6, 14, 24), *(_temperature(6, 15, hour) for hour in range(1, 24))]
    assert weather.temperature_c.values.tolist() == expected


def test_year_wraps_at_both_ends(tmp_path: Path) -> None:
    """A site east of the file needs Dec 31 before Jan 1, one west of it Jan 1 after Dec 31."""
    path = _epw(tmp_path / "t.epw")
    # Kiev is at UTC+2 in winter: its Jan 1 starts with the last hour of the file's Dec 31
    east, _ = read_weather(path, horizon=Horizon(dt.date(2025, 1, 1), "Europe/Kiev"))
    assert east.temperature_c.values[:2].tolist() == [_temperature(12, 31, 24), _temperature(1, 1, 1)]
    # London is at UTC+0: its Dec 31 ends with the first hour of the file's Jan 1
    west, _ = read_weather(path, horizon=Horizon(dt.date(2024, 12, 31), "Europe/London"))
    assert west.temperature_c.values[-2:].tolist() == [_temperature(12, 31, 24), _temperature(1, 1, 1)]


def test_leap_day_takes_the_day_before(tmp_path: Path) -> None:
    """Feb 29 has the hours of Feb 28, and Mar 1 keeps its own."""
    path = _epw(tmp_path / "t.epw")
    leap, _ = read_weather(path, horizon=Horizon(dt.date(2024, 2, 29), "Etc/GMT-1"))
    march, _ = read_weather(path, horizon=Horizon(dt.date(2024, 3, 1), "Etc/GMT-1"))
    assert leap.temperature_c.values.tolist() == [_temperature(2, 28, hour) for hour in range(1, 25)]
    assert march.temperature_c.values.tolist() == [_temperature(3, 1, hour) for hour in range(1, 25)]


def test_days_of_23_and_25_hours(tmp_path: Path) -> None:
    """Standard time has no clock change: the days simply are an hour shorter and longer in it."""
    path = _epw(tmp_path / "t.epw")
    spring, _ = read_weather(path, horizon=Horizon(dt.date(2024, 3, 31), "Europe/Paris"))
    autumn, _ = read_weather(path, horizon=Horizon(dt.date(2024, 10, 27), "Europe/Paris"))
    # spring starts at UTC+1, hour 1, and ends at 22:00 UTC = 23:00 UTC+1: hours 1 to 23
    assert spring.temperature_c.values.tolist() == [_temperature(3, 31, hour) for hour in range(1, 24)]
    # autumn starts at UTC+2: hour 24 of the day before, then all 24
    expected = [_temperature(10, 26, 24), *(_temperature(10, 27, hour) for hour in range(1, 25))]
    assert autumn.temperature_c.values.tolist() == expected


def test_half_hour_zone_keeps_its_edges(tmp_path: Path) -> None:
    """A file at UTC+5.5 read for a day at UTC+5.5 (Kolkata) gives its 24 hours, cut at full local hours."""
    path = _epw(tmp_path / "t.epw", zone=5.5)
    horizon = Horizon(dt.date(2024, 6, 15), "Asia/Kolkata")
    weather, _ = read_weather(path, horizon=horizon)
    assert weather.temperature_c.values.tolist() == [_temperature(6, 15, hour) for hour in range(1, 25)]
    assert ((weather.temperature_c.edges_unix - horizon.start_unix) % 3600 == 0).all()


def test_missing_code_is_a_hole(tmp_path: Path) -> None:
    """99.9 is EPW's code for a missing temperature: one is filled (10 and 20 give 15), four are an error."""
    path = _epw(tmp_path / "t.epw", changes={(6, 15, 11): 10, (6, 15, 12): 99.9, (6, 15, 13): 20})
    horizon = Horizon(dt.date(2024, 6, 15), "Etc/GMT-1")
    weather, intake = read_weather(path, horizon=horizon)
    assert weather.temperature_c.values[10:13].tolist() == [10.0, 15.0, 20.0]
    assert list(intake.repaired.values()) == [1]
    _epw(path, changes={(6, 15, hour): 99.9 for hour in range(8, 12)})
    with pytest.raises(CoverageError, match="2024-06-15 06:00 UTC to 2024-06-15 10:00 UTC"):
        read_weather(path, horizon=horizon)


def test_taken_day_chooses_the_season(tmp_path: Path) -> None:
    """July's weather for a January day: the same clock, so in Paris one hour earlier in standard time."""
    weather, _ = read_weather(
        _epw(tmp_path / "t.epw"),
        horizon=Horizon(dt.date(2024, 1, 10), "Europe/Paris"),
        taken_day=dt.date(2024, 7, 20),
    )
    expected = [_temperature(7, 19, 24), *(_temperature(7, 20, hour) for hour in range(1, 24))]
    assert weather.temperature_c.values.tolist() == expected


def test_broken_epw_files_are_named(tmp_path: Path) -> None:
    """A file that is no EPW, an impossible hour and an hour given twice are errors, with their line."""
    path = tmp_path / "t.epw"
    path.write_text("hello\n")
    with pytest.raises(FileFormatError, match=r"t\.epw:1: does not start with LOCATION"):
        read_weather(path, horizon=Horizon(dt.date(2024, 6, 15), "UTC"))
    lines = _epw(path).read_text().splitlines()
    # line 9 is the first of the data: hour 1 of Jan 1
    path.write_text("\n".join([*lines[:9], lines[8], *lines[10:]]))
    with pytest.raises(FileFormatError, match=r"t\.epw:10: month 1, day 1, hour 1 is given again"):
        read_weather(path, horizon=Horizon(dt.date(2024, 6, 15), "UTC"))
    path.write_text("\n".join([*lines[:9], lines[9].replace("2005,1,1,2,", "2005,1,1,25,"), *lines[10:]]))
    with pytest.raises(FileFormatError, match=r"t\.epw"):
        read_weather(path, horizon=Horizon(dt.date(2024, 6, 15), "UTC"))
    path.write_text("\n".join([*lines[:9], lines[9].replace(",1.0102,", ",warm,"), *lines[10:]]))
    with pytest.raises(FileFormatError, match=r"temp_air is missing or has something that is not a number"):
        read_weather(path, horizon=Horizon(dt.date(2024, 6, 15), "UTC"))


def test_sample_hours_end_at_their_label() -> None:
    """Greensboro's Jan 1 reads 10.0 at 01:00 and 02:00, Dec 31 2.8 at 23:00 and 2.2 at 24:00 in the file."""
    first, intake = read_weather("sample", horizon=Horizon(dt.date(2023, 1, 1), STANDARD))
    last, _ = read_weather("sample", horizon=Horizon(dt.date(2023, 12, 31), STANDARD))
    assert first.temperature_c.values[:2].tolist() == [10.0, 10.0]
    assert last.temperature_c.values[-2:].tolist() == [2.8, 2.2]
    assert (first.latitude_deg, first.longitude_deg, first.altitude_m) == (36.1, -79.95, 273.0)
    assert (intake.source, intake.kept) == ("sample", 24)


def test_sample_covers_every_day_of_a_leap_year() -> None:
    """No day of 2024 in the site's own zone lacks an hour, clock changes and Feb 29 included."""
    lengths = set()
    for month, day in [(1, 1), (2, 28), (2, 29), (3, 1), (3, 10), (7, 4), (11, 3), (12, 31)]:
        weather, intake = read_weather("sample", horizon=Horizon(dt.date(2024, month, day), "America/New_York"))
        lengths.add(len(weather.temperature_c.values))
        assert not intake.repaired
    assert lengths == {23, 24, 25}


def test_tmy3_is_told_from_its_second_line(tmp_path: Path) -> None:
    """A TMY3 file ends in .csv as plain tables do, and is recognised; a cut one is an error that names it."""
    from planner.inputs.weather.typical_year import sample_path

    text = sample_path().read_text()
    path = tmp_path / "town.csv"
    path.write_text(text)
    horizon = Horizon(dt.date(2024, 6, 1), STANDARD)
    named, _ = read_weather(path, horizon=horizon)
    sample, _ = read_weather("sample", horizon=horizon)
    assert named.temperature_c.values.tolist() == sample.temperature_c.values.tolist()
    path.write_text("\n".join(text.splitlines()[:500]))
    with pytest.raises(CoverageError, match=r"temperature of town\.csv has no value"):
        read_weather(path, horizon=horizon)


@pytest.mark.parametrize(
    ("file", "coldest_c", "hottest_c"),
    [
        ("FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz", -5.6, 37.7),
        ("tmy_45.000_8.000_2005_2023.epw.gz", -2.3, 34.3),
    ],
)
def test_real_epw_files(planner_data: Path, file: str, coldest_c: float, hottest_c: float) -> None:
    """Both typical years give every month a day within their known extremes, with irradiance and place."""
    for month in range(1, 13):
        weather, intake = read_weather(
            planner_data / "weather" / file, horizon=Horizon(dt.date(2012, month, 15), "Europe/Rome")
        )
        values = weather.temperature_c.values
        assert len(values) == 24
        assert coldest_c - 0.06 <= values.min() <= values.max() <= hottest_c + 0.06
        assert weather.dni_w_per_m2 is not None
        assert weather.latitude_deg is not None
        assert intake.kept == 24


def test_lyon_first_hour(planner_data: Path) -> None:
    """Lyon's first row, hour 1 of Jan 1, reads 0.0 C and the second 2.0; Paris is at the file's UTC+1 then."""
    path = planner_data / "weather" / "FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz"
    weather, _ = read_weather(path, horizon=Horizon(dt.date(2012, 1, 1), "Europe/Paris"))
    assert weather.temperature_c.values[:3].tolist() == [0.0, 2.0, 1.9]


def test_a_year_read_before_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of a file is what was read; a damaged keep is read again."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kept_folder.cache_clear()
    typical_year._kept.cache_clear()
    first = typical_year.read_tmy3(sample_path(), "sample")
    (kept,) = tmp_path.rglob("*.npz")
    for damage in (None, b"", kept.read_bytes()[:1000]):
        if damage is not None:
            kept.write_bytes(damage)
        typical_year._kept.cache_clear()
        again = typical_year.read_tmy3(sample_path(), "other name")
        assert again == replace(first, name="other name", values=again.values)
        for quantity, values in first.values.items():
            assert np.array_equal(values, again.values[quantity], equal_nan=True)
    typical_year._kept.cache_clear()
    kept_folder.cache_clear()
