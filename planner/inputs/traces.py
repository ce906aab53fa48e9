"""From a jobs file to a trace that can be replayed: cleaned, counted, on a pool of processors or on a cluster."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from planner.domain.columns import Ints
from planner.domain.ever_fits import Fit
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.precedence import waiting_in_vain
from planner.domain.trace import Trace, cluster_trace_of, codes, deadlines, first_jobs, pool_trace, priorities
from planner.errors import InputError
from planner.inputs.jobs.power_models import per_core, power_notes, power_of
from planner.inputs.jobs.read import is_swf, known_jobs, read_jobs, submitted_jobs
from planner.inputs.jobs.swf_cleaning import (
    CUT_RUNTIME,
    NO_PROCESSORS,
    NO_REQUEST,
    NO_RUNTIME,
    Mask,
    count_repairs,
    drop,
    drop_unusable,
    kept_trace,
    repaired_lines,
    start_unix_of,
    whole_jobs,
)
from planner.inputs.jobs.swf_file import SwfTrace, read_swf_trace
from planner.inputs.jobs.unit_groups import UnitShape, unit_shape_of
from planner.limits import PROCESSORS, UNIX_S
from planner.scenario.jobs_power import FileJobs
from planner.scenario.schema import Scenario

TOO_WIDE = "wider than the machine"
OTHER_PARTITION = "of another partition"
OTHER_QUEUE = "of another queue"
NOTHING_ALLOCATED = "no processors were allocated"
NEVER_FITS = "cannot run even on the empty machine"
WAITS_IN_VAIN = "waits for a job that cannot run"
NO_TABLE_RUNTIME = "runtime missing: requested time taken"
UNREQUESTED = ("keep", "drop")
WIDEST = 10**9


@dataclass(frozen=True)
class Source:
    """A trace with what became of its file, and its jobs where they come from a scenario, in the trace's order."""

    trace: Trace
    intake: Intake
    jobs: tuple[Job, ...] = ()

    def first(self, count: int | None) -> Source:
        """The same with the first jobs alone; None: with all."""
        if count is None:
            return self
        return replace(self, trace=first_jobs(self.trace, count), jobs=self.jobs[:count])


def read_pool(
    path: Path,
    processors: int | None = None,
    *,
    unrequested: str = "keep",
    partitions: Collection[int] = (),
    queues: Collection[int] = (),
    but_queues: Collection[int] = (),
    allocated: bool = False,
) -> Source:
    """Read a trace for one pool of processors; an SWF header says how many unless they are given.

    Cleaning: jobs without runtime or processors are dropped; a missing processor count or requested time is taken from
    the other field; a runtime is cut at the requested time; a job wider than the machine is dropped. Jobs of
    an SWF file without a requested time can be dropped instead, and jobs of other partitions or queues than those
    named by their numbers are left out, or those of ``but_queues``, or with ``allocated`` those that got no processors.
    """
    if unrequested not in UNREQUESTED:
        known = ", ".join(UNREQUESTED)
        raise InputError(f"unknown rule {unrequested!r} for jobs without a requested time; known: {known}")
    if is_swf(path):
        swf = read_swf_trace(path)
        return _swf_pool(swf, processors, unrequested, partitions, queues, but_queues, allocated=allocated)
    if partitions or queues or but_queues or allocated:
        raise InputError(f"{path}: only SWF jobs have numbers of partitions and queues; leave the choice out")
    if unrequested == "drop":
        raise InputError(f"{path}: every job of a table has a requested time; only SWF jobs may have none")
    if processors is None:
        raise InputError(f"{path}: a job table does not say how many processors there are; give --processors")
    jobs, intake = read_jobs(path, shape=UnitShape(unit_cores=WIDEST), power=per_core(0.0))
    jobs = _that_ran(jobs, intake)
    runtime_s, requested_s = _times(jobs, intake)
    width = np.array([max(1, round(job.total("cores"))) for job in jobs], dtype=np.int64)
    submit_s = np.array([job.release_unix for job in jobs], dtype=np.int64)
    kept = drop(np.ones(len(jobs), dtype=np.bool_), width > processors, TOO_WIDE, intake)
    kept &= ~_in_vain(jobs, kept, intake)
    chosen = [job for job, keep in zip(jobs, kept, strict=True) if keep]
    origin = int(submit_s.min()) if len(submit_s) else 0
    trace = pool_trace(
        tuple(job.id for job in chosen),
        submit_s[kept] - origin,
        runtime_s[kept],
        requested_s[kept],
        width[kept],
        processors,
        user=codes([job.user for job in chosen]),
        name=codes([job.name for job in chosen]),
        group=codes([job.account for job in chosen]),
        after=[job.after for job in chosen],
        origin_unix=origin,
        source=str(path),
        priority=priorities(chosen),
        deadline_s=deadlines(chosen, origin),
    )
    intake.kept = len(trace)
    return _with_jobs(Source(trace, intake))


