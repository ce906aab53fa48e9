"""Weather of real years: Open-Meteo's JSON and plain CSV."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.domain.horizon import zone_named
from planner.errors import FileFormatError
from planner.readers.files import open_text
from planner.readers.local_times import Moments, unix_moments
from planner.readers.prices.hourly_csv import read_timed_csv
from planner.readers.weather.samples import Samples

CSV_COLUMNS = ("temperature_c", "ghi_w_per_m2", "dni_w_per_m2", "dhi_w_per_m2", "wind_m_per_s")

OPEN_METEO_COLUMNS = {
    "temperature_2m": "temperature_c",
    "shortwave_radiation": "ghi_w_per_m2",
    "direct_normal_irradiance": "dni_w_per_m2",
    "diffuse_radiation": "dhi_w_per_m2",
    "wind_speed_10m": "wind_m_per_s",
    "windspeed_10m": "wind_m_per_s",
}
_FACTORS = {"km/h": 1 / 3.6, "m/s": 1.0, "mp/h": 0.44704, "kn": 0.514444, "W/m²": 1.0, "°C": 1.0}


@dataclass(frozen=True)
class WeatherFile:
    """What a weather file says: samples by quantity, the place, and what reading it changed."""

    samples: Mapping[str, Samples]
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float | None = None
    notes: tuple[str, ...] = ()
    repaired: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


def read_weather_csv(path: Path, name: str, zone: str | None) -> WeatherFile:
    """Read a CSV with a time and ``temperature_c``; each value holds from its time on.

    Optional columns are ``ghi_w_per_m2``, ``dni_w_per_m2``, ``dhi_w_per_m2`` and ``wind_m_per_s``.
    """
    table = read_timed_csv(path, zone=zone)
    table.column("temperature_c")
    samples = {column: table.samples(column, _what(column, name)) for column in CSV_COLUMNS if column in table.names}
    repaired, dropped = _clock_changes(table.moments)
    return WeatherFile(samples, repaired=repaired, dropped=dropped)


def read_open_meteo(path: Path, name: str, zone: str | None) -> WeatherFile:
    """Read the hourly part of an answer of the Open-Meteo API (forecast or archive) [1]_.

    Temperature and wind hold from their time on. Radiation is the mean of the hour before its time [2]_, so
    it is laid there; the file's last hour, which no later row describes, takes the value before it.

    Times without a zone are in the fixed offset ``utc_offset_seconds``: the service does not change its clock
    within an answer, even where ``timezone`` does [3]_. Only when the times themselves leave out or repeat
    the hour of a clock change are they read in ``timezone``. The ``zone`` argument overrules both.

    References
    ----------
    .. [1] https://open-meteo.com/en/docs
    .. [2] "Improved solar radiation forecast", https://openmeteo.substack.com
    .. [3] https://github.com/open-meteo/open-meteo/issues/261
    """
    try:
        with open_text(path) as stream:
            document: Any = json.load(stream)
    except json.JSONDecodeError as error:
        raise FileFormatError(path, f"is not JSON ({error})", remedy="save the API's answer as it came") from error
    hourly = document.get("hourly") if isinstance(document, dict) else None
    if not isinstance(hourly, dict) or not isinstance(hourly.get("time"), list) or not hourly["time"]:
        raise FileFormatError(path, "has no hourly.time", remedy="ask the API for hourly=temperature_2m")
    if "temperature_2m" not in hourly:
        raise FileFormatError(path, "has no hourly.temperature_2m", remedy="ask the API for it")
    moments, note = _open_meteo_moments(path, document, hourly["time"], zone)
    repaired, dropped = _clock_changes(moments)
    units = document.get("hourly_units") or {}
    samples = {}
    for key, quantity in OPEN_METEO_COLUMNS.items():
        if key not in hourly:
            continue
        one = Samples(_what(quantity, name), moments.unix, _numbers(path, key, hourly, units)[moments.rows])
        samples[quantity] = _hour_before(one) if units.get(key) == "W/m²" or "_w_per_m2" in quantity else one
    return WeatherFile(
        samples,
        latitude_deg=document.get("latitude"),
        longitude_deg=document.get("longitude"),
        altitude_m=document.get("elevation"),
        notes=(note,),
        repaired=repaired,
        dropped=dropped,
    )


def is_tmy3(path: Path) -> bool:
    """Whether a CSV is a TMY3 file: its second line names the columns, the date first."""
    lines = read_text(path).split("\n", 2)
    return len(lines) > 1 and lines[1].startswith("Date (MM/DD/YYYY)")


def read_text(path: Path) -> str:
    """The whole text of a plain, .gz or .xz file; letters of old encodings do no harm in a place name."""
    raw = path.read_bytes()
    try:
        if path.suffix.lower() == ".gz":
            raw = gzip.decompress(raw)
        elif path.suffix.lower() == ".xz":
            raw = lzma.decompress(raw)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise FileFormatError(path, f"cannot be unpacked ({error})", remedy="fetch or pack it again") from error
    return raw.decode("utf-8-sig", errors="replace")


def _open_meteo_moments(
    path: Path, document: dict[str, Any], times: list[Any], zone: str | None
) -> tuple[Moments, str]:
    if all(isinstance(time, int) for time in times):
        unix = np.array(times, dtype=np.int64)
        return Moments(unix, np.arange(len(unix), dtype=np.int64)), "times are Unix times"
    texts = [str(time) for time in times]
    named, offset_s = document.get("timezone"), document.get("utc_offset_seconds")
    if zone is not None:
        return unix_moments(texts, zone_named(zone), path=path), f"times read in {zone}"
    if offset_s is None:
        if named is None:
            raise FileFormatError(path, "has neither timezone nor utc_offset_seconds", remedy="name its zone")
        return unix_moments(texts, zone_named(named), path=path), f"times read in {named}"
    fixed = dt.timezone(dt.timedelta(seconds=int(offset_s)))
    if named is not None:
        local = unix_moments(texts, zone_named(named), path=path)
        if not local.skipped and not local.doubled and _follows_clock(texts, local):
            return local, f"times read in {named}, whose clock changes they follow"
    return unix_moments(texts, fixed, path=path), f"times read in the file's own fixed offset, {fixed}"


def _follows_clock(texts: list[str], local: Moments) -> bool:
    """Whether the times jump as the local clock does, while real time runs evenly."""
    naive = np.array(texts, dtype="datetime64[s]").astype(np.int64)
    return np.unique(np.diff(naive)).size > 1 and np.unique(np.diff(local.unix)).size == 1


def _numbers(path: Path, key: str, hourly: dict[str, Any], units: dict[str, str]) -> npt.NDArray[np.float64]:
    try:
        values = np.array(hourly[key], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FileFormatError(path, f"hourly.{key} has something that is no number", remedy="use null") from error
    if values.shape != (len(hourly["time"]),):
        raise FileFormatError(
            path,
            f"hourly.{key} has {values.size} values for {len(hourly['time'])} times",
            remedy="fetch the file again",
        )
    unit = units.get(key) or {"temperature_c": "°C", "wind_m_per_s": "km/h"}.get(OPEN_METEO_COLUMNS[key], "W/m²")
    if unit not in _FACTORS:
        raise FileFormatError(path, f"hourly.{key} is in {unit}", remedy="ask the API for celsius and m/s")
    return values * _FACTORS[unit]


def _hour_before(samples: Samples) -> Samples:
    step = samples.step_s
    return Samples(
        samples.what,
        np.append(samples.starts_unix - step, samples.starts_unix[-1]),
        np.append(samples.values, samples.values[-1]),
    )


def _clock_changes(moments: Moments) -> tuple[dict[str, int], dict[str, int]]:
    repaired = {"local hour that exists twice is given once: taken for both": moments.doubled}
    dropped = {"local hour that does not exist when the clocks go forward": moments.skipped}
    return (repaired if moments.doubled else {}), (dropped if moments.skipped else {})


def _what(quantity: str, name: str) -> str:
    return f"{quantity.partition('_')[0]} of {name}"
