"""Reads jobs from a table, CSV or Parquet, one row per job, with units in the column names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from planner import limits
from planner.domain.cluster import CORES, Cluster
from planner.domain.horizon import zone_named
from planner.domain.intake import Intake
from planner.domain.job import Job, parse_dependencies
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.table_rows import Row, one_of, read_rows, require_known, rounded_up, row_time
from planner.inputs.jobs.unit_groups import MEMORY, resource_columns, row_units
from planner.inputs.local_times import FORMS, slurm_duration_s
from planner.places import document
from planner.power.learned import Asked, PowerModel
from planner.units import SECONDS_PER_HOUR, parse_duration

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
) -> tuple[list[tuple[Job, Row]], Intake]:
    """The jobs of a CSV (plain or packed) or Parquet table, each with its row; docs/jobs-files.md has the columns.

    ``unit_cores`` are those of a full unit, for jobs that give only their total. Resources of the ``cluster`` have
    columns besides those of cores, memory_gb and gpus, and jobs may name its partitions and node classes. Times without
    an offset are of the ``zone``; without one they are refused. ``further`` are columns that the caller reads itself;
    ``described_in`` is where people find all columns.
    """
    path = Path(path)
    if unit_cores < 1:
        raise InputError(f"unit cores are {unit_cores}; a unit must have at least 1")
    known = _known_resources(() if cluster is None else cluster.resources, further)

    def accept(columns: list[str]) -> None:
        require_known(path, columns, [*COLUMNS, *further, *resource_columns(known)], described_in)
        _require_columns(path, columns, described_in)

    _, rows = read_rows(path, kind, None if zone is None else zone_named(zone), accept)
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