def read_cluster(path: Path, scenario: Scenario) -> Source:
    """Read a trace for the cluster of a scenario, with its units, resources and power."""
    choice, cluster = scenario.jobs, scenario.cluster
    of_file = choice if isinstance(choice, FileJobs) else None
    shape = unit_shape_of(choice, cluster)
    power = power_of(scenario)
    start_unix = None if of_file is None else of_file.start_unix
    jobs, intake = read_jobs(
        path,
        of_file.format if of_file is not None and path == of_file.source else "auto",
        shape=shape if is_swf(path) else replace(shape, core_scale=1.0),
        power=power,
        cluster=cluster,
        start_unix=start_unix,
    )
    intake.notes += power_notes(power)
    jobs = _that_ran(jobs, intake)
    _tell_of_outages(scenario, intake)
    # Predictors may heed the time of day, so second 0 is that of the file, as on a pool.
    origin = start_unix_of(kept_trace(path), start_unix) if is_swf(path) else None
    return cluster_trace(jobs, scenario, intake, str(path), origin_unix=origin)


def read_window(scenario: Scenario, first: dt.date, last: dt.date) -> Source:
    """The jobs of a scenario's own source that are submitted from one day to another, for its cluster.

    The trace begins at the midnight of the first day.
    """
    horizon = Horizon(first, scenario.zone)
    window = (horizon.start_unix, Horizon(last, scenario.zone).end_unix)
    jobs, intake = submitted_jobs(scenario, window, with_runtime=True)
    jobs = _that_ran(jobs, intake)
    _tell_of_outages(scenario, intake)
    return cluster_trace(jobs, scenario, intake, f"{scenario.name} {first} to {last}", origin_unix=horizon.start_unix)


def read_known(scenario: Scenario, first: dt.date, last: dt.date) -> Source | None:
    """The jobs that plans of these days know, the first of which starts from nothing; None where there are none.

    The trace begins at the midnight of the first day; what was submitted before has negative times. Jobs that plans of
    the last day do not know yet are left out.
    """
    begin, end = Horizon(first, scenario.zone), Horizon(last, scenario.zone)
    until_unix = end.end_unix if scenario.jobs.visibility == "day" else end.start_unix
    jobs, intake = known_jobs(scenario, begin, until_unix=until_unix)
    jobs = tuple(sorted(jobs, key=lambda job: job.submission_key))
    if all(Fit(scenario.cluster).why_never(job) for job in jobs):
        return None
    return cluster_trace(jobs, scenario, intake, f"{scenario.name} {first} to {last}", origin_unix=begin.start_unix)


def _that_ran(jobs: Sequence[Job], intake: Intake) -> tuple[Job, ...]:
    """The jobs without those of which it is known that they ran for no second."""
    kept = tuple(job for job in jobs if job.runtime_s != 0)
    if len(kept) < len(jobs):
        intake.dropped[NO_RUNTIME] += len(jobs) - len(kept)
    return kept


def _tell_of_outages(scenario: Scenario, intake: Intake) -> None:
    if scenario.outages:
        intake.alerts.append("nodes are out of service by cluster.down, which replays do not know of: all are used")


