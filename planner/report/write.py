"""Everything that a planned day leaves in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.pipeline.day import PlannedDay
from planner.report.folder import replaced
from planner.report.summary import summarise
from planner.report.swf import write_swf
from planner.report.tables import Table, deferred_table, schedule_table, segment_table

FORMATS = ("parquet", "swf")
"""What a run can leave besides the CSVs, on request."""


def write_day(planned: PlannedDay, target: Path, run: dict[str, Any], formats: tuple[str, ...] = ()) -> dict[str, Any]:
    """Write a day's files in one step, and return its summary."""
    summary = summarise(planned)
    tables = {
        "schedule": schedule_table(planned),
        "deferred": deferred_table(planned),
        "segments": segment_table(planned),
    }
    with replaced(target) as folder:
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv")
            if "parquet" in formats:
                _write_parquet(table, folder / f"{name}.parquet")
        if "swf" in formats:
            write_swf(planned, folder / "schedule.swf")
        _write_json(summary, folder / "summary.json")
        _write_json(run, folder / "run.json")
    return summary


def require_formats(formats: tuple[str, ...]) -> None:
    """InputError when a format is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"unknown output format {unknown[0]!r}; known: {', '.join(FORMATS)} (CSV is always written)")


def _write_json(content: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_parquet(table: Table, path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(list(table.rows), columns=list(table.columns))
    for column in frame.columns:
        if column.endswith("_time") or column == "deadline":
            frame[column] = pd.to_datetime(frame[column].replace("", None), utc=True)
        elif column.endswith(_NUMERIC) or column in ("pue", "units"):
            frame[column] = pd.to_numeric(frame[column].replace("", None))
    frame.to_parquet(path, index=False)


_NUMERIC = ("_s", "_w", "_c", "_kwh", "_kg", "_eur", "_hours", "_equivalents", "_weight")
