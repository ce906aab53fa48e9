"""Reads and writes jobs as a table, CSV or Parquet, one row per job, with units in the column names.

What is written reads back as the same jobs, by node classes instead of partitions.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from planner import limits
from planner.domain.cluster import CORES, Cluster
from planner.domain.horizon import zone_named
from planner.domain.intake import Intake
from planner.domain.job import Job, format_dependencies, parse_dependencies
from planner.errors import FileFormatError, InputError, OutputError
from planner.inputs.jobs.unit_groups import MEMORY, format_unit_groups, resource_columns, row_units
from planner.inputs.local_times import FORMS, slurm_duration_s
from planner.inputs.table_cells import Accept, Row, one_of, read_rows, require_known, rounded_up, row_time
from planner.parquet import arrow
from planner.places import document
from planner.power.learned import Asked, PowerModel
from planner.text_files import csv_text
from planner.units import SECONDS_PER_HOUR, parse_duration, utc_text

CLASS_COLUMNS = ("partition", "node_class")
DESCRIBED_IN = document("jobs-files.md")
"""Where people find the columns."""
RESOURCES = (MEMORY, "gpus")
"""Resources besides cores that a table may always name."""
REQUESTED = ("requested_s", "requested_h", "requested", "time_limit")
"""Columns of the requested time, of which each row fills one; the last two are durations as Slurm writes them."""
COLUMNS = (
    "job_id",
    "submit_time",
    "submit_unix",
    *REQUESTED,
    "units",
    "unit_groups",
    "power_w",
    "power_w_per_core",
    "account",
    "user",
    "name",
    "runtime_s",
    "deadline",
    "deadline_unix",
    "revenue_weight",
    *CLASS_COLUMNS,
    "exclusive",
    "begin_time",
    "begin_unix",
    "priority",
    "dependency",
    "qos",
)
"""Columns that are not about a resource."""


def row_classes(row: Row, cluster: Cluster | None) -> tuple[str, ...]:
    """Node classes that the job of a row may run on, empty for all; without a cluster there are none to choose from."""
    if cluster is None or not any(column in row for column in CLASS_COLUMNS):
        return ()
    partitions, classes = (_names(row, column) for column in CLASS_COLUMNS)
    try:
        return cluster.allowed_classes(partitions, classes)
    except InputError as error:
        raise row.error(str(error), "") from error


def _names(row: Row, column: str) -> list[str]:
    names = [name.strip() for name in row.words(column).split(",")] if column in row else []
    if "" in names:
        raise row.bad(column, "names with commas between them")
    return names


def read_job_rows(
    path: Path | str,
    *,
    unit_cores: int,
    power: PowerModel,
    cluster: Cluster | None = None,
    kind: str = "auto",
    zone: str | None = None,
    further: Collection[str] = (),
    described_in: str = DESCRIBED_IN,
    accept: Accept = lambda columns: None,
) -> tuple[list[tuple[Job, Row]], Intake]:
    """The jobs of a CSV (plain or packed) or Parquet table, each with its row; docs/jobs-files.md has the columns.

    ``unit_cores`` are those of a full unit, for jobs that give only their total. Resources of the ``cluster`` have
    columns besides those of cores, memory_gb and gpus, and jobs may name its partitions and node classes. Times without
    an offset are of the ``zone``; without one they are refused. ``further`` are columns that the caller reads itself;
    ``described_in`` is where people find all columns, and ``accept`` refuses columns for a reason of the caller.
    """
    path = Path(path)
    if unit_cores < 1:
        raise InputError(f"unit cores are {unit_cores}; a unit must have at least 1")
    known = _known_resources(() if cluster is None else cluster.resources, further)

    def accept_all(columns: list[str]) -> None:
        require_known(path, columns, [*COLUMNS, *further, *resource_columns(known)], described_in)
        _require_columns(path, columns, described_in)
        accept(columns)

    _, rows = read_rows(path, kind, None if zone is None else zone_named(zone), accept_all)
    _require_distinct_ids(rows)
    intake = Intake(source=str(path), kept=len(rows))
    return [(_job(row, known, unit_cores, power, cluster, intake.repaired), row) for row in rows], intake


def _job(
    row: Row,
    resources: Sequence[str],
    unit_cores: int,
    power: PowerModel,
    cluster: Cluster | None,
    repaired: Counter[str],
) -> Job:
    identity = row.words("job_id")
    if not identity:
        raise row.error("column job_id is empty", "give every job a name of its own")
    submit_unix = row_time(row, "submit_time", "submit_unix", repaired)
    deadline_unix = row_time(row, "deadline", "deadline_unix", repaired)
    if submit_unix is None:
        raise row.error("the job has no submit time", "fill submit_time or submit_unix")
    try:
        units = row_units(row, resources, unit_cores)
        asked = Asked(
            identity,
            units,
            _requested_s(row, repaired),
            row.words("user"),
            row.words("account"),
            row.words("name"),
            row.text("partition"),
            row_classes(row, cluster),
            "exclusive" in row and row.flag("exclusive"),
        )
        return asked.job(
            submit_unix,
            _power_w(row, asked, power),
            runtime_s=row.whole("runtime_s", limits.RUNTIME_S) if "runtime_s" in row else None,
            deadline_unix=deadline_unix,
            revenue_weight=_factor(row, "revenue_weight", limits.REVENUE_WEIGHT),
            begin_unix=row_time(row, "begin_time", "begin_unix", repaired),
            priority=_factor(row, "priority", limits.PRIORITY),
            after=parse_dependencies(row.words("dependency")),
            qos=row.words("qos"),
        )
    except FileFormatError:
        raise
    except InputError as error:
        raise row.error(str(error), "correct this row") from error


def _factor(row: Row, column: str, bounds: limits.Bounds) -> float:
    return float(row.number(column, bounds)) if column in row else 1.0


def _requested_s(row: Row, repaired: Counter[str]) -> int:
    chosen = one_of(row, *REQUESTED)
    if chosen is None:
        raise row.error("the job has no requested time", "fill requested_s or requested_h")
    if chosen == "requested_h":
        return rounded_up(row.number(chosen, limits.REQUESTED_H) * SECONDS_PER_HOUR, repaired)
    if chosen != "requested_s":
        return _duration_s(row, chosen)
    return rounded_up(row.number(chosen, limits.REQUESTED), repaired)


def _duration_s(row: Row, column: str) -> int:
    """A duration as Slurm writes it, or one with units, such as 4h [s]."""
    text = row.text(column)
    has_units = any(letter in text.lower() for letter in "smhd")
    try:
        seconds = math.ceil(parse_duration(text)) if has_units else slurm_duration_s(text)
    except InputError:
        seconds = 0
    if seconds not in limits.REQUESTED_S:
        raise row.bad(column, f"{FORMS}, from 1 s to 100 years", "write 1-12:00:00, 08:30:00, or minutes such as 90")
    return seconds


def _power_w(row: Row, asked: Asked, power: PowerModel) -> float:
    match one_of(row, "power_w", "power_w_per_core"):
        case "power_w":
            return float(row.number("power_w", limits.JOB_W))
        case "power_w_per_core":
            return float(row.number("power_w_per_core", limits.W_PER_CORE)) * asked.cores
        case _:
            return power(asked)


def _known_resources(resources: Collection[str], further: Collection[str]) -> tuple[str, ...]:
    known = (CORES, *sorted({*RESOURCES, *resources} - {CORES}))
    clashes = sorted({*COLUMNS, *further} & set(resource_columns(known)))
    if clashes:
        raise InputError(f"resource name {clashes[0]!r} is also a column of job tables; rename the resource")
    return known


def _require_columns(path: Path, columns: Sequence[str], described_in: str) -> None:
    for choices in (
        ("job_id",),
        ("submit_time", "submit_unix"),
        REQUESTED,
        ("cores", "cores_per_unit", "unit_groups"),
    ):
        if not set(choices) & set(columns):
            raise FileFormatError(
                path, f"no column {' or '.join(choices)}", remedy=f"add it; {described_in} lists all columns"
            )


def _require_distinct_ids(rows: Sequence[Row]) -> None:
    first: dict[str, Row] = {}
    for row in rows:
        earlier = first.setdefault(row.text("job_id"), row)
        if earlier is not row and "job_id" in row:
            raise row.error(
                f"job_id {row.text('job_id')!r} is also on {row.counted_in} {earlier.place}",
                "give every job a name of its own",
            )


WRITTEN_SUFFIXES = (".csv", ".csv.gz", ".parquet")

Columns = dict[str, list[object]]
"""A table by its columns; None is an empty cell."""


def write_job_table(jobs: Iterable[Job], path: Path | str) -> None:
    """Write jobs to a ``.csv``, ``.csv.gz`` or ``.parquet`` file; the same jobs give the same bytes.

    InputError where the suffix is none of these, or a resource has a name that cannot be written; OutputError where the
    file cannot be.
    """
    write_columns(job_table_columns(tuple(jobs)), path)


def write_columns(columns: Columns, path: Path | str) -> None:
    """Write columns of equal length as a table; InputError and OutputError as for `write_job_table`."""
    path = Path(path)
    name = path.name.lower()
    if not name.endswith(WRITTEN_SUFFIXES):
        raise InputError(f"{path}: cannot write this kind of file; use {', '.join(WRITTEN_SUFFIXES)}")
    try:
        if name.endswith(".parquet"):
            _write_parquet(columns, path)
            return
        content = _csv_text(columns).encode("utf-8")
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def job_table_columns(jobs: Sequence[Job]) -> Columns:
    """The columns of a job table that say all that jobs have; those about rules of the queue only if a job has some.

    The node classes of a job say what its partition does, and hold on every machine that has them.
    """
    columns: Columns = {
        "job_id": [job.id for job in jobs],
        "submit_time": [utc_text(job.submit_unix) for job in jobs],
        "requested_s": [job.requested_s for job in jobs],
        "unit_groups": [format_unit_groups(job.units) for job in jobs],
        "power_w": [float(job.power_w) for job in jobs],
        "account": [job.account for job in jobs],
        "user": [job.user for job in jobs],
        "name": [job.name for job in jobs],
        "runtime_s": [job.runtime_s for job in jobs],
        "deadline": [None if job.deadline_unix is None else utc_text(job.deadline_unix) for job in jobs],
        "revenue_weight": [float(job.revenue_weight) for job in jobs],
    }
    rules: Columns = {
        "node_class": [",".join(job.classes) or None for job in jobs],
        "exclusive": ["true" if job.exclusive else None for job in jobs],
        "priority": [None if job.priority == 1 else float(job.priority) for job in jobs],
        "begin_time": [None if job.begin_unix is None else utc_text(job.begin_unix) for job in jobs],
        "dependency": [format_dependencies(job.after) or None for job in jobs],
        "qos": [job.qos or None for job in jobs],
    }
    return columns | {name: cells for name, cells in rules.items() if any(cell is not None for cell in cells)}


def _csv_text(columns: Columns) -> str:
    # Text is quoted so that spaces at its ends and line breaks come back.
    return csv_text([list(columns), *zip(*columns.values(), strict=True)], quote_text=True)


def _write_parquet(columns: Columns, path: Path) -> None:
    arrow()

    import pandas as pd

    types = {"requested_s": "int64", "runtime_s": "Int64", "power_w": "float64", "revenue_weight": "float64"}
    types["priority"] = "Float64"
    frame = pd.DataFrame(columns, dtype=object)
    frame = frame.astype({name: types.get(name, "string") for name in columns})
    frame.to_parquet(path, index=False)