def cluster_trace(
    jobs: Iterable[Job], scenario: Scenario, intake: Intake, source: str, *, origin_unix: int | None = None
) -> Source:
    """Jobs as a trace for the cluster of a scenario; it begins with the first submission unless told otherwise."""
    cluster = scenario.cluster
    fit = Fit(cluster)
    candidates = sorted(jobs, key=lambda job: job.release_unix)
    fits = np.array([fit.why_never(job) is None for job in candidates], dtype=np.bool_)
    if not fits.all():
        intake.dropped[NEVER_FITS] += int(np.sum(~fits))
    vain = _in_vain(candidates, fits, intake)
    taken = [job for job, keep in zip(candidates, fits & ~vain, strict=True) if keep]
    intake.kept = len(taken)
    runtime_s, requested_s = _times(taken, intake)
    first_unix = taken[0].release_unix if taken else 0
    origin = first_unix if origin_unix is None else origin_unix
    trace = cluster_trace_of(taken, runtime_s, requested_s, cluster, origin_unix=origin, source=source)
    return _with_jobs(Source(trace, intake, tuple(taken)))


def _in_vain(jobs: Sequence[Job], kept: Mask, intake: Intake) -> Mask:
    """Which of the jobs wait for one that is dropped, so that they would wait forever; they are dropped, too."""
    never = {job.id for job, keep in zip(jobs, kept, strict=True) if not keep}
    lost = waiting_in_vain(jobs, never) - never if never else set()
    if lost:
        intake.dropped[WAITS_IN_VAIN] += len(lost)
    return np.array([job.id in lost for job in jobs], dtype=np.bool_)


def _with_jobs(source: Source) -> Source:
    """The same, if there is anything to replay."""
    if len(source.trace) == 0:
        dropped = "; ".join(f"{count} {reason}" for reason, count in source.intake.dropped.items())
        raise InputError(f"{source.intake.source}: no job can be replayed" + (f" ({dropped})" if dropped else ""))
    return source


def _swf_pool(
    swf: SwfTrace,
    processors: int | None,
    unrequested: str,
    partitions: Collection[int],
    queues: Collection[int],
    but_queues: Collection[int],
    *,
    allocated: bool,
) -> Source:
    size = processors if processors is not None else swf.header_integer("MaxProcs") or swf.header_integer("MaxNodes")
    if size is None or size < 1:
        raise InputError(f"{swf.path}: the header does not say how many processors there are; give --processors")
    PROCESSORS.require(f"{swf.path}: the number of processors", size)
    origin = swf.header_integer("UnixStartTime")
    if origin is not None:
        UNIX_S.require(f"{swf.path}: UnixStartTime", origin)
    intake = Intake(str(swf.path))
    column = {name: np.ceil(values).astype(np.int64) for name, values in swf.columns.items()}
    lines = repaired_lines(column)
    unusable = (NO_PROCESSORS, NO_RUNTIME, *((NO_REQUEST,) if unrequested == "drop" else ()))
    kept = whole_jobs(swf, np.ones(len(swf), dtype=np.bool_), intake)
    for name, wanted, reason in (("partition", partitions, OTHER_PARTITION), ("queue", queues, OTHER_QUEUE)):
        if wanted:
            kept = drop(kept, ~np.isin(column[name], list(wanted)), reason, intake)
    kept = drop(kept, np.isin(column["queue"], list(but_queues)), OTHER_QUEUE, intake)
    if allocated:
        kept = drop(kept, column["used_procs"] <= 0, NOTHING_ALLOCATED, intake)
    kept = drop_unusable(lines, kept, unusable, intake)
    kept = drop(kept, lines.processors > size, TOO_WIDE, intake)
    count_repairs(lines, kept, intake)
    trace = pool_trace(
        tuple(map(str, column["job"][kept].tolist())),
        column["submit_s"][kept],
        lines.runtime_s[kept],
        lines.requested_s[kept],
        lines.processors[kept],
        size,
        user=column["user"][kept],
        name=column["executable"][kept],
        group=column["group"][kept],
        queue=column["queue"][kept],
        origin_unix=origin,
        source=str(swf.path),
    )
    intake.kept = len(trace)
    return _with_jobs(Source(trace, intake))


def _times(jobs: tuple[Job, ...] | list[Job], intake: Intake) -> tuple[Ints, Ints]:
    """Runtimes, cut at the requested times, and requested times."""
    requested_s = np.array([job.requested_s for job in jobs], dtype=np.int64)
    known = np.array([job.runtime_s or 0 for job in jobs], dtype=np.int64)
    for reason, repaired in ((NO_TABLE_RUNTIME, known <= 0), (CUT_RUNTIME, known > requested_s)):
        if repaired.any():
            intake.repaired[reason] = int(repaired.sum())
    return np.where(known > 0, np.minimum(known, requested_s), requested_s), requested_s
