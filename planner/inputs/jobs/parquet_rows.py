"""Rows of a Parquet table as text cells, column by column of a plain type; nested and binary columns are refused."""

from __future__ import annotations

import datetime as dt
import math
import re
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from planner.bounds import JOBS_OF_A_FILE
from planner.errors import FileFormatError
from planner.inputs.jobs.table_rows import Row, require_distinct
from planner.text_files import require_file

LONGEST_CELL = 100_000
"""Characters of a cell; a CSV, which results are written as, can hold little more."""

_INDEX = re.compile(r"__index_level_\d+__")
"""Columns in which pandas keeps the labels of its rows."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_REMEDY = "write it again as Parquet, or give a CSV"


def read_parquet_rows(path: Path | str, zone: ZoneInfo | None = None) -> tuple[list[str], list[Row]]:
    """Column names and rows of a Parquet file; rows count from 1."""
    import pyarrow as pa
    import pyarrow.parquet

    path = require_file(path)
    try:
        file = pyarrow.parquet.ParquetFile(path)
        JOBS_OF_A_FILE.require(f"{path}: the number of rows", file.metadata.num_rows)
        # A short file may say one long text a million times: it is kept once.
        words = [field.name for field in file.schema_arrow if field.type in (pa.string(), pa.large_string())]
        table = pyarrow.parquet.ParquetFile(path, read_dictionary=words).read(use_threads=False)
        kept = [k for k, name in enumerate(table.column_names) if not _INDEX.fullmatch(name)]
        names = [table.column_names[k] for k in kept]
        texts = [_texts(path, table.column_names[k], table.column(k)) for k in kept]
    except FileFormatError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise FileFormatError(path, f"cannot be read as Parquet ({reason})", remedy=_REMEDY) from error
    require_distinct(path, names, None)
    rows = [
        Row(path, place, "row", {name: text for name, text in zip(names, values, strict=True) if text.strip()}, zone)
        for place, values in enumerate(zip(*texts, strict=True), start=1)
    ]
    return names, rows


def _texts(path: Path, name: str, column: Any) -> list[str]:
    """The cells of a column as text that reads back as the same values; empty for missing ones."""
    import pyarrow as pa

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
    import pyarrow as pa

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
