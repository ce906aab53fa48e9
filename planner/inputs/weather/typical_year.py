"""Typical-year weather (EPW, TMY3) through pvlib, laid onto the year of the planning day."""

from __future__ import annotations

import calendar
import datetime as dt
import hashlib
import importlib.util
import io
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from planner.domain.horizon import Horizon
from planner.errors import FileFormatError, InputError
from planner.inputs.timed_csv import Samples
from planner.inputs.weather.weather_csv import WeatherFile, read_text
from planner.limits import UTC_OFFSET_S
from planner.places import kept_folder
from planner.scenario.words import Season
from planner.units import PA_PER_HPA, SECONDS_PER_HOUR

if TYPE_CHECKING:
    import pandas as pd

QUANTITIES = {
    "temperature_c": "temp_air",
    "ghi_w_per_m2": "ghi",
    "dni_w_per_m2": "dni",
    "dhi_w_per_m2": "dhi",
    "wind_m_per_s": "wind_speed",
}
"""Our quantities and pvlib's names for them."""
EPW_QUANTITIES = {**QUANTITIES, "humidity_percent": "relative_humidity", "pressure_hpa": "atmospheric_pressure"}
TMY3_QUANTITIES = {**QUANTITIES, "humidity_percent": "relative_humidity", "pressure_hpa": "pressure"}

# EnergyPlus, Auxiliary Programs, "EnergyPlus Weather File (EPW) Data Dictionary"
EPW_MISSING = {
    **{"temp_air": 99.9, "ghi": 9999.0, "dni": 9999.0, "dhi": 9999.0, "wind_speed": 999.0},
    **{"relative_humidity": 999.0, "atmospheric_pressure": 999999.0},
}
TMY3_MISSING = -9900.0
"""Wilcox and Marion, Users Manual for TMY3 Data Sets, NREL/TP-581-43156 (2008), table 1-7."""

HOURS_OF_LEAP_YEAR = 8784
# hours of a leap year before each month
_BEFORE_MONTH = 24 * np.cumsum([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30])
_FEB_28, _FEB_29 = (slice(24 * first, 24 * first + 24) for first in (58, 59))
_EPW_FIRST_LINE, _TMY3_FIRST_LINE = 9, 3
# pvlib and pandas check little before they convert, so a damaged file ends in any of these
_PVLIB_FAILS = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError)

SEASONS: dict[Season, tuple[int, int, int]] = {
    "winter": (12, 1, 2),
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "autumn": (9, 10, 11),
}
"""Months of the meteorological seasons of the northern half of the earth."""


def day_in_season(day: dt.date, season: Season) -> dt.date:
    """The day of a season that stands in for a day.

    It is the same day of the month, in the month at the same place of its season: 7 August, in the last month of
    summer, gets the weather of 7 February for winter. The last days of long months get the last day of a short one.
    A day of the season itself gets its own weather.
    """
    month = SEASONS[season][day.month % 3]
    last = calendar.monthrange(day.year, month)[1]
    return dt.date(day.year, month, min(day.day, last))


def read_epw(path: Path, name: str) -> TypicalYear:
    """Read an EnergyPlus weather file.

    Hour k of a row is the hour that ends at k o'clock local standard time. pvlib labels that row k - 1, the
    start of the hour, keeps the years of the months as they are and leaves missing codes in place; here the
    month, day and hour of the file are used, and the codes become holes.
    """
    return _kept(path, name, read_text(path), _epw_year)


def read_tmy3(path: Path, name: str) -> TypicalYear:
    """Read a TMY3 file.

    Hour k of a row is the hour that ends at k o'clock local standard time. pvlib labels that row k, the end
    of the hour (24:00 as 00:00 of the next day, and Feb 29 moved to Mar 1); here the date and hour of the
    file are used.
    """
    return _kept(path, name, read_text(path), _tmy3_year)


