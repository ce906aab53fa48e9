"""Everything that a planned day leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner.domain.day_summary import Baseline, DaySummary, EasyDay
from planner.errors import InputError
from planner.planning.plan_day import PlannedDay
from planner.store.folder import replaced
from planner.store.parquet import write_parquet
from planner.store.seals import outputs_of, sealed
from planner.store.summary import summarise
from planner.store.swf import write_swf
from planner.store.versions import keep_versions
from planner.store.write_tables import Table, deferred_table, encoded, schedule_table, segment_table

Page = Callable[[DaySummary, dict[str, Any], dict[str, Table]], str]
"""Makes the page of a day from its summary, its provenance and its tables."""

FORMATS = ("parquet", "swf")
"""What a run can leave besides the CSVs, on request."""


def write_day(
    planned: PlannedDay,
    target: Path,
    run: dict[str, Any],
    formats: tuple[str, ...] = (),
    *,
    baselines: tuple[Baseline, ...] | None = None,
    easy: EasyDay | None = None,
    page: Page | None = None,
) -> DaySummary:
    """Write a day's files in one step and return the day's summary.

    ``easy`` is the day under EASY and ``baselines`` what the rules of common schedulers would earn, for the summary;
    ``page`` makes report.html. Where the day that stands there or this one was planned from a snapshot, the former is
    kept among the day's versions.
    """
    problem, result = planned.day.problem, planned.result
    summary = summarise(planned, baselines, easy, conflicts=len(run["conflicts"]))
    tables = {
        "schedule": schedule_table(problem, result.plan, planned.ledger, planned.happened),
        "deferred": deferred_table(problem.horizon, planned.deferrals),
        "segments": segment_table(problem, planned.ledger),
    }
    with replaced(target) as folder:
        keep_versions(target, folder, with_last=planned.day.snapshot is not None)
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv")
            if "parquet" in formats:
                write_parquet(table, folder / f"{name}.parquet")
        if "swf" in formats:
            write_swf(planned, folder / "schedule.swf")
        _write_json(summary.as_dict(), folder / "summary.json")
        bounds = {"bound": planned.bound, "real_bound": planned.real_bound}
        run = {**run, **{name: None if bound is None else asdict(bound) for name, bound in bounds.items()}}
        if page is not None:
            (folder / "report.html").write_bytes(encoded(page(summary, run, tables)))
        _write_json(sealed({**run, "outputs": outputs_of(folder)}), folder / "run.json")
    return summary


def require_formats(formats: tuple[str, ...]) -> None:
    """InputError when a format is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"unknown output format {unknown[0]!r}; known: {', '.join(FORMATS)} (CSV is always written)")


def _write_json(content: dict[str, Any], path: Path) -> None:
    path.write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
