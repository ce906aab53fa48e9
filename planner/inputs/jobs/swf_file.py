"""Reads a trace in the Standard Workload Format 2.2 of the Parallel Workloads Archive, as it stands in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.errors import FileFormatError
from planner.inputs.csv_lines import number_of_text
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

_HEADER_KEY = re.compile(r"[A-Za-z][\w -]*")
_LEADING_INTEGER = re.compile(r"\s*([+-]?\d{1,15})(?![\d.])", re.ASCII)


def _parse_columns(path: Path, lines: Sequence[str], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Values of all fields, one row per field, one column per job; FileFormatError at the first line that is none.

    ``lines`` are data lines, none of them blank, each with its number in the file.
    """
    table = _parse_quickly(lines)
    if table is None:
        table = _parse_line_by_line(path, lines, numbers)
    low, high = (np.array([getattr(limits, edge) for limits in BOUNDS.values()]) for edge in ("low", "high"))
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
    return np.ascontiguousarray(table.T)


def _parse_quickly(lines: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """All lines at once, or None when anything about them is unusual."""
    if not lines:
        return None
    try:
        table = np.loadtxt(lines, comments=None, ndmin=2)
    except ValueError:
        return None
    return table if table.shape == (len(lines), len(FIELDS)) and np.isfinite(table).all() else None


def _parse_line_by_line(path: Path, lines: Sequence[str], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    table = np.empty((len(lines), len(FIELDS)))
    for row, (line, number) in enumerate(zip(lines, numbers, strict=True)):
        table[row] = _parse_line(path, line, int(number))
    return table


def _parse_line(path: Path, line: str, number: int) -> list[float]:
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
        value = number_of_text(text)
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

    ``header`` has the values of each key in file order, as keys such as ``Note`` repeat; ``columns`` the 18 fields by
    the keys of `FIELDS`, -1 for unknown: times in seconds from the trace's start, memory in KB per processor.
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
    """Read header and columns of an SWF file, plain, ``.gz`` or ``.xz``."""
    path = Path(path)
    with open_text(path) as stream:
        lines = stream.read().split("\n")
    comment = [line.lstrip().startswith(";") for line in lines]
    data = [k for k, line in enumerate(lines) if line and not comment[k] and not line.isspace()]
    JOBS_OF_A_FILE.require(f"{path}: the number of lines", len(data))
    line_numbers = np.array(data, dtype=np.int64) + 1
    table = _parse_columns(path, [lines[k] for k in data], line_numbers)
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
