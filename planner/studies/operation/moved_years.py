"""Hourly values of one year laid over the days of another: the same calendar day and hour, in UTC."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np

from planner.csv_text import csv_text
from planner.errors import OutputError
from planner.inputs.timed_csv import read_timed_csv
from planner.store.folder import alone_in, put

BEFORE = dt.timedelta(days=3)
AFTER = dt.timedelta(days=200)
"""How long before and after the days of submission values are kept: a replay ends later than they do."""


def write_moved(
    source: Path,
    target: Path,
    *,
    column: str,
    first: dt.date,
    last: dt.date,
    years: int = 0,
    zone: str | None = None,
    factor: float = 1.0,
) -> Path:
    """Write the values of a file around some days, as they were so many years later.

    Weekdays do not stay what they were. A day that the other year does not have is a hole.

    Parameters
    ----------
    source, target
        The file, and the CSV to write.
    column
        What the name of the value column begins with; of several, the one with "LCA" in it is taken.
    first, last
        The days of submission.
    years
        Years to add to those of the days to come to the year of the values.
    zone
        Zone of times that the file gives without one.
    factor
        On every value, such as an exchange rate.
    """
    table = read_timed_csv(source, zone=zone)
    samples = table.samples(table.column_starting(column, prefer="lca"), column)
    low, high = (dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC) for day in (first - BEFORE, last + AFTER))
    rows: list[list[object]] = [["time (UTC)", column]]
    for unix, value in zip(samples.starts_unix.tolist(), samples.values.tolist(), strict=True):
        moment = _moved(dt.datetime.fromtimestamp(unix, tz=dt.UTC), -years)
        if moment is not None and low <= moment < high and np.isfinite(value):
            rows.append([f"{moment:%Y-%m-%d %H:%M:%S}", round(value * factor, 6)])
    content = csv_text(rows).encode()
    try:
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(target.parent):
                put(target, content)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from error
    return target


def _moved(moment: dt.datetime, years: int) -> dt.datetime | None:
    """The same day and hour of another year; None for 29 February where that year has none."""
    try:
        return moment.replace(year=moment.year + years)
    except ValueError:
        return None
