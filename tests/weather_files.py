"""Small weather files, for tests that read them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

from planner.domain.horizon import Horizon

BERLIN = "Europe/Berlin"
JUNE = Horizon(dt.date(2024, 6, 1), "UTC")


def weather_csv(path: Path, first: str, values: list[float | None], *, step_h: int = 1, suffix: str = "+00:00") -> Path:
    """A CSV of temperatures at even steps; None leaves a cell empty."""
    start = dt.datetime.fromisoformat(first)
    rows = [
        f"{(start + dt.timedelta(hours=step_h * k)).isoformat()}{suffix},{'' if value is None else value}"
        for k, value in enumerate(values)
    ]
    path.write_text("time,temperature_c\n" + "\n".join(rows) + "\n")
    return path


def open_meteo(path: Path, times: list[str], values: list[float | None], **head: object) -> Path:
    """An answer of Open-Meteo with temperatures; ``head`` adds keys or replaces them."""
    document = {
        "latitude": 50.1,
        "longitude": 8.7,
        "elevation": 111.0,
        "hourly_units": {"temperature_2m": "°C"},
        **head,
        "hourly": {"time": times, "temperature_2m": values},
    }
    path.write_text(json.dumps(document))
    return path


def hours(first: str, count: int) -> list[str]:
    """Times on the hour, as Open-Meteo writes them."""
    start = dt.datetime.fromisoformat(first)
    return [(start + dt.timedelta(hours=k)).strftime("%Y-%m-%dT%H:%M") for k in range(count)]
