"""What the figures of a day show, worked out from the rows of its CSVs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.horizon import Horizon
from planner.store.write_tables import Table

MINUTE_S = 60
MARK_S = 1800
"""Distance of the marks that say what the wall clock shows [s]; clocks change by whole multiples of it."""


def column(table: Table, name: str) -> list[str]:
    """The cells of a column."""
    index = table.columns.index(name)
    return [row[index] for row in table.rows]


def numbers(table: Table, name: str) -> Floats:
    """The cells of a column of numbers."""
    return np.array(column(table, name), dtype=np.float64)


def temperature_digits(temperature_c: Floats) -> int:
    """Decimals that temperatures are shown with: none where all are whole, as steps of a PUE table mostly are."""
    return 0 if bool(np.all(temperature_c == np.round(temperature_c))) else 1


def clock_axis(horizon: Horizon) -> dict[str, Any]:
    """The day as an axis: its length, and the minutes of the wall clock at each mark."""
    marks = range(0, horizon.length_s + 1, MARK_S)
    moments = [horizon.to_datetime(offset_s) for offset_s in marks]
    clock = [1440 * (m.date() - horizon.day).days + 60 * m.hour + m.minute for m in moments]
    return {"kind": "clock", "lo": 0, "hi": horizon.length_s, "least": 120, "mark_s": MARK_S, "clock": clock}


def submitted_s(table: Table, horizon: Horizon) -> Ints:
    """Submit times from midnight [s]."""
    import datetime as dt

    times = [int(dt.datetime.fromisoformat(text).timestamp()) for text in column(table, "submit_time")]
    return np.array(times, dtype=np.int64) - horizon.start_unix


def minute_edges(length_s: int) -> Ints:
    """Edges of the day's minutes [s]."""
    return np.append(np.arange(0, length_s, MINUTE_S), length_s)


def mean_work_kw(edges: Ints, start_s: Ints, end_s: Ints, power_w: Floats) -> Floats:
    """Mean power of the jobs between each pair of edges [kW]."""
    at = np.concatenate([start_s, end_s])
    change = np.concatenate([power_w, -power_w])
    order = np.argsort(at, kind="stable")
    at, level = at[order], np.cumsum(change[order])
    if not len(at):
        return np.zeros(len(edges) - 1)
    drawn = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at))])
    by_edge = np.interp(edges, at, drawn)
    return np.asarray(np.diff(by_edge) / np.diff(edges) / 1000, dtype=np.float64)


def count_at(edges: Ints, since_s: Ints, until_s: Ints) -> Ints:
    """How many are there at each edge but the last, of those that come at ``since_s`` and go at ``until_s``."""
    came = np.searchsorted(np.sort(since_s), edges[:-1], side="right")
    gone = np.searchsorted(np.sort(until_s), edges[:-1], side="right")
    return np.asarray(came - gone, dtype=np.int64)


def rounded(values: Sequence[float] | Floats, digits: int) -> list[float]:
    """Values for a page: with as many digits as can be seen."""
    return [round(float(value), digits) + 0.0 for value in values]
