"""Cells of a table of which one or the other is filled, and times that are written or in Unix seconds."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal

from planner.inputs.jobs.table_rows import Row

ROUNDED_TIME = "fraction of a second: rounded up"


def one_of(row: Row, *columns: str) -> str | None:
    """The column of several that is filled, None when none is; FileFormatError when two are."""
    filled = [column for column in columns if column in row]
    if len(filled) > 1:
        raise row.error(f"columns {filled[0]} and {filled[1]} are both filled", "leave one of them empty")
    return filled[0] if filled else None


def row_time(row: Row, written: str, unix: str, repaired: Counter[str]) -> int | None:
    """A time [Unix seconds] from the column in which it is written or that of Unix seconds, None without either."""
    chosen = one_of(row, written, unix)
    if chosen is None:
        return None
    if chosen == unix:
        return row.unix(unix)
    return rounded_up(row.moment(written), repaired)


def rounded_up(seconds: Decimal, repaired: Counter[str]) -> int:
    """Whole seconds; a fraction is counted."""
    if seconds != int(seconds):
        repaired[ROUNDED_TIME] += 1
    return math.ceil(seconds)
