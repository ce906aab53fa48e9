"""Tables as Parquet; the type of each column is explicit, so that an empty day has those of a full one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.store.write_tables import Kind, Table, encoded, kind_of

_VALUE: dict[Kind, Callable[[str], object]] = {
    "text": lambda text: encoded(text).decode(),
    "time": dt.datetime.fromisoformat,
    "whole": int,
    "number": float,
    "flag": lambda text: text == "yes",
}


def write_parquet(table: Table, path: Path) -> None:
    """Write a table as Parquet; empty cells other than text are null, times are in UTC."""
    import pyarrow as pa
    import pyarrow.parquet

    types: dict[Kind, Any] = {
        "text": pa.string(),
        "time": pa.timestamp("us", tz="UTC"),
        "whole": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
    }
    arrays = {
        name: pa.array([_value(kind_of(name), row[index]) for row in table.rows], type=types[kind_of(name)])
        for index, name in enumerate(table.columns)
    }
    pyarrow.parquet.write_table(pa.table(arrays), path)


def columns_of(table: Table) -> dict[str, Any]:
    """The columns of a table with the same types, for pandas; an unknown is NA, NaT or NaN."""
    import pandas as pd

    types: dict[Kind, str] = {
        "text": "str",
        "time": "datetime64[us, UTC]",
        "whole": "Int64",
        "number": "float64",
        "flag": "boolean",
    }
    return {
        name: pd.Series([_value(kind_of(name), row[index]) for row in table.rows], dtype=types[kind_of(name)])
        for index, name in enumerate(table.columns)
    }


def _value(kind: Kind, text: str) -> object:
    return None if not text and kind != "text" else _VALUE[kind](text)
