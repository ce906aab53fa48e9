"""Everything that a planned day leaves in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.pipeline.day import PlannedDay
from planner.report.folder import replaced
from planner.report.parquet import write_parquet
from planner.report.summary import summarise
from planner.report.swf import write_swf
from planner.report.tables import deferred_table, schedule_table, segment_table

FORMATS = ("parquet", "swf")
"""What a run can leave besides the CSVs, on request."""


def write_day(planned: PlannedDay, target: Path, run: dict[str, Any], formats: tuple[str, ...] = ()) -> dict[str, Any]:
    """Write a day's files in one step, and return its summary."""
    problem, result = planned.day.problem, planned.result
    summary = summarise(planned)
    tables = {
        "schedule": schedule_table(problem, result.plan, result.ledger),
        "deferred": deferred_table(problem.horizon, planned.deferrals),
        "segments": segment_table(problem, result.ledger),
    }
    with replaced(target) as folder:
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv")
            if "parquet" in formats:
                write_parquet(table, folder / f"{name}.parquet")
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
