"""Rows of a CSV file with the lines that they begin on, whatever their quotes hold."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from planner.errors import FileFormatError

LONGEST_LINE = 1_000_000
"""Characters of a line; a longer one is no table."""


def numbered_rows(path: Path, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line on which it begins.

    The csv module rather than pandas: it knows the line of every row, also after quoted line breaks, does not pad
    short rows and makes no index of long ones.
    """
    reader = csv.reader(short_lines(path, stream), strict=True, skipinitialspace=True)
    while True:
        begins = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileFormatError(
                path, f"not CSV ({error})", line=begins, remedy="close the quotes; double a quote inside them"
            ) from error
        if any(value.strip() for value in values):
            yield begins, values


def short_lines(path: Path, stream: TextIO) -> Iterator[str]:
    """The lines of a file, as long as each is one that a table can have."""
    for number, line in enumerate(stream, start=1):
        if len(line) > LONGEST_LINE:
            raise FileFormatError(
                path, f"a line of more than {LONGEST_LINE:,} characters", line=number, remedy="give a table of lines"
            )
        yield line
