"""Rows of a table, CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from planner.inputs.jobs.parquet_rows import read_parquet_rows
from planner.inputs.jobs.table_rows import Row, read_csv_rows


def read_rows(path: Path, kind: str = "auto", zone: ZoneInfo | None = None) -> tuple[list[str], list[Row]]:
    """Column names and rows of a table; ``kind`` is ``csv``, ``parquet``, or ``auto`` to go by the suffix.

    ``zone`` is that of times without an offset.
    """
    if kind == "auto":
        kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    return read_parquet_rows(path, zone) if kind == "parquet" else read_csv_rows(path, zone)
