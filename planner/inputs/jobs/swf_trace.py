"""Reads a trace in the Standard Workload Format 2.2 of the Parallel Workloads Archive, as it stands in the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.bounds import JOBS_OF_A_FILE
from planner.errors import FileFormatError
from planner.inputs.jobs.swf_columns import FIELDS, parse_columns
from planner.text_files import open_text

_HEADER_KEY = re.compile(r"[A-Za-z][\w -]*")
_LEADING_INTEGER = re.compile(r"\s*([+-]?\d{1,15})(?![\d.])", re.ASCII)


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
