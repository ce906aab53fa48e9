"""Cells of the tables that a run wrote, each read as its type and within bounds; ValueError says what was expected."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from decimal import Decimal

from planner import bounds
from planner.bounds import Bounds
from planner.store.shape import shown

OFFSET_S = Bounds(-2 * bounds.REQUESTED_S.high, 2 * bounds.REQUESTED_S.high, "s")
"""No start or end is further from its day."""
COUNT = Bounds(0, 10**9)

_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_AMOUNT = re.compile(r"-?\d{1,15}\.\d{1,6}", re.ASCII)
Row = Mapping[str, str]


def whole(row: Row, name: str, limits: Bounds = COUNT) -> int:
    """A whole number."""
    text = row[name]
    if not _WHOLE.fullmatch(text) or int(text) not in limits:
        raise ValueError(f"{name} is {shown(text)}, expected a whole number {limits}")
    return int(text)


def number(row: Row, name: str, limits: Bounds) -> float:
    """A number."""
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if value not in limits:
        raise ValueError(f"{name} is {shown(row[name])}, expected a number {limits}")
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
