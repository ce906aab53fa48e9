"""Everything that a planned day leaves in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.pipeline.baselines import rule_baselines
from planner.pipeline.day import PlannedDay
from planner.report.folder import replaced
from planner.report.page.day import day_page
from planner.report.page.index import write_index
from planner.report.parquet import write_parquet
from planner.report.seals import outputs_of, sealed
from planner.report.summary import summarise
from planner.report.swf import write_swf
from planner.report.tables import deferred_table, encoded, schedule_table, segment_table

FORMATS = ("parquet", "swf")
"""What a run can leave besides the CSVs, on request."""


def write_day(
    planned: PlannedDay, target: Path, run: dict[str, Any], formats: tuple[str, ...] = (), *, page: bool = True
) -> dict[str, Any]:
    """Write a day's files in one step, bring the index above it up to date, and return the day's summary.

    Without a ``page`` there is no report.html, no index, and no rules to compare with: for the many days of a study.
    """
    problem, result = planned.day.problem, planned.result
    summary = summarise(planned)
    if page:
        summary |= {"baselines": rule_baselines(problem)}
    tables = {
        "schedule": schedule_table(problem, result.plan, planned.ledger, planned.happened),
        "deferred": deferred_table(problem.horizon, planned.deferrals),
        "segments": segment_table(problem, planned.ledger),
    }
    with replaced(target) as folder:
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv")
            if "parquet" in formats:
                write_parquet(table, folder / f"{name}.parquet")
        if "swf" in formats:
            write_swf(planned, folder / "schedule.swf")
        _write_json(summary, folder / "summary.json")
        run = {**run, "bound": None if planned.bound is None else asdict(planned.bound)}
        if page:
            (folder / "report.html").write_bytes(encoded(day_page(summary, run, tables)))
        _write_json(sealed({**run, "outputs": outputs_of(folder)}), folder / "run.json")
    if page:
        write_index(target.parent.parent)
    return summary


def require_formats(formats: tuple[str, ...]) -> None:
    """InputError when a format is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"unknown output format {unknown[0]!r}; known: {', '.join(FORMATS)} (CSV is always written)")


def _write_json(content: dict[str, Any], path: Path) -> None:
    path.write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
