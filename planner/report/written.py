"""Files of a written day, read one by one: what each says, or which is missing, damaged or garbled."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job
from planner.domain.plan import Placement
from planner.errors import FileFormatError
from planner.readers.jobs.unit_groups import parse_unit_groups
from planner.report.node_text import parse_unit_nodes
from planner.report.tables import Table

T = TypeVar("T")

REMEDY = "plan the day again"


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file of a run, which is a mapping."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileFormatError(path, "it is missing", remedy=REMEDY) from error
    except (ValueError, OSError) as error:
        raise FileFormatError(path, f"it is damaged ({error})", remedy=REMEDY) from error
    if not isinstance(content, dict):
        raise FileFormatError(path, "it is damaged (not a mapping)", remedy=REMEDY)
    return content


def read_table(path: Path, columns: tuple[str, ...]) -> Table:
    """A CSV as it stands, once its columns are the ones that a run writes and no row is cut short."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            text = file.read()
            if not text.endswith("\n"):
                raise FileFormatError(path, "it is cut short", remedy=REMEDY)
            reader = csv.reader(io.StringIO(text, newline=""))
            header = tuple(next(reader, []))
            if header != columns:
                odd = sorted(set(header) ^ set(columns)) or ["their order"]
                raise FileFormatError(path, f"other columns than expected: {', '.join(odd)}", line=1, remedy=REMEDY)
            rows = []
            for row in reader:
                if len(row) != len(columns):
                    problem = f"expected {len(columns)} fields, found {len(row)}"
                    raise FileFormatError(path, problem, line=reader.line_num, remedy=REMEDY)
                rows.append(tuple(row))
    except FileNotFoundError as error:
        raise FileFormatError(path, "it is missing", remedy=REMEDY) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(path, f"cannot read it ({error})", remedy=REMEDY) from error
    return Table(header, tuple(rows))


def read_rows(folder: Path, tables: dict[str, Table], name: str, parse: Callable[[dict[str, str]], T]) -> list[T]:
    """The rows of a table, each through ``parse``; errors name the row."""
    parsed = []
    for row in tables[name].rows:
        try:
            parsed.append(parse(dict(zip(tables[name].columns, row, strict=True))))
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            problem = f"cannot read the row of {row[0]} ({error})"
            raise FileFormatError(folder / f"{name}.csv", problem, remedy=REMEDY) from error
    return parsed


def cluster_of(written: dict[str, Any]) -> Cluster:
    """The cluster that a run was planned for, from the scenario in its run.json."""
    return Cluster(tuple(NodeClass(**node_class) for node_class in written["classes"]), written["power_limit_w"])


def scheduled_of(row: dict[str, str], cluster: Cluster) -> tuple[Job, str, Placement, int]:
    """Job, state, placement and end [s] of a row of schedule.csv."""
    if row["state"] not in ("planned", "carried"):
        raise ValueError(f"state is {row['state']!r}; known: planned, carried")
    job = job_of(row, cluster)
    nodes = parse_unit_nodes(row["unit_nodes"])
    if len(nodes) != job.unit_count:
        raise ValueError(f"{job.unit_count} units on {len(nodes)} nodes")
    return job, row["state"], Placement(job.id, int(row["start_s"]), nodes), int(row["end_s"])


def deferred_of(row: dict[str, str], cluster: Cluster) -> Job | None:
    """The job of a row; None for a rejected one, which no problem can hold."""
    if row["kind"] not in ("deferred", "rejected"):
        raise ValueError(f"kind is {row['kind']!r}; known: deferred, rejected")
    return job_of(row, cluster) if row["kind"] == "deferred" else None


def job_of(row: dict[str, str], cluster: Cluster) -> Job:
    """The job of a row of schedule.csv or deferred.csv."""
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
