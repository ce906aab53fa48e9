"""The planning day's weather, from whichever kind of file a site has, and a season's weather for any day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from planner import limits
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.segment import StepSeries, Weather, mean_series
from planner.errors import CoverageError, FileFormatError, InputError
from planner.inputs.local_times import clock_shifts
from planner.inputs.timed_csv import Samples
from planner.inputs.weather.open_meteo import read_open_meteo
from planner.inputs.weather.typical_year import day_in_season, read_epw, read_tmy3, sample_path
from planner.inputs.weather.weather_csv import OF_HUMIDITY, is_tmy3, read_weather_csv
from planner.printable import shortened
from planner.scenario.weather_cooling import ConstantWeather, SampleWeather
from planner.scenario.weather_cooling import Weather as WeatherChoice
from planner.scenario.words import WeatherFormat
from planner.text_files import require_file
from planner.units import SECONDS_PER_HOUR, utc_minute

SAMPLE = "sample"
BY_CLOUDS = (
    "no irradiance: photovoltaics, where there are any, go by cloud cover; over the sample's year that is off by 4 % in"
    " all, 13 % a day and 20 % an hour"
)
LONGEST_FILLED_S = 3 * SECONDS_PER_HOUR
_BOUNDS = {
    "temperature_c": limits.TEMPERATURE_C,
    "ghi_w_per_m2": limits.IRRADIANCE_W_PER_M2,
    "dni_w_per_m2": limits.IRRADIANCE_W_PER_M2,
    "dhi_w_per_m2": limits.IRRADIANCE_W_PER_M2,
    "wind_m_per_s": limits.WIND_M_PER_S,
    "cloud_percent": limits.CLOUD_PERCENT,
    "humidity_percent": limits.HUMIDITY_PERCENT,
    "pressure_hpa": limits.PRESSURE_HPA,
}
_WORDS = {
    "temperature_c": "temperature",
    "wind_m_per_s": "wind speed",
    "cloud_percent": "cloud cover",
    "humidity_percent": "humidity",
    "pressure_hpa": "pressure",
}
FORMATS: tuple[str, ...] = get_args(WeatherFormat)
YEARS = {"epw": read_epw, "tmy3": read_tmy3}
"""Readers of a typical year."""
DATED = {"open-meteo": read_open_meteo, "csv": read_weather_csv}
"""Readers of weather with dates."""


def weather_of(choice: WeatherChoice, horizon: Horizon, *, humidity: bool = False) -> tuple[Weather, Intake]:
    """The weather of a planning day by the ``weather:`` of a scenario, with humidity and pressure where wanted."""
    if isinstance(choice, ConstantWeather):
        return constant_weather(choice.temperature_c, horizon), Intake("constant weather", kept=1)
    taken_day = None
    if choice.period is not None:
        taken_day = choice.period.taken + (horizon.day - choice.period.planned)
    elif choice.season is not None:
        taken_day = day_in_season(horizon.day, choice.season)
    if isinstance(choice, SampleWeather):
        return read_weather(SAMPLE, horizon=horizon, taken_day=taken_day, humidity=humidity)
    weather, intake = read_weather(
        choice.source,
        horizon=horizon,
        format=choice.format,
        zone=choice.zone,
        taken_day=taken_day,
        humidity=humidity,
        members=choice.members or (),
    )
    if choice.latitude_deg is not None:
        weather = replace(weather, latitude_deg=choice.latitude_deg, longitude_deg=choice.longitude_deg)
    if choice.altitude_m is not None:
        weather = replace(weather, altitude_m=choice.altitude_m)
    return weather, intake


def read_weather(
    source: Path | str,
    *,
    horizon: Horizon,
    format: str = "auto",
    zone: str | None = None,
    taken_day: dt.date | None = None,
    humidity: bool = False,
    members: Sequence[str] = (),
) -> tuple[Weather, Intake]:
    """Read the weather over exactly the planning day, and what was kept and repaired for it.

    The source is a file (plain, .gz or .xz), or ``sample``: Greensboro's typical year, which pvlib ships. The format
    ``auto`` is told from the name and the second line. ``zone`` is that of times that a CSV or Open-Meteo file writes
    without one; EPW and TMY3 files carry their own. ``taken_day`` is another date whose weather to take, at the same
    local clock time: a season for the day. Of ``members``, columns of temperatures of a forecast or patterns of them,
    the temperature is the mean. Without ``humidity`` that and pressure are left alone, whatever they are.

    Holes of up to 3 h are filled linearly. A longer one is an error in the temperature, and makes any other quantity
    absent, with a note. In EPW and TMY3 files hour k is the hour that ends at k o'clock.
    """
    path = sample_path() if str(source) == SAMPLE else Path(source)
    name = SAMPLE if str(source) == SAMPLE else path.name
    require_file(path)
    kind = _format_of(path) if format == "auto" else format
    if kind in DATED:
        file = DATED[kind](path, name, zone, members)
    elif members:
        raise FileFormatError(
            path, "is a typical year, without members", remedy="give a CSV or Open-Meteo file, or leave members out"
        )
    else:
        file = YEARS[kind](path, name).around(horizon, taken_day)
    wanted = {name: samples for name, samples in file.samples.items() if humidity or name not in OF_HUMIDITY}
    if file.members:
        wanted.pop("temperature_c", None)
    for quantity, samples in [*wanted.items(), *(("temperature_c", samples) for samples in file.members.values())]:
        _check_values(path, quantity, samples)

    stretches = clock_shifts(horizon, taken_day)
    intake = Intake(name, notes=list(file.notes))
    intake.dropped.update(file.dropped)
    intake.repaired.update(file.repaired)
    series: dict[str, StepSeries] = {}
    for quantity, samples in wanted.items():
        if np.all(np.isnan(samples.values)):
            continue
        try:
            steps, filled = samples.on(stretches, fill_s=LONGEST_FILLED_S)
        except CoverageError as error:
            if quantity == "temperature_c":
                raise
            intake.notes.append(f"not used: {error}")
            continue
        series[quantity] = steps
        if filled:
            intake.repaired[f"{quantity} missing: filled between its neighbours"] += filled
        if quantity == "temperature_c":
            intake.kept = len(steps.values) - filled
    if file.members:
        found = [samples.on(stretches, fill_s=LONGEST_FILLED_S) for samples in file.members.values()]
        series["temperature_c"] = mean_series(f"mean temperature of {name}", [steps for steps, _ in found])
        filled = sum(count for _, count in found)
        intake.kept = sum(len(steps.values) for steps, _ in found) - filled
        if filled:
            intake.repaired["temperature_c missing: filled between its neighbours"] += filled
        intake.notes.append(f"mean of {len(found)} members: {shortened(', '.join(file.members), 200)}")
    if "cloud_percent" in series and "ghi_w_per_m2" not in series:
        intake.notes.append(BY_CLOUDS)
    if taken_day is not None:
        intake.notes.append(f"the weather of {taken_day} stands in for {horizon.day}")
    if "temperature_c" not in series:
        raise CoverageError(f"temperature of {name} has no values at all; give another source")
    temperature_c = series.pop("temperature_c")
    # Pyranometers read a little below zero at night; power from that would be negative.
    others: dict[str, Any] = {
        quantity: StepSeries(steps.what, steps.edges_unix, np.maximum(steps.values, 0.0))
        for quantity, steps in series.items()
    }
    return Weather(
        source=name,
        temperature_c=temperature_c,
        **others,
        latitude_deg=file.latitude_deg,
        longitude_deg=file.longitude_deg,
        altitude_m=file.altitude_m,
        members=tuple(file.members),
        taken_day=taken_day,
    ), intake


def constant_weather(temperature_c: float, horizon: Horizon) -> Weather:
    """One temperature [C] all day: for tests and for questions of the kind "what if it were 35 C"."""
    what = f"constant temperature {temperature_c:g} C"
    return Weather(what, StepSeries.constant(what, temperature_c, horizon.start_unix, horizon.end_unix))


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".xz")]
    match suffixes[-1] if suffixes else "":
        case ".epw":
            return "epw"
        case ".json":
            return "open-meteo"
        case ".csv":
            return "tmy3" if is_tmy3(path) else "csv"
    raise InputError(
        f"{path}: cannot tell the kind of weather file from its name; end it in .epw, .json or .csv, or give"
        f" the format: {', '.join(FORMATS[1:])}"
    )


def _check_values(path: Path, quantity: str, samples: Samples) -> None:
    limits = _BOUNDS[quantity]
    wrong = np.flatnonzero((samples.values < limits.low) | (samples.values > limits.high))
    if wrong.size:
        value = float(samples.values[wrong[0]])
        when = utc_minute(samples.starts_unix[wrong[0]])
        what, unit = _WORDS.get(quantity, "irradiance"), limits.unit
        raise FileFormatError(
            path,
            f"the {what} at {when} is {value:g} {unit}",
            remedy=f"give {what}s {limits}; for a missing one leave it empty",
        )