def _epw_year(path: Path, name: str, text: str) -> TypicalYear:
    """The year in the text of a file."""
    from pvlib.iotools import read_epw as pvlib_read_epw

    if not text.startswith("LOCATION"):
        raise FileFormatError(path, "does not start with LOCATION", line=1, remedy="give an EPW file")
    try:
        with _silent():
            frame, meta = pvlib_read_epw(io.StringIO(text))
            clock = frame[["month", "day", "hour"]].to_numpy(np.int64)
    except _PVLIB_FAILS as error:
        raise FileFormatError(path, f"pvlib cannot read it ({error})", remedy="give a whole EPW file") from error
    values = {quantity: _numbers(path, frame, column) for quantity, column in EPW_QUANTITIES.items()}
    for quantity, column in EPW_QUANTITIES.items():
        values[quantity][np.isclose(values[quantity], EPW_MISSING[column])] = np.nan
    values["pressure_hpa"] /= PA_PER_HPA
    return _year(path, name, clock, values, meta, _EPW_FIRST_LINE)


def _tmy3_year(path: Path, name: str, text: str) -> TypicalYear:
    """The year in the text of a file."""
    from pvlib.iotools import read_tmy3 as pvlib_read_tmy3

    try:
        with _silent():
            frame, meta = pvlib_read_tmy3(io.StringIO(text), map_variables=True)
            date = frame["Date (MM/DD/YYYY)"].str.split("/", expand=True)
            hour = frame["Time (HH:MM)"].str.split(":", expand=True)[0]
            clock = np.column_stack([part.to_numpy(str).astype(np.int64) for part in (date[0], date[1], hour)])
    except _PVLIB_FAILS as error:
        raise FileFormatError(path, f"pvlib cannot read it ({error})", remedy="give a whole TMY3 file") from error
    values = {quantity: _numbers(path, frame, column) for quantity, column in TMY3_QUANTITIES.items()}
    for numbers in values.values():
        numbers[numbers <= TMY3_MISSING] = np.nan
    return _year(path, name, clock, values, meta, _TMY3_FIRST_LINE)


def sample_path() -> Path:
    """Greensboro, North Carolina: the TMY3 file inside the pvlib package (UTC-5)."""
    found = importlib.util.find_spec("pvlib")
    if found is None or not found.submodule_search_locations:
        raise InputError("the sample weather is inside the pvlib package, which is missing; install the planner again")
    return Path(found.submodule_search_locations[0]) / "data" / "723170TYA.CSV"


@dataclass(frozen=True)
class TypicalYear:
    """Hourly values of a year without a number, in local standard time.

    ``values[quantity][h]`` holds for hour h of a leap year that starts on Jan 1 at 00:00; NaN where missing.
    """

    name: str
    offset_s: int
    values: Mapping[str, npt.NDArray[np.float64]]
    latitude_deg: float
    longitude_deg: float
    altitude_m: float

    def around(self, horizon: Horizon, taken_day: dt.date | None) -> WeatherFile:
        """The year laid over the days around the planning day, or around the date taken in its place.

        Each hour of standard time takes the value of its month, day and hour, so that Dec 31 and Jan 1 meet.
        """
        # two days more on either side: room for any zone, and neighbours for holes at the edge
        day = dt.datetime.combine(taken_day or horizon.day, dt.time(), tzinfo=dt.UTC)
        first_s = int((day - dt.timedelta(days=2)).timestamp())
        clock_s = first_s + SECONDS_PER_HOUR * np.arange(5 * 24, dtype=np.int64)
        days = clock_s.astype("datetime64[s]").astype("datetime64[D]")
        months = days.astype("datetime64[M]")
        hours = _hour_of_year(
            months.astype(np.int64) % 12 + 1, (days - months).astype(np.int64) + 1, clock_s // SECONDS_PER_HOUR % 24
        )
        samples = {
            quantity: Samples(f"{quantity.partition('_')[0]} of {self.name}", clock_s - self.offset_s, year[hours])
            for quantity, year in self.values.items()
        }
        return WeatherFile(
            samples,
            self.latitude_deg,
            self.longitude_deg,
            self.altitude_m,
            notes=(f"typical year in UTC{self.offset_s / SECONDS_PER_HOUR:+g}, by month, day and hour",),
        )


