"""Reads jobs from a file of any known format, chosen by its suffix, and the jobs of a scenario that are known at a
moment."""

from __future__ import annotations

from pathlib import Path

from planner.domain.cluster import Cluster
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.precedence import require_no_circle
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.job_table import read_job_rows
from planner.inputs.jobs.power_models import constant_of, power_notes, power_of
from planner.inputs.jobs.sample import sample_jobs
from planner.inputs.jobs.swf_cleaning import kept_trace, swf_jobs
from planner.inputs.jobs.unit_groups import UnitShape, unit_shape_of
from planner.power.learned import PowerModel
from planner.scenario.jobs_power import FileJobs, SampleJobs, SlurmJobs
from planner.scenario.schema import Scenario
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

    ``format`` is ``swf``, ``csv``, ``parquet``, or ``auto`` to go by the suffix. ``shape`` says how cores become units;
    a core scale other than 1 is for SWF traces: a table means what it says. Only jobs submitted from the first to
    before the second of the ``window`` [Unix seconds] are kept. ``cluster`` is the machine whose resources, partitions
    and node classes the columns of a table may speak of, ``zone`` that of its times without an offset. ``start_unix``
    takes the place of an SWF header's UnixStartTime, and ``drop_zero_runtime`` leaves out SWF jobs that never ran.
    """
    path = require_file(path)
    kind = _format(path, format)
    if kind == "swf":
        return swf_jobs(
            kept_trace(path),
            shape=shape,
            power=power,
            window=window,
            start_unix=start_unix,
            drop_zero_runtime=drop_zero_runtime,
        )
    require_unscaled(path, shape)
    found, intake = read_job_rows(path, unit_cores=shape.unit_cores, power=power, cluster=cluster, kind=kind, zone=zone)
    jobs = tuple(job for job, _ in found)
    try:
        require_no_circle(jobs)
    except InputError as error:
        raise FileFormatError(path, str(error)) from error
    if window is not None:
        jobs = tuple(job for job in jobs if window[0] <= job.submit_unix < window[1])
        intake.notes.append(
            f"{len(jobs)} of {len(found)} jobs were submitted in the window [{window[0]}, {window[1]})"
            " of Unix time; repairs are counted over all"
        )
    intake.kept = len(jobs)
    return jobs, intake


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


def known_jobs(
    scenario: Scenario,
    horizon: Horizon,
    continues: bool = False,
    *,
    since_unix: int | None = None,
    until_unix: int | None = None,
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs that are known for a day, apart from those handed over.

    On a first day a queue dump is taken whole; of a trace or the sample, what was submitted within the lookback before
    the day. ``visibility: day`` adds what is submitted on the day itself. A day that ``continues`` from the one before
    takes what that one could not know yet, so that every job comes in once. ``since_unix`` and ``until_unix`` take the
    place of these bounds: submitted from the one to before the other.
    """
    choice = scenario.jobs
    if isinstance(choice, SlurmJobs):
        raise only_now()
    sees_day = choice.visibility == "day"
    until = until_unix or (horizon.end_unix if sees_day else horizon.start_unix)
    window = (horizon.start_unix - choice.lookback_s, until)
    if continues:
        window = (horizon.start_unix if sees_day else horizon.day_before().start_unix, until)
    if since_unix is not None:
        window = (since_unix, until)
    elif is_queue_dump(choice) and not continues:
        window = (0, until)
    return submitted_jobs(scenario, window) if window[0] < window[1] else ((), Intake("no new jobs"))


def submitted_jobs(
    scenario: Scenario, window: tuple[int, int], *, with_runtime: bool = False
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs of a scenario's source that are submitted in a window of Unix time.

    ``with_runtime`` leaves out the jobs of a trace that never ran, whatever the scenario says about them.
    """
    choice = scenario.jobs
    if isinstance(choice, SlurmJobs):
        raise only_now()
    if isinstance(choice, SampleJobs):
        return sample_jobs(
            window,
            zone=scenario.zone,
            cluster=scenario.cluster,
            seed=scenario.seed,
            power=constant_of(scenario.power, scenario.seed),
            load=choice.load,
        )
    power = power_of(scenario)
    jobs, intake = read_jobs(
        choice.source,
        choice.format,
        shape=unit_shape_of(choice, scenario.cluster),
        power=power,
        window=window,
        cluster=scenario.cluster,
        start_unix=choice.start_unix,
        drop_zero_runtime=with_runtime or choice.zero_runtime == "drop",
        zone=scenario.zone,
    )
    intake.notes += power_notes(power, window[1])
    return jobs, intake


def only_now() -> InputError:
    """The error for jobs of a day or a range of days that are wanted of Slurm, which has those of this moment alone."""
    return InputError("jobs.source is slurm, which has the jobs of one moment; plan them with plan now")


def is_queue_dump(choice: SampleJobs | SlurmJobs | FileJobs) -> bool:
    """Whether jobs are of a file in which all wait: tables do unless the scenario says otherwise, traces do not."""
    if not isinstance(choice, FileJobs):
        return False
    if choice.whole_queue is not None:
        return choice.whole_queue
    return choice.format != "swf" and not (choice.format == "auto" and is_swf(choice.source))
