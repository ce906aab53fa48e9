"""Everything that a planned day leaves in its folder, and its summary."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.accounting.bound import Bound
from planner.domain.day_summary import Booked, DayFigures, DaySummary, DayTotals, JobCounts, PlannedFigures
from planner.domain.ledger import Ledger
from planner.domain.method_params import Strength
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.situation import SiteState
from planner.errors import InputError
from planner.parquet import arrow
from planner.planning.baselines import easy_day, waits_of
from planner.planning.plan_day import PlannedDay
from planner.store.folder import replaced
from planner.store.plan_versions import keep_versions, plans_of
from planner.store.provenance import outputs_of, sealed
from planner.store.swf_batsim import write_day_swf
from planner.store.write_tables import Kind, Table, deferred_table, kind_of, schedule_table, segment_table
from planner.text_files import encoded
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
            write_day_swf(planned, folder / "schedule.swf")
        _write_json(summary.as_dict(), folder / "summary.json")
        bounds = {"bound": planned.bound, "real_bound": planned.real_bound}
        happened = planned.happened
        left = SiteState.after(happened.horizon.day, happened.rates, planned.ledger)
        run = {**run, "rates": asdict(planned.day.problem.rates), "left": {**asdict(left), "day": left.day.isoformat()}}
        run = {**run, "outside": _outside(planned.day.problem), **_held(planned.result.strength)}
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


def _held(strength: Strength | None) -> dict[str, Any]:
    """How strongly it was best to hold, where that could be told: null where not at all."""
    if strength is None:
        return {}
    value = None if strength.value == math.inf else strength.value
    return {"hold_strength": {"value": value, "decided_unix": strength.decided_unix}}


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


def require_formats(formats: tuple[str, ...], known: tuple[str, ...] = FORMATS) -> None:
    """InputError when a format is not known, or what writes it is not installed."""
    unknown = [name for name in formats if name not in known]
    if unknown:
        raise InputError(f"unknown output format {unknown[0]!r}; known: {', '.join(known)} (CSV is always written)")
    if "parquet" in formats:
        arrow()


def _write_json(content: dict[str, Any], path: Path) -> None:
    path.write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))


_VALUE: dict[Kind, Callable[[str], object]] = {
    "text": lambda text: encoded(text).decode(),
    "time": dt.datetime.fromisoformat,
    "whole": int,
    "number": float,
    "flag": lambda text: text == "yes",
}


def write_parquet(table: Table, path: Path) -> None:
    """Write a table as Parquet; empty cells other than text are null, times are in UTC."""
    pa = arrow()
    types: dict[Kind, Any] = {
        "text": pa.string(),
        "time": pa.timestamp("us", tz="UTC"),
        "whole": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
    }
    arrays = {
        name: pa.array([_value(kind_of(name), text) for text in table.column(name)], type=types[kind_of(name)])
        for name in table.columns
    }
    pa.parquet.write_table(pa.table(arrays), path)


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
        name: pd.Series([_value(kind_of(name), text) for text in table.column(name)], dtype=types[kind_of(name)])
        for name in table.columns
    }


def _value(kind: Kind, text: str) -> object:
    return None if not text and kind != "text" else _VALUE[kind](text)


def summarise(planned: PlannedDay, *, conflicts: int = 0) -> DaySummary:
    """Totals, jobs, method and trials of a planned day; EASY and rules where these were tried as well."""
    day, result, bound, baselines = planned.day, planned.result, planned.bound, planned.baselines
    limit_eur, gap = _limit(bound, result.ledger.profit_eur)
    real_limit_eur, real_gap = _limit(planned.real_bound, planned.ledger.profit_eur)
    return DaySummary(
        scenario=day.scenario.name,
        day=day.problem.horizon.day,
        zone=day.problem.horizon.zone,
        currency=day.scenario.currency,
        method=result.method,
        status=result.status,
        solve_s=round(result.solve_s, 3),
        found_s=None if result.found_s is None else round(result.found_s, 3),
        best_trial=result.best_trial,
        cut_short=result.cut_short,
        leaves_room=result.leaves_room,
        stands_in_for=result.stands_in_for or None,
        bound_eur=limit_eur,
        gap_fraction=gap,
        real_bound_eur=real_limit_eur,
        real_gap_fraction=real_gap,
        execute=day.scenario.rules.execute if planned.booked is None else "actual",
        planned_profit_eur=rounded(result.ledger.profit_eur),
        **vars(
            figures(
                planned.happened,
                result.plan,
                planned.ledger,
                rejected=len(day.rejected),
                withdrawn=len(day.withdrawn),
            )
        ),
        carbon_limit_kg=day.scenario.goal.carbon_limit_kg,
        carbon_runs_kg=None if planned.carbon_runs_kg is None else rounded(planned.carbon_runs_kg),
        waits=waits_of(planned.happened, result.plan),
        easy=None if baselines is None else easy_day(baselines, planned.happened, planned.ledger.totals),
        ahead=planned.ahead,
        trials=tuple(replace(trial, profit_eur=rounded(trial.profit_eur)) for trial in result.trials),
        inputs=tuple(day.intakes),
        moment=None if day.situation.nightly else day.problem.horizon.to_datetime(day.problem.now_s).isoformat(),
        conflicts=conflicts,
        promises=planned.promises,
        baselines=None if baselines is None else baselines.rules,
        booked=planned.booked,
        holds=tuple(
            replace(each, saved_eur=rounded(each.saved_eur), waiting_eur=rounded(each.waiting_eur))
            for each in result.holds
        ),
    )


def _limit(bound: Bound | None, profit_eur: float) -> tuple[float | None, float | None]:
    """A limit on a profit, and how far the profit is from it; None where it is not known."""
    if bound is None:
        return None, None
    gap = bound.gap_fraction(profit_eur)
    return rounded(bound.profit_eur), None if gap is None else rounded(gap)


def figures(problem: Problem, plan: Plan, ledger: Ledger, *, rejected: int, withdrawn: int = 0) -> DayFigures:
    """What follows from the plan alone. The problem is the day as it was carried out."""
    planned, has_run = int(plan.is_placed.sum()), len(problem.running)
    carried_in = sum(work.start_s < 0 or problem.now_s == 0 for work in problem.running)
    ends_s = np.append(problem.running_end_s, (plan.start_s + problem.columns.duration_s)[plan.is_placed])
    running = int((ends_s > problem.horizon.length_s).sum())
    return DayFigures(
        totals=DayTotals.of(ledger.totals),
        peak_kw=rounded(ledger.peak_kw),
        site_cost_eur=rounded(ledger.site_cost_eur),
        utilisation_fraction=rounded(_utilisation(problem, ledger)),
        jobs=JobCounts(
            known=len(problem.jobs) + has_run - carried_in + rejected + withdrawn,
            started=planned + has_run - carried_in,
            carried_in=carried_in,
            finished=has_run + planned - running,
            running=running,
            deferred=len(problem.jobs) - planned,
            rejected=rejected,
            missed_deadlines=_missed_deadlines(problem, plan),
            withdrawn=withdrawn,
        ),
        segments=len(problem.segments),
        last_end_s=int(ends_s.max(initial=0)),
    )


def _utilisation(problem: Problem, ledger: Ledger) -> float:
    """Cores in use over all cores, on the day's average."""
    asked = [work.job for work in problem.running] + list(problem.jobs)
    cores = {job.id: job.total("cores") for job in asked}
    lines = ledger.jobs
    used = math.fsum(
        cores[name] * (end_s - start_s)
        for name, start_s, end_s in zip(lines.job_ids, lines.start_s.tolist(), lines.end_s.tolist(), strict=True)
    )
    return used / (problem.cluster.total("cores") * problem.horizon.length_s)


def _missed_deadlines(problem: Problem, plan: Plan) -> int:
    start = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    late = sum(
        work.job.deadline_unix is not None and work.end_s > problem.horizon.to_s(work.job.deadline_unix)
        for work in problem.running
        if work.start_s >= 0 and problem.now_s
    )
    return int((start > problem.columns.latest_start_s).sum()) + late
