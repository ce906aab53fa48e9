"""Rows of a CSV or Parquet table as text cells, each knowing its file, line and column for messages."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TextIO

import numpy as np

from planner.errors import FileFormatError
from planner.readers.files import open_text, require_file

LAST_UNIX = 253_402_300_799
"""End of the year 9999; a Unix time above it is most likely in milliseconds."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by column, without the empty ones."""

    path: Path
    place: int
    counted_in: str
    cells: Mapping[str, str]

    def __contains__(self, column: str) -> bool:
        return column in self.cells

    def text(self, column: str) -> str:
        """The cell as it stands; empty when there is nothing in it."""
        return self.cells.get(column, "")

    def number(self, column: str, *, above: float | None = None) -> Decimal:
        """The cell as a number, exactly as written: above a limit, or from 0 up."""
        text = self.cells[column].strip()
        value = Decimal(text) if _NUMBER.fullmatch(text) else None
        wanted = f"a number above {above:g}" if above is not None else "a number from 0 up"
        if value is None or abs(value) > Decimal("1e18") or value < 0 or (above is not None and value <= above):
            raise self.bad(column, wanted)
        return value

    def whole(self, column: str, *, least: int = 0) -> int:
        """The cell as a whole number of at least so much; ``8.0`` is one, ``8.5`` is not."""
        text = self.cells[column].strip()
        value = Decimal(text) if _NUMBER.fullmatch(text) else None
        if value is None or abs(value) > Decimal("1e18") or value != int(value) or value < least:
            raise self.bad(column, f"a whole number from {least} up")
        return int(value)

    def unix(self, column: str) -> int:
        """The cell as Unix seconds."""
        value = self.whole(column)
        if value > LAST_UNIX:
            raise self.bad(column, "Unix time in seconds", "if it is in milliseconds, divide it by 1000")
        return value

    def moment(self, column: str) -> Decimal:
        """The cell as an ISO 8601 time with an offset [Unix seconds, with fraction]."""
        text = self.cells[column].strip()
        remedy = "write 2024-06-01T08:00:00+02:00, or end it in Z for UTC"
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            raise self.bad(column, "an ISO 8601 time with its offset from UTC", remedy) from None
        if moment.tzinfo is None:
            raise self.bad(column, "a time with its offset from UTC", remedy)
        since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return Decimal(since // dt.timedelta(microseconds=1)) / 1_000_000

    def bad(self, column: str, expected: str, remedy: str = "correct the value") -> FileFormatError:
        """The error that a cell is not what was expected."""
        return self.error(f"column {column} is {self.text(column)!r}, expected {expected}", remedy)

    def error(self, problem: str, remedy: str) -> FileFormatError:
        """An error at this row."""
        if self.counted_in == "line":
            return FileFormatError(self.path, problem, line=self.place, remedy=remedy)
        return FileFormatError(self.path, f"{self.counted_in} {self.place}: {problem}", remedy=remedy)


def read_csv_rows(path: Path | str) -> tuple[list[str], list[Row]]:
    """Column names and rows of a CSV file, plain or compressed; blank lines are skipped.

    The csv module rather than pandas: it knows the line of every row, also after quoted line breaks, and does
    not pad short rows.
    """
    path = Path(path)
    with open_text(path, newline="") as stream:
        lines = _numbered_rows(path, stream)
        number, names = next(lines, (1, []))
        columns = [name.strip() for name in names]
        if not columns:
            raise FileFormatError(path, "the file is empty", remedy="begin it with a line of column names")
        _require_distinct(path, columns, number)
        rows = []
        for number, values in lines:
            if len(values) != len(columns):
                raise FileFormatError(
                    path,
                    f"expected {len(columns)} fields, found {len(values)}",
                    line=number,
                    remedy="give one field for each column name of the first line; quote text with commas",
                )
            cells = {name: text for name, text in zip(columns, values, strict=True) if text.strip()}
            rows.append(Row(path, number, "line", cells))
    return columns, rows


def read_parquet_rows(path: Path | str) -> tuple[list[str], list[Row]]:
    """Column names and rows of a Parquet file; rows count from 1."""
    import pandas as pd

    path = require_file(path)
    try:
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise FileFormatError(
            path, f"cannot be read as Parquet ({reason})", remedy="write it again as Parquet, or give a CSV"
        ) from error
    columns = [str(name) for name in frame.columns]
    _require_distinct(path, columns, None)
    texts = [[_cell(value) for value in frame[name].astype(object)] for name in frame.columns]
    rows = [
        Row(path, place, "row", {name: text for name, text in zip(columns, values, strict=True) if text})
        for place, values in enumerate(zip(*texts, strict=True), start=1)
    ]
    return columns, rows


def _numbered_rows(path: Path, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line on which it begins."""
    reader = csv.reader(stream, strict=True, skipinitialspace=True)
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


def _cell(value: object) -> str:
    """Text of a Parquet value that reads back as the same value; empty for a missing one."""
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def _require_distinct(path: Path, columns: list[str], line: int | None) -> None:
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise FileFormatError(path, f"columns given twice: {', '.join(twice)}", line=line, remedy="keep one of each")
