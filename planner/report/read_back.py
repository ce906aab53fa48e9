"""A written day read back: its problem and plan from the files of its folder, and the PUE table that it names."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.executed import executed
from planner.domain.horizon import Horizon
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Rates, Running
from planner.domain.segment import Segment
from planner.errors import FileFormatError, InputError
from planner.readers.pue_csv import read_pue_table
from planner.report.provenance import hashes
from planner.report.tables import COLUMNS, Table
from planner.report.written import REMEDY, cluster_of, deferred_of, read_json, read_rows, read_table, scheduled_of


@dataclass(frozen=True)
class WrittenDay:
    """A day as its folder tells it: the problem and plan, and the files as they stand.

    ``happened`` is the day as it was carried out, which differs from the problem with ``execute: actual``.
    ``leaves_room`` says that a rule made the plan, which promises nothing of jobs that it deferred. ``tables`` are
    ``schedule``, ``deferred`` and ``segments``; ``summary`` and ``run`` are the JSON files.
    """

    folder: Path
    problem: Problem
    plan: Plan
    happened: Problem
    leaves_room: bool
    tables: dict[str, Table]
    summary: dict[str, Any]
    run: dict[str, Any]


def read_day(folder: Path) -> WrittenDay:
    """Read a written day; InputError names the file that is missing, damaged or changed since."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/sample/2024-06-01")
    run, summary = read_json(folder / "run.json"), read_json(folder / "summary.json")
    try:
        scenario = run["scenario"]
        horizon = Horizon(dt.date.fromisoformat(summary["day"]), summary["zone"])
        cluster = cluster_of(scenario["cluster"])
        table_path = Path(scenario["cooling"]["table"])
        rates = Rates(
            eur_per_core_hour=scenario["revenue"]["eur_per_core_hour"],
            demand_eur_per_kw=scenario["demand"]["eur_per_kw"],
            demand_interval_s=scenario["demand"]["interval_s"],
            carbon_eur_per_tonne=scenario["carbon"]["eur_per_tonne"],
        )
        defer, actual = scenario["rules"]["defer"], scenario["rules"].get("execute") == "actual"
        leaves_room = bool(summary.get("leaves_room"))
        hash_then = run["inputs"][table_path.as_posix()]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            folder / "run.json", f"it or summary.json lacks or garbles {error}", remedy=REMEDY
        ) from error
    if hashes([table_path]).get(table_path.as_posix()) != hash_then:
        raise InputError(f"{table_path}: this PUE table is gone or not the one of {folder}; restore it")
    tables = {name: read_table(folder / f"{name}.csv", columns) for name, columns in COLUMNS.items()}
    segments = tuple(read_rows(folder, tables, "segments", _segment))
    scheduled = read_rows(folder, tables, "schedule", lambda row: scheduled_of(row, cluster))
    deferred = read_rows(folder, tables, "deferred", lambda row: deferred_of(row, cluster))
    planned = [(job, placement) for job, state, placement, _ in scheduled if state == "planned"]
    waiting = [job for job in deferred if job is not None]
    running = [
        (job, placement.start_s, placement.start_s + job.requested_s if actual else end_s, placement.nodes)
        for job, state, placement, end_s in scheduled
        if state == "carried"
    ]
    try:
        problem = Problem(
            horizon=horizon,
            cluster=cluster,
            jobs=tuple(sorted([job for job, _ in planned] + waiting, key=lambda job: job.submission_key)),
            segments=segments,
            table=read_pue_table(table_path)[0],
            rates=rates,
            running=tuple(Running(*work) for work in running),
            defer=defer,
        )
        plan = Plan.of(problem, {job.id: placement for job, placement in planned})
        happened = executed(problem) if actual else problem
    except (InputError, IndexError) as error:
        raise FileFormatError(folder, f"its files do not make a day: {error}", remedy=REMEDY) from error
    return WrittenDay(folder, problem, plan, happened, leaves_room, tables, summary, run)


def _segment(row: dict[str, str]) -> Segment:
    return Segment(
        start_s=int(row["start_s"]),
        end_s=int(row["end_s"]),
        temperature_c=int(row["temperature_c"]),
        price_eur_per_kwh=float(row["price_eur_per_kwh"]),
        solar_w=float(row["solar_w"]),
        carbon_g_per_kwh=float(row["carbon_g_per_kwh"]),
    )
