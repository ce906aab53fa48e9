"""Turns the data lines of an SWF file into 18 columns of numbers: fast, and exact about bad lines."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.bounds import PROCESSORS, REQUESTED_S, Bounds
from planner.errors import FileFormatError

FIELDS = {
    "job": "job number",
    "submit_s": "submit time",
    "wait_s": "wait time",
    "runtime_s": "run time",
    "used_procs": "allocated processors",
    "cpu_s": "average CPU time",
    "used_kb": "used memory",
    "requested_procs": "requested processors",
    "requested_s": "requested time",
    "requested_kb": "requested memory",
    "status": "status",
    "user": "user",
    "group": "group",
    "executable": "executable",
    "queue": "queue",
    "partition": "partition",
    "preceding_job": "preceding job",
    "think_s": "think time",
}
"""Column name of each field, in file order, and what the format calls it."""

LONGEST_LINE = 10_000
"""Characters of a line that are looked at; 18 numbers take a hundred."""

_TIME = Bounds(-1e9, REQUESTED_S.high, "s")
_COUNT = Bounds(-1e9, PROCESSORS.high)
_ANYTHING = Bounds(-(2.0**53), 2.0**53)
BOUNDS = dict.fromkeys(FIELDS, _ANYTHING) | {
    **dict.fromkeys(("submit_s", "wait_s", "runtime_s", "requested_s", "think_s"), _TIME),
    **dict.fromkeys(("used_procs", "requested_procs"), _COUNT),
}
"""What each field may be: whatever is below 0 means unknown, and no number is beyond what counts exactly."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PLAIN = np.isin(np.arange(256), np.frombuffer(b"0123456789+-. \t\n", dtype=np.uint8))


def parse_columns(path: Path | str, lines: Sequence[str], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Values of all fields, one row per field, one column per job.

    Parameters
    ----------
    path
        File that the lines came from, for messages.
    lines
        Data lines, none of them blank.
    numbers
        Line number of each in the file.

    Raises
    ------
    FileFormatError
        A line has not exactly 18 fields, or a field is not a finite number; names the first such line.
    """
    table = _parse_quickly(lines)
    if table is None:
        table = _parse_line_by_line(path, lines, numbers)
    _require_bounds(path, table, numbers)
    return np.ascontiguousarray(table.T)


def _require_bounds(path: Path | str, table: npt.NDArray[np.float64], numbers: npt.NDArray[np.int64]) -> None:
    low, high = (np.array([edge(limits) for limits in BOUNDS.values()]) for edge in (_low, _high))
    outside = np.argwhere((table < low) | (table > high))
    if len(outside):
        row, position = (int(place) for place in outside[0])
        name = list(FIELDS)[position]
        raise FileFormatError(
            path,
            f"field {position + 1} ({FIELDS[name]}) is {table[row, position]:g}, expected a number {BOUNDS[name]}",
            line=int(numbers[row]),
            remedy="write -1 for what is unknown",
        )


def _low(limits: Bounds) -> float:
    return limits.low


def _high(limits: Bounds) -> float:
    return limits.high


def _parse_quickly(lines: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """All lines at once, or None when anything about them is unusual.

    pandas pads short lines, drops what is over, and reads more than is there into NA, quotes and NUL bytes.
    So it only gets to see text that consists of plain numbers, 18 to a line.
    """
    import pandas as pd

    text = "\n".join(lines)
    if not text.isascii():
        return None
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    if not len(codes) or not _PLAIN[codes].all() or not np.all(_count_fields(codes) == len(FIELDS)):
        return None
    try:
        frame = pd.read_csv(
            StringIO(text), sep=r"\s+", header=None, names=list(FIELDS), index_col=False, dtype=np.float64
        )
    except ValueError:
        return None
    table = frame.to_numpy()
    return table if len(table) == len(lines) and np.isfinite(table).all() else None


def _count_fields(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Number of fields on each line of a text of which every character code is given."""
    blank = codes <= ord(" ")
    starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    return np.diff(np.searchsorted(starts, ends), prepend=0)


def _parse_line_by_line(
    path: Path | str, lines: Sequence[str], numbers: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    table = np.empty((len(lines), len(FIELDS)))
    for row, (line, number) in enumerate(zip(lines, numbers, strict=True)):
        table[row] = _parse_line(path, line, int(number))
    return table


def _parse_line(path: Path | str, line: str, number: int) -> list[float]:
    fields = line[:LONGEST_LINE].split()
    if len(fields) != len(FIELDS):
        raise FileFormatError(
            path,
            f"expected {len(FIELDS)} fields, found {len(fields)}",
            line=number,
            remedy="write -1 for what is unknown, and ; before a comment",
        )
    values = []
    for position, (text, what) in enumerate(zip(fields, FIELDS.values(), strict=True), start=1):
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value):
            raise FileFormatError(
                path,
                f"field {position} ({what}) is {text!r}, expected a number",
                line=number,
                remedy="write -1 for what is unknown",
            )
        values.append(value)
    return values
