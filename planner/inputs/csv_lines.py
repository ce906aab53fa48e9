"""Rows of a CSV file with the lines that they begin on, whatever their quotes hold; its columns by name or pattern."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TextIO

from planner.errors import FileFormatError
from planner.printable import shortened

ONE_SIGN = "write all its numbers with a comma, or all with a point, and no signs between thousands"
"""What to do where two numbers of a column have not the same `decimal_sign`."""
LONGEST_LINE = 1_000_000
"""Characters of a line; a longer one is no table."""
SIGNS = {",": "commas", ";": "semicolons"}
"""Separators of cells, as messages call them."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_NAMED = 20
"""Columns that a message names at most."""


def separator_of(stream: TextIO) -> str:
    """What stands between the cells of a table, by its first line: a comma, or a semicolon as spreadsheets have it.

    The stream is then at its start again.
    """
    first = next((line for line in iter(lambda: stream.readline(LONGEST_LINE), "") if line.strip()), "")
    stream.seek(0)
    bare = _QUOTED.sub("", first)
    return ";" if bare.count(";") > bare.count(",") else ","


def with_point(text: str, separator: str) -> str:
    """A number with a decimal point, where a table with semicolons may have written it with a comma: 0,25."""
    return text.replace(",", ".") if separator == ";" and _DECIMAL_COMMA.fullmatch(text) else text


def decimal_sign(text: str, separator: str) -> str:
    """The decimal sign of a number in a table with semicolons; empty where it has none, or cells are parted by commas.

    A column has one of the two: 1.000 may be one, or a thousand as spreadsheets write it, and beside 1,5 nobody can
    tell.
    """
    if separator != ";":
        return ""
    return "," if _DECIMAL_COMMA.fullmatch(text) else "." if "." in text and _NUMBER.fullmatch(text) else ""


def number_of_text(text: str) -> float:
    """A number as people write one; NaN where the text is none, or what only Python takes for one."""
    return float(text) if _NUMBER.fullmatch(text) else float("nan")


def numbered_rows(path: Path, stream: TextIO, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line on which it begins.

    The csv module rather than pandas: it knows the line of every row, also after quoted line breaks, does not pad
    short rows and makes no index of long ones.
    """
    reader = csv.reader(short_lines(path, stream), delimiter=separator, strict=True, skipinitialspace=True)
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


def members_of(path: Path, names: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The columns among ``names`` that are wanted by name or pattern, in the order of the file.

    FileFormatError where a name or pattern has no column.
    """
    found: set[str] = set()
    for each in wanted:
        matching = [each] if each in names else [name for name in names if fnmatchcase(name, each)]
        if not matching:
            known = ", ".join([*names[:_NAMED], *(["..."] if len(names) > _NAMED else [])])
            raise FileFormatError(
                path,
                f"has no column {shortened(each, 60)!r} for a member; its columns are {known}",
                remedy="name columns, or give a pattern such as temp_*",
            )
        found.update(matching)
    return tuple(name for name in names if name in found)
