"""Weather of real years as the Open-Meteo API answers it, in JSON; every value is read as what it must be."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.domain.horizon import zone_named
from planner.errors import FileFormatError
from planner.inputs.csv_lines import members_of
from planner.inputs.local_times import LocalMoments, in_order, unix_moments
from planner.inputs.timed_csv import Samples
from planner.inputs.weather.weather_csv import WeatherFile, clock_changes, words_for
from planner.limits import UTC_OFFSET_S
from planner.printable import shortened
from planner.text_files import open_text

COLUMNS = {
    "temperature_2m": "temperature_c",
    "shortwave_radiation": "ghi_w_per_m2",
    "direct_normal_irradiance": "dni_w_per_m2",
    "diffuse_radiation": "dhi_w_per_m2",
    "wind_speed_10m": "wind_m_per_s",
    "windspeed_10m": "wind_m_per_s",
    "relative_humidity_2m": "humidity_percent",
    "relativehumidity_2m": "humidity_percent",
    "cloud_cover": "cloud_percent",
    "cloudcover": "cloud_percent",
    "surface_pressure": "pressure_hpa",
}
_FACTORS = {
    **{"km/h": 1 / 3.6, "m/s": 1.0, "mp/h": 0.44704, "kn": 0.514444},
    **{"W/m²": 1.0, "°C": 1.0, "%": 1.0, "hPa": 1.0},
}
_UNITS = {"temperature_c": "°C", "wind_m_per_s": "km/h", "pressure_hpa": "hPa"}
_UNITS |= {"humidity_percent": "%", "cloud_percent": "%"}
"""What the service answers in unless it is asked for another unit; irradiance is in W/m²."""


def read_open_meteo(path: Path, name: str, zone: str | None, members: Sequence[str] = ()) -> WeatherFile:
    """Read the hourly part of an answer of the Open-Meteo API (forecast or archive) [1]_.

    Temperature, wind, humidity and pressure hold from their time on. Radiation is the mean of the hour before its
    time [2]_, so it is laid there; the file's last hour, which no later row describes, takes the value before it.

    Times without a zone are in the fixed offset ``utc_offset_seconds``: the service does not change its clock
    within an answer, even where ``timezone`` does [3]_. Only when the times themselves leave out or repeat
    the hour of a clock change are they read in ``timezone``. The ``zone`` argument overrules both.

    ``members`` are names of temperatures of an ensemble, or patterns such as ``temperature_2m*``.

    References
    ----------
    .. [1] https://open-meteo.com/en/docs
    .. [2] "Improved solar radiation forecast", https://openmeteo.substack.com
    .. [3] https://github.com/open-meteo/open-meteo/issues/261
    """
    document = _document(path)
    hourly, units = _mapping(path, document, "hourly"), _mapping(path, document, "hourly_units")
    times = hourly.get("time")
    if not isinstance(times, list) or not times:
        raise FileFormatError(path, "has no hourly.time", remedy="ask the API for hourly=temperature_2m")
    if "temperature_2m" not in hourly and not members:
        raise FileFormatError(path, "has no hourly.temperature_2m", remedy="ask the API for it")
    moments, note = _moments(path, document, times, zone)
    repaired, dropped = clock_changes(moments)
    samples = {}
    for key, quantity in COLUMNS.items():
        if key not in hourly:
            continue
        one = Samples(
            words_for(quantity, name), moments.unix, _values(path, key, hourly, units, len(times))[moments.rows]
        )
        samples[quantity] = _hour_before(one) if "_w_per_m2" in quantity else one
    of_members = {
        key: Samples(
            f"temperature {key} of {name}", moments.unix, _member(path, key, hourly, units, len(times))[moments.rows]
        )
        for key in (members_of(path, [key for key in hourly if key != "time"], members) if members else ())
    }
    return WeatherFile(
        samples,
        members=of_members,
        latitude_deg=_number(path, document, "latitude"),
        longitude_deg=_number(path, document, "longitude"),
        altitude_m=_number(path, document, "elevation"),
        notes=(note,),
        repaired=repaired,
        dropped=dropped,
    )


def _document(path: Path) -> Mapping[str, Any]:
    try:
        with open_text(path) as stream:
            document: Any = json.load(stream)
    except RecursionError as error:
        raise FileFormatError(path, "is nested too deeply", remedy="save the API's answer as it came") from error
    except FileFormatError:
        raise
    except ValueError as error:  # numbers of endless digits too
        raise FileFormatError(path, f"is not JSON ({error})", remedy="save the API's answer as it came") from error
    if not isinstance(document, dict):
        raise FileFormatError(path, "has no hourly.time", remedy="ask the API for hourly=temperature_2m")
    return document


def _mapping(path: Path, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise FileFormatError(path, f"{key} holds no names and values", remedy="save the API's answer as it came")
    return found


def _number(path: Path, document: Mapping[str, Any], key: str) -> float | None:
    found = document.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= 1e300:
        raise FileFormatError(path, f"{key} is {_shown(found)}, not a number", remedy="correct it, or write null")
    return float(found)


def _text(path: Path, key: str, found: object) -> str:
    """Text that can be written; JSON can escape halves of characters."""
    if not isinstance(found, str) or not found.isprintable():
        raise FileFormatError(path, f"{key} is {_shown(found)}, not plain text", remedy="correct it")
    return found


def _shown(found: object) -> str:
    if isinstance(found, dict | list):
        return "a list" if isinstance(found, list) else "a mapping"
    return shortened(repr(found), 60) if not isinstance(found, int) or abs(found) < 10**50 else "a number far beyond"


def _moments(path: Path, document: Mapping[str, Any], times: list[Any], zone: str | None) -> tuple[LocalMoments, str]:
    if all(isinstance(time, int) and not isinstance(time, bool) for time in times):
        return in_order(times, path=path), "times are Unix times"
    texts = [_text(path, "a time", time) for time in times]
    named, offset_s = document.get("timezone"), _number(path, document, "utc_offset_seconds")
    if zone is not None:
        return unix_moments(texts, zone_named(zone), path=path), f"times read in {zone}"
    if named is not None:
        zone_named(_text(path, "timezone", named))
    if offset_s is None:
        if named is None:
            raise FileFormatError(path, "has neither timezone nor utc_offset_seconds", remedy="name its zone")
        return unix_moments(texts, zone_named(named), path=path), f"times read in {named}"
    UTC_OFFSET_S.require(f"{path}: utc_offset_seconds", offset_s)
    fixed = dt.timezone(dt.timedelta(seconds=int(offset_s)))
    if named is not None:
        local = unix_moments(texts, zone_named(named), path=path)
        if not local.skipped and not local.doubled and _follows_clock(texts, local):
            return local, f"times read in {named}, whose clock changes they follow"
    return unix_moments(texts, fixed, path=path), f"times read in the file's own fixed offset, {fixed}"


def _follows_clock(texts: list[str], local: LocalMoments) -> bool:
    """Whether the times jump as the local clock does, while real time runs evenly."""
    try:
        naive = np.array(texts, dtype="datetime64[s]").astype(np.int64)
    except ValueError:  # with zones of their own
        return False
    return np.unique(np.diff(naive)).size > 1 and np.unique(np.diff(local.unix)).size == 1


def _values(
    path: Path, key: str, hourly: Mapping[str, Any], units: Mapping[str, Any], count: int
) -> npt.NDArray[np.float64]:
    found = hourly[key]
    plain = isinstance(found, list) and all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) != np.inf)
        for value in found
    )
    if not plain or any(isinstance(value, int) and abs(value) > 10**300 for value in found):
        raise FileFormatError(path, f"hourly.{key} has something that is not a number", remedy="use null")
    values = np.array(found, dtype=np.float64)
    if len(values) != count:
        raise FileFormatError(
            path, f"hourly.{key} has {len(values)} values for {count} times", remedy="fetch the file again"
        )
    unit = units.get(key) or _UNITS.get(COLUMNS.get(key, "temperature_c"), "W/m²")
    if not isinstance(unit, str) or unit not in _FACTORS:
        raise FileFormatError(path, f"hourly.{key} is in {_shown(unit)}", remedy="ask the API for celsius and m/s")
    return values * _FACTORS[unit]


def _member(
    path: Path, key: str, hourly: Mapping[str, Any], units: Mapping[str, Any], count: int
) -> npt.NDArray[np.float64]:
    """Temperatures of a member of an ensemble [C]."""
    if units.get(key, _UNITS["temperature_c"]) != _UNITS["temperature_c"]:
        raise FileFormatError(
            path, f"hourly.{key} is in {_shown(units[key])}, no temperature in °C", remedy="name members of one"
        )
    return _values(path, key, hourly, units, count)


def _hour_before(samples: Samples) -> Samples:
    times, steps = samples.starts_unix, samples.steps_s(0, len(samples.values))
    lasted = np.minimum(steps[:-1], np.diff(times))
    return Samples(
        samples.what,
        np.concatenate([times[:1] - steps[:1], times[1:] - lasted, times[-1:]]),
        np.append(samples.values, samples.values[-1]),
    )
