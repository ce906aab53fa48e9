"""Cells of the tables that a run wrote, each read as its type and within bounds; ValueError says what was expected."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from decimal import Decimal

from planner.report.shape import LARGEST, shown

LONGEST_S = 10**10
"""No time or duration in a result is further from its day [s]."""
MOST_UNITS = 10_000_000
"""Units of a job; more would fill the memory before anything could be checked."""

_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_AMOUNT = re.compile(r"-?\d{1,15}\.\d{1,6}", re.ASCII)
Row = Mapping[str, str]


def whole(row: Row, name: str, low: int = 0, high: int = LONGEST_S) -> int:
    """A whole number."""
    text = row[name]
    if not _WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise ValueError(f"{name} is {shown(text)}, expected a whole number from {low} to {high}")
    return int(text)


def number(row: Row, name: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """A finite number."""
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise ValueError(f"{name} is {shown(row[name])}, expected a number from {low:g} to {high:g}")
    return value


def amount(row: Row, name: str) -> Decimal:
    """A number with at most six digits after the point, exactly."""
    if not _AMOUNT.fullmatch(row[name]):
        raise ValueError(f"{name} is {shown(row[name])}, expected a number with six digits after the point")
    return Decimal(row[name])


def moment(row: Row, name: str) -> dt.datetime:
    """A time with its offset from UTC."""
    try:
        found = dt.datetime.fromisoformat(row[name])
    except ValueError:
        found = None
    if found is None or not 1 < found.year < 9999:
        raise ValueError(f"{name} is {shown(row[name])}, expected a time such as 2024-06-01T08:00:00+02:00")
    if found.tzinfo is None:
        raise ValueError(f"{name} is {shown(row[name])}, which has no offset from UTC")
    return found


def choice(row: Row, name: str, *known: str) -> str:
    """One of a few words."""
    if row[name] not in known:
        raise ValueError(f"{name} is {shown(row[name])}; known: {', '.join(known)}")
    return row[name]
