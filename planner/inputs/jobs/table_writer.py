"""Writes jobs as a table, CSV or Parquet, that reads back as the same jobs, by node classes instead of partitions."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.domain.job import Job, format_dependencies
from planner.errors import InputError, OutputError
from planner.inputs.jobs.unit_groups import format_unit_groups
from planner.parquet import arrow
from planner.text_files import csv_text
from planner.units import utc_text

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
