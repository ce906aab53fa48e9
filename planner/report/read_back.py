"""A written day read back: its problem and plan from the files of its folder, and the PUE table that it names."""

from __future__ import annotations

import csv
import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Rates, Running
from planner.domain.segment import Segment
from planner.errors import FileFormatError, InputError
from planner.readers.jobs.unit_groups import parse_unit_groups
from planner.readers.pue_csv import read_pue_table
from planner.report.node_text import parse_unit_nodes
from planner.report.provenance import hashes


@dataclass(frozen=True)
class WrittenDay:
    """A day as its folder tells it; ``summary`` and ``run`` are the contents of the JSON files."""

    problem: Problem
    plan: Plan
    summary: dict[str, Any]
    run: dict[str, Any]


def read_day(folder: Path) -> WrittenDay:
    """Read a written day; InputError names the file that is missing, damaged or changed since."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/sample/2024-06-01")
    run, summary = _json(folder / "run.json"), _json(folder / "summary.json")
    try:
        scenario = run["scenario"]
        horizon = Horizon(dt.date.fromisoformat(summary["day"]), summary["zone"])
        cluster = _cluster(scenario["cluster"])
        table_path = Path(scenario["cooling"]["table"])
        rates = Rates(
            eur_per_core_hour=scenario["revenue"]["eur_per_core_hour"],
            demand_eur_per_kw=scenario["demand"]["eur_per_kw"],
            demand_interval_s=scenario["demand"]["interval_s"],
            carbon_eur_per_tonne=scenario["carbon"]["eur_per_tonne"],
        )
        defer = scenario["rules"]["defer"]
        hash_then = run["inputs"][table_path.as_posix()]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(folder / "run.json", f"it lacks or garbles {error}", remedy=_REMEDY) from error
    if hashes([table_path]).get(table_path.as_posix()) != hash_then:
        raise InputError(f"{table_path}: this PUE table is gone or not the one of {folder}; restore it")
    segments = tuple(_read(folder / "segments.csv", _segment))
    scheduled = _read(folder / "schedule.csv", lambda row: _scheduled(row, cluster))
    deferred = [job for job, kind in _read(folder / "deferred.csv", lambda row: _deferred(row, cluster)) if kind]
    planned = [(job, placement) for job, state, placement, _ in scheduled if state == "planned"]
    problem = Problem(
        horizon=horizon,
        cluster=cluster,
        jobs=tuple(sorted([job for job, _ in planned] + deferred, key=lambda job: (job.submit_unix, job.id))),
        segments=segments,
        table=read_pue_table(table_path)[0],
        rates=rates,
        running=tuple(
            Running(job, placement.start_s, end_s, placement.nodes)
            for job, state, placement, end_s in scheduled
            if state == "carried"
        ),
        defer=defer,
    )
    return WrittenDay(problem, Plan.of(problem, {job.id: placement for job, placement in planned}), summary, run)


_REMEDY = "plan the day again"


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileFormatError(path, "it is missing", remedy=_REMEDY) from error
    except (ValueError, OSError) as error:
        raise FileFormatError(path, f"it is damaged ({error})", remedy=_REMEDY) from error
    if not isinstance(content, dict):
        raise FileFormatError(path, "it is damaged (not a mapping)", remedy=_REMEDY)
    return content


def _read(path: Path, parse: Any) -> list[Any]:
    """The rows of a CSV, each through ``parse``; errors name the line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = []
            for row in reader:
                try:
                    rows.append(parse(row))
                except (KeyError, ValueError, TypeError, AttributeError) as error:
                    problem = f"cannot read the row ({error})"
                    raise FileFormatError(path, problem, line=reader.line_num, remedy=_REMEDY) from error
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(path, f"cannot read it ({error})", remedy=_REMEDY) from error


def _cluster(written: dict[str, Any]) -> Cluster:
    return Cluster(tuple(NodeClass(**node_class) for node_class in written["classes"]), written["power_limit_w"])


def _segment(row: dict[str, str]) -> Segment:
    return Segment(
        start_s=int(row["start_s"]),
        end_s=int(row["end_s"]),
        temperature_c=int(row["temperature_c"]),
        price_eur_per_kwh=float(row["price_eur_per_kwh"]),
        solar_w=float(row["solar_w"]),
        carbon_g_per_kwh=float(row["carbon_g_per_kwh"]),
    )


def _scheduled(row: dict[str, str], cluster: Cluster) -> tuple[Job, str, Placement, int]:
    placement = Placement(row["job_id"], int(row["start_s"]), parse_unit_nodes(row["unit_nodes"]))
    return _job(row, cluster), row["state"], placement, int(row["end_s"])


def _deferred(row: dict[str, str], cluster: Cluster) -> tuple[Job | None, bool]:
    is_deferred = row["kind"] == "deferred"
    return (_job(row, cluster) if is_deferred else None), is_deferred


def _job(row: dict[str, str], cluster: Cluster) -> Job:
    return Job(
        id=row["job_id"],
        submit_unix=_unix(row["submit_time"]),
        requested_s=int(row["requested_s"]),
        units=parse_unit_groups(row["unit_groups"], cluster.resources),
        power_w=float(row["power_w"]),
        account=row["account"],
        user=row["user"],
        name=row["name"],
        runtime_s=int(row["runtime_s"]) if row["runtime_s"] else None,
        deadline_unix=_unix(row["deadline"]) if row["deadline"] else None,
        revenue_weight=float(row["revenue_weight"]),
    )


def _unix(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).timestamp())
