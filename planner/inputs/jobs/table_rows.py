"""Rows of a table as text cells, each knowing its file, line and column for messages; and those of a CSV."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from planner.bounds import JOBS_OF_A_FILE, UNIX_S, Bounds
from planner.errors import FileFormatError
from planner.inputs.csv_lines import SIGNS, numbered_rows, separator_of, with_point
from planner.inputs.slurm_times import local_moments
from planner.text_files import open_text

LONGEST_TEXT = 1_000
"""Characters of a job's id, account, user or name."""

_RETURN = re.compile(r"\r(?!\n)")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by column, without the empty ones; ``zone`` is that of times without an offset.

    ``separator`` is what stood between the cells: with semicolons numbers may have a decimal comma.
    """

    path: Path
    place: int
    counted_in: str
    cells: Mapping[str, str]
    zone: ZoneInfo | None = None
    separator: str = ","

    def __contains__(self, column: str) -> bool:
        return column in self.cells

    def text(self, column: str) -> str:
        """The cell as it stands, but for a lone carriage return, which is a line break; empty when there is nothing."""
        return _RETURN.sub("\n", self.cells.get(column, ""))

    def words(self, column: str) -> str:
        """The cell as text of a length that a table of results can show."""
        text = self.text(column)
        if len(text) > LONGEST_TEXT:
            raise self.bad(column, f"at most {LONGEST_TEXT:,} characters", "shorten the text")
        return text

    def number(self, column: str, bounds: Bounds) -> Decimal:
        """The cell as a number within bounds, exactly as written."""
        value = self._decimal(column)
        if value is None or value not in bounds:
            raise self.bad(column, f"a number {bounds}")
        return value

    def whole(self, column: str, bounds: Bounds) -> int:
        """The cell as a whole number within bounds; ``8.0`` is one, ``8.5`` is not."""
        value = self._decimal(column)
        if value is None or value not in bounds or value != int(value):
            raise self.bad(column, f"a whole number {bounds}")
        return int(value)

    def _decimal(self, column: str) -> Decimal | None:
        text = with_point(self.cells[column].strip(), self.separator)
        return Decimal(text) if _NUMBER.fullmatch(text) else None

    def flag(self, column: str) -> bool:
        """The cell as true or false, in one of the usual ways to write it."""
        word = self.cells[column].strip().lower()
        if word not in _FLAGS:
            raise self.bad(column, "true or false")
        return _FLAGS[word]

    def unix(self, column: str) -> int:
        """The cell as Unix seconds."""
        value = self._decimal(column)
        if value is not None and UNIX_S.high < value <= 1000 * UNIX_S.high:
            raise self.bad(column, "Unix time in seconds", "if it is in milliseconds, divide it by 1000")
        return self.whole(column, UNIX_S)

    def moment(self, column: str) -> Decimal:
        """The cell as an ISO 8601 time, with an offset or of the row's zone [Unix seconds, with fraction]."""
        text = self.cells[column].strip()
        remedy = "write 2024-06-01T08:00:00+02:00, or end it in Z for UTC"
        offset = "" if self.zone is not None else " with its offset from UTC"
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            raise self.bad(column, f"an ISO 8601 time{offset}", remedy) from None
        if moment.tzinfo is None:
            moment = self._local(column, moment, remedy)
        since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        seconds = Decimal(since // dt.timedelta(microseconds=1)) / 1_000_000
        if seconds not in UNIX_S:
            raise self.bad(column, "a time from 1970 to 9998")
        return seconds

    def _local(self, column: str, clock: dt.datetime, remedy: str) -> dt.datetime:
        """The one moment at which clocks of the zone show a time."""
        if self.zone is None:
            raise self.bad(column, "a time with its offset from UTC", remedy)
        try:
            found = local_moments(clock, self.zone)
        except OverflowError:
            raise self.bad(column, "a time from 1970 to 9998") from None
        if len(found) != 1:
            often = "twice" if found else "never"
            raise self.bad(column, f"a time with its offset: {self.zone.key} has this one {often}", remedy)
        whole = dt.datetime.fromtimestamp(found[0], tz=dt.UTC)
        return whole.replace(microsecond=clock.microsecond)

    def bad(self, column: str, expected: str, remedy: str = "correct the value") -> FileFormatError:
        """The error that a cell is not what was expected."""
        return self.error(f"column {column} is {self.text(column)!r}, expected {expected}", remedy)

    def error(self, problem: str, remedy: str) -> FileFormatError:
        """An error at this row."""
        if self.counted_in == "line":
            return FileFormatError(self.path, problem, line=self.place, remedy=remedy)
        return FileFormatError(self.path, f"{self.counted_in} {self.place}: {problem}", remedy=remedy)


def read_csv_rows(path: Path | str, zone: ZoneInfo | None = None) -> tuple[list[str], list[Row]]:
    """Column names and rows of a CSV file, plain or compressed; blank lines are skipped."""
    path = Path(path)
    with open_text(path, newline="") as stream:
        separator = separator_of(stream)
        lines = numbered_rows(path, stream, separator)
        number, names = next(lines, (1, []))
        columns = [name.strip() for name in names]
        if not columns:
            raise FileFormatError(path, "the file is empty", remedy="begin it with a line of column names")
        require_distinct(path, columns, number)
        rows: list[Row] = []
        for number, values in lines:
            JOBS_OF_A_FILE.require(f"{path}: the number of rows", len(rows) + 1)
            if len(values) != len(columns):
                raise FileFormatError(
                    path,
                    f"expected {len(columns)} fields, found {len(values)}",
                    line=number,
                    remedy=f"give one field for each column name of the first line; quote text with {SIGNS[separator]}",
                )
            cells = {name: text for name, text in zip(columns, values, strict=True) if text.strip()}
            rows.append(Row(path, number, "line", cells, zone, separator))
    return columns, rows


def require_distinct(path: Path, columns: list[str], line: int | None) -> None:
    """FileFormatError when two columns have one name."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise FileFormatError(path, f"columns given twice: {', '.join(twice)}", line=line, remedy="keep one of each")


def require_known(path: Path, columns: Sequence[str], known: Sequence[str], described_in: str) -> None:
    """FileFormatError when there is a column that nobody reads."""
    unknown = [_unknown(name, known) for name in columns if name not in known]
    if unknown:
        raise FileFormatError(
            path, f"unknown column {', '.join(unknown)}", remedy=f"rename or remove it; {described_in} lists all"
        )


def _unknown(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f"{name!r} (did you mean {close[0]!r}?)" if close else repr(name)
