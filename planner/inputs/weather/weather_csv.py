"""What weather files have in common, and weather as plain CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planner.inputs.csv_lines import members_of
from planner.inputs.local_times import LocalMoments
from planner.inputs.timed_csv import Samples, read_timed_csv
from planner.text_files import read_bytes

OF_HUMIDITY = ("humidity_percent", "pressure_hpa")
"""Quantities that are of use where wet-bulb temperatures are wanted, and only there."""
OF_SUN = ("ghi_w_per_m2", "dni_w_per_m2", "dhi_w_per_m2", "cloud_percent")
CSV_COLUMNS = ("temperature_c", *OF_SUN, "wind_m_per_s", *OF_HUMIDITY)


@dataclass(frozen=True)
class WeatherFile:
    """What a weather file says: samples by quantity, the place, and what reading it changed.

    ``members`` are the temperatures of a forecast with several, in place of those of ``samples``.
    """

    samples: Mapping[str, Samples]
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float | None = None
    members: Mapping[str, Samples] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repaired: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


def read_weather_csv(path: Path, name: str, zone: str | None, members: Sequence[str] = ()) -> WeatherFile:
    """Read a CSV with a time and ``temperature_c``; each value holds from its time on.

    Optional columns are ``ghi_w_per_m2``, ``dni_w_per_m2``, ``dhi_w_per_m2``, ``cloud_percent``, ``wind_m_per_s``, and
    for wet-bulb temperatures ``humidity_percent`` and ``pressure_hpa``. ``members`` are columns of temperatures [C] in
    place of ``temperature_c``, or patterns of them.
    """
    table = read_timed_csv(path, zone=zone)
    if not members:
        table.column("temperature_c")
    samples = {
        column: table.samples(column, words_for(column, name)) for column in CSV_COLUMNS if column in table.names
    }
    of_members = {
        column: table.samples(column, f"temperature {column} of {name}")
        for column in members_of(path, table.value_names, members)
    }
    repaired, dropped = clock_changes(table.moments)
    return WeatherFile(samples, members=of_members, repaired=repaired, dropped=dropped)


def is_tmy3(path: Path) -> bool:
    """Whether a CSV is a TMY3 file: its second line names the columns, the date first."""
    lines = read_text(path).split("\n", 2)
    return len(lines) > 1 and lines[1].startswith("Date (MM/DD/YYYY)")


def read_text(path: Path) -> str:
    """The whole text of a plain, .gz or .xz file; letters of old encodings do no harm in a place name."""
    return read_bytes(path).decode("utf-8-sig", errors="replace")


def clock_changes(moments: LocalMoments) -> tuple[dict[str, int], dict[str, int]]:
    """What was repaired and what was dropped because the clocks changed."""
    repaired = {"local hour that exists twice is given once: taken for both": moments.doubled}
    dropped = {"local hour that does not exist when the clocks go forward": moments.skipped}
    return (repaired if moments.doubled else {}), (dropped if moments.skipped else {})


def words_for(quantity: str, name: str) -> str:
    """What a series is called in messages."""
    return f"{quantity.partition('_')[0]} of {name}"
