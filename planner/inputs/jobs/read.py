"""Reads jobs from a file of any known format, chosen by its suffix."""

from __future__ import annotations

from pathlib import Path

from planner.domain.cluster import Cluster
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.errors import InputError
from planner.inputs.jobs.swf import read_swf
from planner.inputs.jobs.table import read_job_table
from planner.inputs.jobs.unit_shape import UnitShape
from planner.power.asked import PowerModel
from planner.scenario.words import JobsFormat
from planner.text_files import require_file

FORMAT_OF_SUFFIX: dict[str, JobsFormat] = {
    ".swf": "swf",
    ".swf.gz": "swf",
    ".swf.xz": "swf",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".csv.xz": "csv",
    ".parquet": "parquet",
}


def read_jobs(
    path: Path | str,
    format: str = "auto",
    *,
    shape: UnitShape,
    power: PowerModel,
    window: tuple[int, int] | None = None,
    cluster: Cluster | None = None,
    start_unix: int | None = None,
    drop_zero_runtime: bool = True,
    zone: str | None = None,
) -> tuple[tuple[Job, ...], Intake]:
    """Read jobs, and count what was kept, repaired and dropped.

    Parameters
    ----------
    path
        The file.
    format
        ``swf``, ``csv``, ``parquet``, or ``auto`` to go by the suffix.
    shape
        How cores become units. A core scale other than 1 is for SWF traces: a table means what it says.
    power
        What a job draws [W], where the file does not say.
    window
        Only jobs submitted from the first to before the second [Unix seconds].
    cluster
        The machine whose resources, partitions and node classes the columns of a table may speak of.
    start_unix
        Start of an SWF trace [Unix seconds] in place of the header's UnixStartTime.
    drop_zero_runtime
        Whether SWF jobs that never ran are left out.
    zone
        The zone of times in a table that have no offset.
    """
    path = require_file(path)
    if _format(path, format) == "swf":
        return read_swf(
            path,
            shape=shape,
            power=power,
            window=window,
            start_unix=start_unix,
            drop_zero_runtime=drop_zero_runtime,
        )
    require_unscaled(path, shape)
    return read_job_table(
        path,
        unit_cores=shape.unit_cores,
        power=power,
        window=window,
        cluster=cluster,
        kind=_format(path, format),
        zone=zone,
    )


def require_unscaled(path: Path, shape: UnitShape) -> None:
    """InputError when a scenario scales the cores of a table."""
    if shape.core_scale != 1.0:
        raise InputError(
            f"{path}: the core scale is {shape.core_scale:g}, but a job table is taken as it is written;"
            " set the core scale to 1, or scale the table"
        )


def is_swf(path: Path) -> bool:
    """Whether a file is an SWF trace by its name."""
    return any(path.name.lower().endswith(suffix) for suffix, name in FORMAT_OF_SUFFIX.items() if name == "swf")


def _format(path: Path, format: str) -> str:
    known = sorted(set(FORMAT_OF_SUFFIX.values()))
    if format in known:
        return format
    if format != "auto":
        raise InputError(f"unknown job file format {format!r}; known are auto, {', '.join(known)}")
    for suffix, name in FORMAT_OF_SUFFIX.items():
        if path.name.lower().endswith(suffix):
            return name
    raise InputError(
        f"{path}: cannot tell the format from the name; known endings are {', '.join(FORMAT_OF_SUFFIX)},"
        " or give the format"
    )
