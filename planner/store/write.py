"""Everything that a planned day leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from planner.domain.books import Booked, PlannedFigures
from planner.domain.day_summary import DaySummary
from planner.domain.problem import Problem
from planner.domain.situation import SiteState
from planner.errors import InputError
from planner.planning.plan_day import PlannedDay
from planner.store.folder import replaced
from planner.store.parquet import write_parquet
from planner.store.seals import outputs_of, sealed
from planner.store.summary import summarise
from planner.store.swf import write_swf
from planner.store.versions import keep_versions, plans_of
from planner.store.write_tables import Table, deferred_table, encoded, schedule_table, segment_table
from planner.units import rounded

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
    page: Page | None = None,
) -> DaySummary:
    """Write a day's files in one step and return the day's summary.

    ``page`` makes report.html. Where the day that stands there or this one was planned from a snapshot, the former is
    kept among the day's versions.
    """
    summary = summarise(planned, conflicts=len(run["conflicts"]))
    tables = tables_of(planned)
    with replaced(target) as folder:
        keep_versions(target, folder, with_last=not planned.day.situation.nightly)
        if summary.booked is not None:
            summary = _beside_its_plan(summary, summary.booked, folder)
        for name, table in tables.items():
            table.write_csv(folder / f"{name}.csv")
            if "parquet" in formats:
                write_parquet(table, folder / f"{name}.parquet")
        if "swf" in formats:
            write_swf(planned, folder / "schedule.swf")
        _write_json(summary.as_dict(), folder / "summary.json")
        bounds = {"bound": planned.bound, "real_bound": planned.real_bound}
        happened = planned.happened
        left = SiteState.after(happened.horizon.day, happened.rates, planned.ledger)
        run = {**run, "rates": asdict(planned.day.problem.rates), "left": {**asdict(left), "day": left.day.isoformat()}}
        run = {**run, "outside": _outside(planned.day.problem)}
        run = {**run, **{name: None if bound is None else asdict(bound) for name, bound in bounds.items()}}
        if page is not None:
            (folder / "report.html").write_bytes(encoded(page(summary, run, tables)))
        _write_json(sealed({**run, "outputs": outputs_of(folder)}), folder / "run.json")
    return summary


def tables_of(planned: PlannedDay) -> dict[str, Table]:
    """The tables of a day by the names of their files."""
    problem, result = planned.day.problem, planned.result
    return {
        "schedule": schedule_table(problem, result.plan, planned.ledger, planned.happened),
        "deferred": deferred_table(problem.horizon, planned.deferrals),
        "segments": segment_table(problem, planned.ledger),
    }


def _outside(problem: Problem) -> dict[str, list[float]]:
    """The temperature of the weather; that of the segments where nothing else is known."""
    known = problem.outside or tuple((segment.start_s, segment.temperature_c) for segment in problem.segments)
    return {"start_s": [start_s for start_s, _ in known], "temperature_c": [celsius for _, celsius in known]}


def _beside_its_plan(summary: DaySummary, booked: Booked, folder: Path) -> DaySummary:
    """The summary of a booked day with what was planned for it, by the first plan among its versions."""
    plans = plans_of(folder)
    if not plans:
        return summary
    version, plan = plans[0]
    totals = plan.totals
    figures = PlannedFigures(
        version=version,
        profit_eur=totals.profit_eur,
        revenue_eur=totals.revenue_eur,
        energy_cost_eur=totals.energy_cost_eur,
        core_hours=totals.core_hours,
        kwh=rounded(totals.it_kwh + totals.cooling_kwh),
        started=plan.jobs.started,
    )
    return replace(summary, planned_profit_eur=totals.profit_eur, booked=replace(booked, planned=figures))


def require_formats(formats: tuple[str, ...]) -> None:
    """InputError when a format is not known."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"unknown output format {unknown[0]!r}; known: {', '.join(FORMATS)} (CSV is always written)")


def _write_json(content: dict[str, Any], path: Path) -> None:
    path.write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
