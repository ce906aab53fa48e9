"""Rows of a table, CSV or Parquet, as text cells, each knowing its file, line and column for messages."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from planner.errors import FileFormatError, InputError
from planner.inputs.csv_lines import ONE_SIGN, SIGNS, decimal_sign, numbered_rows, separator_of, with_point
from planner.inputs.local_times import local_moments
from planner.limits import CELLS_OF_A_TABLE, JOBS_OF_A_FILE, UNIX_S, Bounds
from planner.parquet import arrow
from planner.text_files import open_text, read_raw

LONGEST_TEXT = 1_000
"""Characters of a job's id, account, user or name."""

_RETURN = re.compile(r"\r(?!\n)")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
LONGEST_CELL = 100_000
"""Characters of a cell; a CSV, which results are written as, can hold little more."""
_INDEX = re.compile(r"__index_level_\d+__")
"""Columns in which pandas keeps the labels of its rows."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_REMEDY = "write it again as Parquet, or give a CSV"
ROUNDED_TIME = "fraction of a second: rounded up"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by column, without the empty ones; ``zone`` is that of times without an offset.

    ``separator`` is what stood between the cells: with semicolons numbers may have a decimal comma. ``signs`` are the
    decimal signs of the columns so far, the same for all rows of a file.
    """

    path: Path
    place: int
    counted_in: str
    cells: Mapping[str, str]
    zone: ZoneInfo | None = None
    separator: str = ","
    signs: dict[str, str] = field(default_factory=dict)

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
        text = self.cells[column].strip()
        sign = decimal_sign(text, self.separator)
        if sign and self.signs.setdefault(column, sign) != sign:
            raise self.bad(column, f"the decimal sign of the rows before it, {self.signs[column]!r}", ONE_SIGN)
        text = with_point(text, self.separator)
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


Accept = Callable[[list[str]], None]
"""Refuses columns before anything of them is read."""


def read_csv_rows(
    path: Path | str, zone: ZoneInfo | None = None, accept: Accept = lambda columns: None
) -> tuple[list[str], list[Row]]:
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
        accept(columns)
        rows: list[Row] = []
        signs: dict[str, str] = {}
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
            rows.append(Row(path, number, "line", cells, zone, separator, signs))
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


def read_parquet_rows(
    path: Path | str, zone: ZoneInfo | None = None, accept: Accept = lambda columns: None
) -> tuple[list[str], list[Row]]:
    """Column names and rows of a Parquet file; rows count from 1."""
    pa = arrow()
    path = Path(path)
    content = read_raw(path)
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(content))
        JOBS_OF_A_FILE.require(f"{path}: the number of rows", file.metadata.num_rows)
        names = [name for name in file.schema_arrow.names if not _INDEX.fullmatch(name)]
        require_distinct(path, names, None)
        accept(names)
        CELLS_OF_A_TABLE.require(f"{path}: rows times columns", file.metadata.num_rows * len(names))
        # A short file may say one long text a million times: it is kept once.
        words = [field.name for field in file.schema_arrow if field.type in (pa.string(), pa.large_string())]
        file = pa.parquet.ParquetFile(pa.BufferReader(content), read_dictionary=words)
        table = file.read(columns=names, use_threads=False)
        texts = [_texts(path, name, table.column(name)) for name in names]
    except InputError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise FileFormatError(path, f"cannot be read as Parquet ({reason})", remedy=_REMEDY) from error
    rows = [
        Row(path, place, "row", {name: text for name, text in zip(names, values, strict=True) if text.strip()}, zone)
        for place, values in enumerate(zip(*texts, strict=True), start=1)
    ]
    return names, rows


def _texts(path: Path, name: str, column: Any) -> list[str]:
    """The cells of a column as text that reads back as the same values; empty for missing ones."""
    pa = arrow()
    kind = column.type
    if pa.types.is_dictionary(kind):
        return [text for chunk in column.chunks for text in _chosen(path, name, chunk)]
    if pa.types.is_timestamp(kind):
        suffix = "+00:00" if kind.tz is not None else ""
        return [_moment(value, kind.unit, suffix) for value in column.cast(pa.int64()).to_pylist()]
    tests = (
        *(pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null),
        *(pa.types.is_string, pa.types.is_large_string),
    )
    if not any(test(kind) for test in tests):
        raise FileFormatError(
            path, f"column {name} holds values of type {kind}", remedy="write numbers, text or times with a zone"
        )
    texts = [_cell(value) for value in column.to_pylist()]
    long = next((row for row, text in enumerate(texts, start=1) if len(text) > LONGEST_CELL), None)
    if long is not None:
        problem = f"row {long}: column {name} has more than {LONGEST_CELL:,} characters"
        raise FileFormatError(path, problem, remedy="shorten the text")
    return texts


def _chosen(path: Path, name: str, chunk: Any) -> list[str]:
    """The cells of a column of which each says which of a few values it has."""
    pa = arrow()
    known = _texts(path, name, pa.chunked_array([chunk.dictionary]))
    return ["" if place is None else known[place] for place in chunk.indices.to_pylist()]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def _moment(value: int | None, unit: str, suffix: str) -> str:
    """A moment as ISO text, or its number where no calendar has it."""
    if value is None:
        return ""
    try:
        moment = _EPOCH + dt.timedelta(microseconds=value * 10**6 // _PER_SECOND[unit])
    except OverflowError:
        return f"{value} {unit} after 1970"
    return moment.replace(tzinfo=None).isoformat() + suffix


def read_rows(
    path: Path, kind: str = "auto", zone: ZoneInfo | None = None, accept: Accept = lambda columns: None
) -> tuple[list[str], list[Row]]:
    """Column names and rows of a table; ``kind`` is ``csv``, ``parquet``, or ``auto`` to go by the suffix.

    ``zone`` is that of times without an offset; ``accept`` refuses columns before their cells are read.
    """
    if kind == "auto":
        kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    return (read_parquet_rows if kind == "parquet" else read_csv_rows)(path, zone, accept)


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