@lru_cache(maxsize=2)
def _kept(path: Path, name: str, text: str, read: Callable[[Path, str, str], TypicalYear]) -> TypicalYear:
    """The year in the text of a file, read once for all days of a run and kept for later runs.

    Loading pvlib and reading a year takes about a second, half of the time before a search can start.
    """
    folder = kept_folder(Path(__file__).parent)
    if folder is None:
        return read(path, name, text)
    kept = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-pvlib-{version('pvlib')}.npz"
    try:
        with np.load(kept) as found:
            offset_s, *place = found["place"].tolist()
            return TypicalYear(
                name, round(offset_s), {quantity: found[quantity] for quantity in EPW_QUANTITIES}, *place
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        year = read(path, name, text)
    place = [year.offset_s, year.latitude_deg, year.longitude_deg, year.altitude_m]
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=folder, suffix=".npz", delete=False) as file:
        np.savez(file, allow_pickle=False, place=place, **year.values)
        file.close()
        Path(file.name).replace(kept)
    return year


def _year(
    path: Path,
    name: str,
    clock: npt.NDArray[np.int64],
    values: Mapping[str, npt.NDArray[np.float64]],
    meta: Mapping[str, Any],
    first_line: int,
) -> TypicalYear:
    month, day, hour = clock.T
    wrong = np.flatnonzero((month < 1) | (month > 12) | (day < 1) | (day > 31) | (hour < 0) | (hour > 24))
    if wrong.size:
        row = int(wrong[0])
        raise FileFormatError(
            path,
            f"month {month[row]}, day {day[row]}, hour {hour[row]} is no time",
            line=first_line + row,
            remedy="months run to 12, hours from 1 to 24",
        )
    # hour k ends at k o'clock, so it is hour k - 1 from midnight; 0 o'clock on Jan 1 ends the year
    hours = _hour_of_year(month, day, hour - 1)
    first_seen = np.full(HOURS_OF_LEAP_YEAR, -1)
    rows = np.arange(len(hours))
    first_seen[hours[::-1]] = rows[::-1]
    again = np.flatnonzero(first_seen[hours] != rows)
    if again.size:
        row = int(again[0])
        raise FileFormatError(
            path,
            f"month {month[row]}, day {day[row]}, hour {hour[row]} is given again",
            line=first_line + row,
            remedy="give one row for each hour of one year",
        )
    laid = {}
    for quantity, numbers in values.items():
        year = np.full(HOURS_OF_LEAP_YEAR, np.nan)
        year[hours] = numbers
        if np.all(first_seen[_FEB_29] < 0):
            year[_FEB_29] = year[_FEB_28]
        laid[quantity] = year
    zone, *place = (_meta(path, meta, key) for key in ("TZ", "latitude", "longitude", "altitude"))
    UTC_OFFSET_S.require(f"{path}: the offset of its times from UTC", zone * SECONDS_PER_HOUR)
    return TypicalYear(name, round(zone * SECONDS_PER_HOUR), laid, *place)


def _meta(path: Path, meta: Mapping[str, Any], key: str) -> float:
    try:
        return float(meta[key])
    except (ValueError, TypeError, KeyError) as error:
        problem = f"its {key} is missing or not a number"
        raise FileFormatError(path, problem, line=1, remedy="repair the file") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Without the warnings of libraries about what is in a file: that is for us to tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _hour_of_year(
    month: npt.NDArray[np.int64], day: npt.NDArray[np.int64], hour: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    hours: npt.NDArray[np.int64] = (_BEFORE_MONTH[month - 1] + 24 * (day - 1) + hour) % HOURS_OF_LEAP_YEAR
    return hours


def _numbers(path: Path, frame: pd.DataFrame, column: str) -> npt.NDArray[np.float64]:
    if column not in frame and column not in QUANTITIES.values():
        return np.full(len(frame), np.nan)  # of use to some sites only
    try:
        return frame[column].to_numpy(np.float64, copy=True)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(
            path, f"its {column} is missing or has something that is not a number", remedy="repair the file"
        ) from error
