"""Conversions and the written forms of quantities: durations, money, energy, power."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable

from planner.errors import InputError
from planner.limits import DURATION_S
from planner.printable import shortened

SECONDS_PER_HOUR = 3600
MILLI = 1000
"""Amounts and watts are held as whole thousandths, so that sums of them are exact."""

MILLIWATT_SECONDS_PER_KWH = 3.6e9
GRAMS_PER_TONNE = 1e6
PA_PER_HPA = 100.0

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, None: 1}


def parse_duration(text: str | int | float) -> float:
    """Seconds in a duration such as ``30``, ``"30s"``, ``"5m"``, ``"1.5h"``, ``"1d"`` or ``"1h 30m"``."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        DURATION_S.require("the duration", text)
        return float(text)
    parts = str(text).strip().lower()
    position, total = 0, 0.0
    while position < len(parts):
        match = _DURATION.match(parts, position)
        if match is None:
            break
        total += float(match[1]) * _SECONDS[match[2]]
        position = match.end()
        while position < len(parts) and parts[position] == " ":
            position += 1
    if not parts or position < len(parts):
        raise InputError(f"cannot read {text!r} as a duration; write 30s, 5m, 2h or 1d")
    DURATION_S.require(f"the duration {shortened(parts, 40)!r}", total)
    return total


def rounded(value: float) -> float:
    """To six digits, as results are written, and never a negative zero."""
    return round(value, 6) + 0.0


def clock(seconds: float) -> str:
    """A duration as people say it: ``0.8 s``, ``2 min 5 s``, ``3 h 10 min``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def utc_text(unix: int) -> str:
    """A moment in UTC: ``2024-06-01T08:00:00Z``."""
    return dt.datetime.fromtimestamp(unix, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_minute(unix: int) -> str:
    """The minute of a moment as messages tell it: ``2024-06-01 08:00 UTC``."""
    return dt.datetime.fromtimestamp(int(unix), tz=dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


LARGEST_GAP = 0.5
"""A larger share of the limit is told in money: on a nearly idle day it is a share of next to nothing."""


def is_share(gap: float) -> bool:
    """Whether a gap is told as a share of the limit."""
    return gap <= LARGEST_GAP


def distance(limit_eur: float, gap: float, money: Callable[[float], str], space: str = " ") -> str:
    """How far below a limit above 0 a profit is; shares are rounded up, so that the words never claim too much."""
    if is_share(gap):
        return f"{math.ceil(1e4 * gap - 1e-6) / 100:g}{space}%"
    return money(gap * limit_eur)
