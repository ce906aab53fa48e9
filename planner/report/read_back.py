"""A written day read back: its problem and plan from the files of its folder, and the PUE table that it names."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

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
from planner.report.tables import COLUMNS, Table

T = TypeVar("T")


@dataclass(frozen=True)
class WrittenDay:
    """A day as its folder tells it: the problem and plan, and the files as they stand.

    ``tables`` are ``schedule``, ``deferred`` and ``segments``; ``summary`` and ``run`` are the JSON files.
    """

    folder: Path
    problem: Problem
    plan: Plan
    tables: dict[str, Table]
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
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            folder / "run.json", f"it or summary.json lacks or garbles {error}", remedy=_REMEDY
        ) from error
    if hashes([table_path]).get(table_path.as_posix()) != hash_then:
        raise InputError(f"{table_path}: this PUE table is gone or not the one of {folder}; restore it")
    tables = {name: _table(folder / f"{name}.csv", columns) for name, columns in COLUMNS.items()}
    segments = tuple(_rows(folder, tables, "segments", _segment))
    scheduled = _rows(folder, tables, "schedule", lambda row: _scheduled(row, cluster))
    deferred = _rows(folder, tables, "deferred", lambda row: _deferred(row, cluster))
    planned = [(job, placement) for job, state, placement, _ in scheduled if state == "planned"]
    waiting = [job for job in deferred if job is not None]
    running = [
        (job, placement.start_s, end_s, placement.nodes)
        for job, state, placement, end_s in scheduled
        if state == "carried"
    ]
    try:
        problem = Problem(
            horizon=horizon,
            cluster=cluster,
            jobs=tuple(sorted([job for job, _ in planned] + waiting, key=lambda job: (job.submit_unix, job.id))),
            segments=segments,
            table=read_pue_table(table_path)[0],
            rates=rates,
            running=tuple(Running(*work) for work in running),
            defer=defer,
        )
        plan = Plan.of(problem, {job.id: placement for job, placement in planned})
    except (InputError, IndexError) as error:
        raise FileFormatError(folder, f"its files do not make a day: {error}", remedy=_REMEDY) from error
    return WrittenDay(folder, problem, plan, tables, summary, run)


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


def _table(path: Path, columns: tuple[str, ...]) -> Table:
    """A CSV as it stands, once its columns are the ones that a run writes and no row is cut short."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            text = file.read()
            if not text.endswith("\n"):
                raise FileFormatError(path, "it is cut short", remedy=_REMEDY)
            reader = csv.reader(io.StringIO(text, newline=""))
            header = tuple(next(reader, []))
            if header != columns:
                odd = sorted(set(header) ^ set(columns)) or ["their order"]
                raise FileFormatError(path, f"other columns than expected: {', '.join(odd)}", line=1, remedy=_REMEDY)
            rows = []
            for row in reader:
                if len(row) != len(columns):
                    problem = f"expected {len(columns)} fields, found {len(row)}"
                    raise FileFormatError(path, problem, line=reader.line_num, remedy=_REMEDY)
                rows.append(tuple(row))
    except FileNotFoundError as error:
        raise FileFormatError(path, "it is missing", remedy=_REMEDY) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(path, f"cannot read it ({error})", remedy=_REMEDY) from error
    return Table(header, tuple(rows))


def _rows(folder: Path, tables: dict[str, Table], name: str, parse: Callable[[dict[str, str]], T]) -> list[T]:
    """The rows of a table, each through ``parse``; errors name the row."""
    parsed = []
    for row in tables[name].rows:
        try:
            parsed.append(parse(dict(zip(tables[name].columns, row, strict=True))))
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            problem = f"cannot read the row of {row[0]} ({error})"
            raise FileFormatError(folder / f"{name}.csv", problem, remedy=_REMEDY) from error
    return parsed


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
    if row["state"] not in ("planned", "carried"):
        raise ValueError(f"state is {row['state']!r}; known: planned, carried")
    job = _job(row, cluster)
    nodes = parse_unit_nodes(row["unit_nodes"])
    if len(nodes) != job.unit_count:
        raise ValueError(f"{job.unit_count} units on {len(nodes)} nodes")
    return job, row["state"], Placement(job.id, int(row["start_s"]), nodes), int(row["end_s"])


def _deferred(row: dict[str, str], cluster: Cluster) -> Job | None:
    """The job of a row; None for a rejected one, which no problem can hold."""
    if row["kind"] not in ("deferred", "rejected"):
        raise ValueError(f"kind is {row['kind']!r}; known: deferred, rejected")
    return _job(row, cluster) if row["kind"] == "deferred" else None


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
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no offset from UTC")
    return int(moment.timestamp())
