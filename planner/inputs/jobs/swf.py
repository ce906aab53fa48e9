"""Makes jobs of a trace in the Standard Workload Format, after cleaning it; says what was repaired and dropped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.swf_trace import SwfTrace, read_swf_trace
from planner.inputs.jobs.unit_groups import UnitShape, cut_cores
from planner.limits import UNIX_S
from planner.power.learned import Asked, PowerModel
from planner.text_files import read_raw

Mask = npt.NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int64)

PARTIAL_EXECUTION = (2, 3, 4)
"""Status of lines that repeat a part of a job which has a line of its own."""
PARTIAL = "line of a partial execution: the job has its own line"

NO_PROCESSORS = "processor count is missing"
NO_TIME = "requested time and runtime are missing"
NO_RUNTIME = "runtime is zero or unknown"
NO_REQUEST = "without requested time"

TOOK_USED_PROCESSORS = "requested processors missing: allocated processors taken"
TOOK_RUNTIME = "requested time missing: runtime taken"
CUT_RUNTIME = "runtime above requested time: cut to it"
KB_PER_GB = 1024 * 1024
_Column = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SwfLines(Generic[Number]):
    """Lines of a trace with what can be repaired repaired, one entry per line; what is missing is 0 or less.

    Attributes
    ----------
    processors
        Requested processors, or the allocated ones where the request is missing.
    requested_s
        Requested time, or the runtime where the request is missing.
    runtime_s
        Runtime, cut to the requested time.
    repaired
        Lines that each repair concerns, by its reason.
    """

    processors: npt.NDArray[Number]
    requested_s: npt.NDArray[Number]
    runtime_s: npt.NDArray[Number]
    repaired: Mapping[str, Mask]


def repaired_lines(columns: Mapping[str, npt.NDArray[Number]]) -> SwfLines[Number]:
    """Fill the gaps of each line from its other fields; columns by name as in `SwfTrace`."""
    procs, requested, runtime_s = columns["requested_procs"], columns["requested_s"], columns["runtime_s"]
    requested_s = np.where(requested > 0, requested, runtime_s)
    return SwfLines(
        processors=np.where(procs > 0, procs, columns["used_procs"]),
        requested_s=requested_s,
        runtime_s=np.minimum(runtime_s, requested_s),
        repaired={
            TOOK_USED_PROCESSORS: procs <= 0,
            TOOK_RUNTIME: requested <= 0,
            CUT_RUNTIME: runtime_s > requested_s,
        },
    )


_UNUSABLE: dict[str, Callable[[SwfLines[Number]], Mask]] = {
    NO_PROCESSORS: lambda lines: lines.processors <= 0,
    NO_TIME: lambda lines: lines.requested_s <= 0,
    NO_RUNTIME: lambda lines: lines.runtime_s <= 0,
    NO_REQUEST: lambda lines: lines.repaired[TOOK_RUNTIME],
}


def drop_unusable(lines: SwfLines[Number], kept: Mask, reasons: Iterable[str], intake: Intake) -> Mask:
    """Leave out the lines that the reasons hold for; each counts once, under the first of them."""
    for reason in reasons:
        kept = drop(kept, _UNUSABLE[reason](lines), reason, intake)
    return kept


def drop(kept: Mask, bad: Mask, reason: str, intake: Intake) -> Mask:
    """Leave out bad lines of those kept, and count them."""
    dropped = kept & bad
    if dropped.any():
        intake.dropped[reason] += int(dropped.sum())
    return kept & ~bad


def count_repairs(lines: SwfLines[Number], kept: Mask, intake: Intake) -> None:
    """Count the repairs of the lines that were kept."""
    for reason, repaired in lines.repaired.items():
        if (kept & repaired).any():
            intake.repaired[reason] = int((kept & repaired).sum())


def whole_jobs(trace: SwfTrace, chosen: Mask, intake: Intake) -> Mask:
    """Lines of those chosen that are jobs: all but partial executions of jobs that have a line of their own.

    Of all lines of the trace, chosen or not, two of one job are an error.
    """
    number = trace.columns["job"]
    if len(np.unique(number)) == len(trace):
        return chosen
    partial = np.isin(trace.columns["status"], PARTIAL_EXECUTION)
    repeats = partial & np.isin(number, number[~partial])
    _require_distinct(trace, ~repeats)
    return drop(chosen, repeats, PARTIAL, intake)


def _require_distinct(trace: SwfTrace, whole: Mask) -> None:
    first: dict[float, int] = {}
    for job, line in zip(trace.columns["job"][whole], trace.line_numbers[whole], strict=True):
        if job in first:
            raise FileFormatError(
                trace.path,
                f"job {job:.0f} is also on line {first[job]}",
                line=int(line),
                remedy="give every job a number of its own",
            )
        first[job] = int(line)


def read_swf(
    path: Path | str,
    *,
    shape: UnitShape,
    power: PowerModel,
    window: tuple[int, int] | None = None,
    start_unix: int | None = None,
    drop_zero_runtime: bool = True,
) -> tuple[tuple[Job, ...], Intake]:
    """Read the jobs of an SWF file, plain or compressed; see `swf_jobs` for what becomes of them."""
    return swf_jobs(
        _kept_trace(Path(path), _mark(Path(path))),
        shape=shape,
        power=power,
        window=window,
        start_unix=start_unix,
        drop_zero_runtime=drop_zero_runtime,
    )


def swf_start_unix(path: Path, start_unix: int | None = None) -> int:
    """Second 0 of an SWF file [Unix seconds]: as given, else as its header says."""
    return _start_unix(_kept_trace(path, _mark(path)), start_unix)


@lru_cache(maxsize=1)
def _kept_trace(path: Path, mark: str) -> SwfTrace:
    """The trace of a file, read once for all days of a run; other bytes are another trace."""
    return read_swf_trace(path)


def _mark(path: Path) -> str:
    return hashlib.sha256(read_raw(path)).hexdigest()


def swf_jobs(
    trace: SwfTrace,
    *,
    shape: UnitShape,
    power: PowerModel,
    window: tuple[int, int] | None = None,
    start_unix: int | None = None,
    drop_zero_runtime: bool = True,
) -> tuple[tuple[Job, ...], Intake]:
    """Make jobs of a trace's lines, in file order, and count what was repaired and dropped.

    Parameters
    ----------
    trace
        The trace.
    shape
        How processors become units.
    power
        What a job draws, from its id and its cores after scaling [W].
    window
        Only jobs submitted from the first to before the second [Unix seconds] are made and counted.
    start_unix
        Start of the trace [Unix seconds] in place of the header's UnixStartTime.
    drop_zero_runtime
        Whether jobs that never ran, or whose runtime is unknown, are left out. When kept, their ``runtime_s``
        is None.

    Returns
    -------
    tuple
        The jobs, and the counts by reason; each job left out counts once, under the first reason that holds.
    """
    submit_unix = np.ceil(trace.columns["submit_s"]).astype(np.int64) + _start_unix(trace, start_unix)
    chosen = np.ones(len(trace), dtype=np.bool_)
    intake = Intake(source=str(trace.path))
    if window is not None:
        chosen = (submit_unix >= window[0]) & (submit_unix < window[1])
        intake.notes.append(
            f"{int(chosen.sum())} of {len(trace)} jobs were submitted in the window"
            f" [{window[0]}, {window[1]}) of Unix time"
        )
    rows = np.flatnonzero(whole_jobs(trace, chosen, intake))
    column = {name: values[rows] for name, values in trace.columns.items()}
    lines = repaired_lines(column)
    unusable = (NO_PROCESSORS, NO_TIME, *((NO_RUNTIME,) if drop_zero_runtime else ()))
    kept = drop_unusable(lines, np.ones(len(rows), dtype=np.bool_), unusable, intake)
    count_repairs(lines, kept, intake)
    memory_kb = column["requested_kb"] if shape.use_memory else np.zeros(len(rows))
    jobs = _make_jobs(
        trace.path,
        shape,
        power,
        number=column["job"][kept],
        submit_unix=submit_unix[rows][kept],
        processors=lines.processors[kept],
        requested_s=np.ceil(lines.requested_s[kept]),
        runtime_s=np.ceil(lines.runtime_s[kept]),
        memory_kb=memory_kb[kept],
        user=column["user"][kept],
        group=column["group"][kept],
        executable=column["executable"][kept],
    )
    intake.kept = len(jobs)
    return jobs, intake


def _make_jobs(
    path: Path,
    shape: UnitShape,
    power: PowerModel,
    *,
    number: _Column,
    submit_unix: npt.NDArray[np.int64],
    processors: _Column,
    requested_s: _Column,
    runtime_s: _Column,
    memory_kb: _Column,
    user: _Column,
    group: _Column,
    executable: _Column,
) -> tuple[Job, ...]:
    units: dict[tuple[int, float], tuple[UnitGroup, ...]] = {}
    jobs = []
    columns = (number, submit_unix, processors, requested_s, runtime_s, memory_kb, user, group, executable)
    for job, submit, wanted, request, runtime, kb, owner, account, program in zip(
        *(values.tolist() for values in columns), strict=True
    ):
        cores = shape.scaled_cores(wanted)
        size = (cores, max(kb, 0.0))
        name = str(int(job))
        try:
            if size not in units:
                units[size] = cut_cores(cores, shape.unit_cores, memory_gb_per_core=size[1] / KB_PER_GB)
            asked = Asked(
                name,
                units[size],
                int(request),
                f"user{int(owner)}" if owner >= 0 else "",
                f"group{int(account)}" if account >= 0 else "",
                f"app{int(program)}" if program >= 0 else "",
            )
            made = Job(
                id=name,
                submit_unix=submit,
                requested_s=asked.requested_s,
                units=asked.units,
                power_w=power(asked),
                account=asked.account,
                user=asked.user,
                name=asked.name,
                runtime_s=int(runtime) if runtime > 0 else None,
            )
        except InputError as error:
            raise FileFormatError(path, f"the job of number {name}: {error}", remedy="correct its line") from error
        jobs.append(made)
    return tuple(jobs)


def _start_unix(trace: SwfTrace, override: int | None) -> int:
    start = override if override is not None else trace.header_integer("UnixStartTime")
    if start is None or start not in UNIX_S:
        raise FileFormatError(
            trace.path,
            "the header has no UnixStartTime" if start is None else f"UnixStartTime is {start}, expected {UNIX_S}",
            remedy="add a line such as ; UnixStartTime: 1296571124, or give start_unix",
        )
    return start
