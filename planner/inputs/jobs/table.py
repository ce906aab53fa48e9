"""Reads jobs from a table, CSV or Parquet, one row per job, with units in the column names."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Collection, Sequence
from decimal import Decimal
from pathlib import Path

from planner import bounds
from planner.domain.cluster import CORES
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.parquet_rows import read_parquet_rows
from planner.inputs.jobs.power import PowerModel
from planner.inputs.jobs.table_rows import Row, read_csv_rows
from planner.inputs.jobs.table_units import resource_columns, row_units
from planner.inputs.jobs.table_writer import write_job_table
from planner.inputs.jobs.unit_shape import MEMORY
from planner.units import SECONDS_PER_HOUR

__all__ = ["read_job_table", "write_job_table"]

RESOURCES = (MEMORY, "gpus")
"""Resources besides cores that a table may always name."""

COLUMNS = (
    "job_id",
    "submit_time",
    "submit_unix",
    "requested_s",
    "requested_h",
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
)
"""Columns that are not about a resource."""

ROUNDED_TIME = "fraction of a second: rounded up"


def read_job_table(
    path: Path | str,
    *,
    unit_cores: int,
    power: PowerModel,
    window: tuple[int, int] | None = None,
    resources: Collection[str] = (),
    kind: str = "auto",
) -> tuple[tuple[Job, ...], Intake]:
    """Read jobs from a CSV (plain, ``.gz``, ``.xz``) or ``.parquet`` file; docs/jobs-files.md has the columns.

    Parameters
    ----------
    path
        The file.
    unit_cores
        Cores of a full unit, for jobs that give only their total.
    power
        What a job draws [W] from its id and cores, for jobs that do not say.
    window
        Only jobs submitted from the first to before the second [Unix seconds] are kept.
    resources
        Names of resources besides cores, memory_gb and gpus that columns may name.
    kind
        ``csv``, ``parquet``, or ``auto`` to go by the suffix.

    Raises
    ------
    FileFormatError
        A column is unknown or missing, or a value cannot be; names line, column, value and remedy.
    """
    path = Path(path)
    if unit_cores < 1:
        raise InputError(f"unit cores are {unit_cores}; a unit must have at least 1")
    known = _known_resources(resources)
    if kind == "auto":
        kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    columns, rows = read_parquet_rows(path) if kind == "parquet" else read_csv_rows(path)
    _require_columns(path, columns, known)
    _require_distinct_ids(rows)
    intake = Intake(source=str(path))
    jobs = tuple(_job(row, known, unit_cores, power, intake.repaired) for row in rows)
    if window is not None:
        jobs = tuple(job for job in jobs if window[0] <= job.submit_unix < window[1])
        intake.notes.append(
            f"{len(jobs)} of {len(rows)} jobs were submitted in the window [{window[0]}, {window[1]})"
            " of Unix time; repairs are counted over all"
        )
    intake.kept = len(jobs)
    return jobs, intake


def _job(row: Row, resources: Sequence[str], unit_cores: int, power: PowerModel, repaired: Counter[str]) -> Job:
    identity = row.words("job_id")
    if not identity:
        raise row.error("column job_id is empty", "give every job a name of its own")
    submit_unix = _time(row, "submit_time", "submit_unix", repaired)
    deadline_unix = _time(row, "deadline", "deadline_unix", repaired)
    if submit_unix is None:
        raise row.error("the job has no submit time", "fill submit_time or submit_unix")
    try:
        units = row_units(row, resources, unit_cores)
        cores = sum(group.count * group.amount(CORES) for group in units)
        return Job(
            id=identity,
            submit_unix=submit_unix,
            requested_s=_requested_s(row, repaired),
            units=units,
            power_w=_power_w(row, identity, cores, power),
            account=row.words("account"),
            user=row.words("user"),
            name=row.words("name"),
            runtime_s=row.whole("runtime_s", bounds.RUNTIME_S) if "runtime_s" in row else None,
            deadline_unix=deadline_unix,
            revenue_weight=float(row.number("revenue_weight", bounds.REVENUE_WEIGHT))
            if "revenue_weight" in row
            else 1.0,
        )
    except FileFormatError:
        raise
    except InputError as error:
        raise row.error(str(error), "correct this row") from error


def _time(row: Row, written: str, unix: str, repaired: Counter[str]) -> int | None:
    chosen = _one_of(row, written, unix)
    if chosen is None:
        return None
    if chosen == unix:
        return row.unix(unix)
    return _rounded_up(row.moment(written), repaired)


def _requested_s(row: Row, repaired: Counter[str]) -> int:
    chosen = _one_of(row, "requested_s", "requested_h")
    if chosen is None:
        raise row.error("the job has no requested time", "fill requested_s or requested_h")
    if chosen == "requested_h":
        return _rounded_up(row.number(chosen, bounds.REQUESTED_H) * SECONDS_PER_HOUR, repaired)
    return _rounded_up(row.number(chosen, bounds.REQUESTED), repaired)


def _power_w(row: Row, identity: str, cores: float, power: PowerModel) -> float:
    match _one_of(row, "power_w", "power_w_per_core"):
        case "power_w":
            return float(row.number("power_w", bounds.JOB_W))
        case "power_w_per_core":
            return float(row.number("power_w_per_core", bounds.W_PER_CORE)) * cores
        case _:
            return power(identity, cores)


def _rounded_up(seconds: Decimal, repaired: Counter[str]) -> int:
    if seconds != int(seconds):
        repaired[ROUNDED_TIME] += 1
    return math.ceil(seconds)


def _one_of(row: Row, first: str, second: str) -> str | None:
    if first in row and second in row:
        raise row.error(f"columns {first} and {second} are both filled", "leave one of them empty")
    return first if first in row else second if second in row else None


def _known_resources(resources: Collection[str]) -> tuple[str, ...]:
    known = (CORES, *sorted({*RESOURCES, *resources} - {CORES}))
    clashes = sorted(set(COLUMNS) & set(resource_columns(known)))
    if clashes:
        raise InputError(f"resource name {clashes[0]!r} is also a column of job tables; rename the resource")
    return known


def _require_columns(path: Path, columns: Sequence[str], resources: Sequence[str]) -> None:
    known = [*COLUMNS, *resource_columns(resources)]
    unknown = [_unknown(name, known) for name in columns if name not in known]
    if unknown:
        raise FileFormatError(
            path, f"unknown column {', '.join(unknown)}", remedy="rename or remove it; docs/jobs-files.md lists all"
        )
    for choices in (
        ("job_id",),
        ("submit_time", "submit_unix"),
        ("requested_s", "requested_h"),
        ("cores", "cores_per_unit", "unit_groups"),
    ):
        if not set(choices) & set(columns):
            raise FileFormatError(
                path, f"no column {' or '.join(choices)}", remedy="add it; docs/jobs-files.md lists all columns"
            )


def _unknown(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f"{name!r} (did you mean {close[0]!r}?)" if close else repr(name)


def _require_distinct_ids(rows: Sequence[Row]) -> None:
    first: dict[str, Row] = {}
    for row in rows:
        earlier = first.setdefault(row.text("job_id"), row)
        if earlier is not row and "job_id" in row:
            raise row.error(
                f"job_id {row.text('job_id')!r} is also on {row.counted_in} {earlier.place}",
                "give every job a name of its own",
            )
