"""Reads a trace in the Standard Workload Format 2.2 of the Parallel Workloads Archive, as it stands in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.errors import FileFormatError
from planner.limits import JOBS_OF_A_FILE, PROCESSORS, REQUESTED_S, Bounds
from planner.text_files import open_text

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
_HEADER_KEY = re.compile(r"[A-Za-z][\w -]*")
_LEADING_INTEGER = re.compile(r"\s*([+-]?\d{1,15})(?![\d.])", re.ASCII)


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


@dataclass(frozen=True, eq=False)
class SwfTrace:
    """A trace as it stands in the file: nothing repaired, nothing dropped.

    Attributes
    ----------
    path
        File that it came from.
    header
        Values of each header key in file order; keys such as ``Note`` repeat.
    columns
        The 18 fields by name (the keys of `FIELDS`), -1 for unknown; times in seconds from the trace's start,
        memory in KB per processor.
    line_numbers
        Line of each job in the file, from 1.
    """

    path: Path
    header: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, npt.NDArray[np.float64]]
    line_numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.line_numbers)

    def header_text(self, key: str) -> str | None:
        """First value of a header key, whatever its capitals; None when the header lacks it."""
        values = (values for name, values in self.header.items() if name.casefold() == key.casefold())
        return next((found[0] for found in values if found[0]), None)

    def header_integer(self, key: str) -> int | None:
        """The integer that the value begins with: 1664 for ``MaxProcs: 1664 (72, 1368, 224)``."""
        text = self.header_text(key)
        if text is None:
            return None
        match = _LEADING_INTEGER.match(text)
        if match is None:
            raise FileFormatError(
                self.path, f"header {key} is {text!r}, expected an integer", remedy=f"write ; {key}: 123"
            )
        return int(match[1])


def read_swf_trace(path: Path | str) -> SwfTrace:
    """Read header and columns of an SWF file, plain, ``.gz`` or ``.xz``.

    Raises
    ------
    InputError
        The file is missing or cannot be read.
    FileFormatError
        A line has not exactly 18 fields, a field is not a finite number, or a submit time is negative.
    """
    path = Path(path)
    with open_text(path) as stream:
        lines = stream.read().split("\n")
    comment = [line.lstrip().startswith(";") for line in lines]
    data = [k for k, line in enumerate(lines) if line and not comment[k] and not line.isspace()]
    JOBS_OF_A_FILE.require(f"{path}: the number of lines", len(data))
    line_numbers = np.array(data, dtype=np.int64) + 1
    table = parse_columns(path, [lines[k] for k in data], line_numbers)
    table.setflags(write=False)
    trace = SwfTrace(
        path=path,
        header=_header([line for line, is_comment in zip(lines, comment, strict=True) if is_comment]),
        columns=dict(zip(FIELDS, table, strict=True)),
        line_numbers=line_numbers,
    )
    _require_numbers(trace)
    return trace


def _require_numbers(trace: SwfTrace) -> None:
    """FileFormatError at the first line whose job number or submit time can be none."""
    number, submit_s = trace.columns["job"], trace.columns["submit_s"]
    is_odd = (number != np.floor(number)) | (number < 0) | (number > 2**53)
    for field, values, is_bad, expected, remedy in (
        ("1 (job number)", number, is_odd, "a whole number from 0 up", "number the jobs from 1"),
        (
            "2 (submit time)",
            submit_s,
            submit_s < 0,
            "seconds from the trace's start",
            "every job needs a submit time from 0 up; remove the line or set UnixStartTime earlier",
        ),
    ):
        bad = np.flatnonzero(is_bad)
        if len(bad):
            raise FileFormatError(
                trace.path,
                f"field {field} is {values[bad[0]]:g}, expected {expected}",
                line=int(trace.line_numbers[bad[0]]),
                remedy=remedy,
            )


def _header(comments: list[str]) -> dict[str, tuple[str, ...]]:
    header: dict[str, tuple[str, ...]] = {}
    for line in comments:
        word, colon, value = line.strip().removeprefix(";").partition(":")
        key = word.strip()
        if colon and _HEADER_KEY.fullmatch(key) and (not value or value[0].isspace()):
            header[key] = (*header.get(key, ()), value.strip())
    return header
