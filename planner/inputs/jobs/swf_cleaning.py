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
from planner.domain.job import Job
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.swf_file import SwfTrace, read_swf_trace
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


@dataclass(frozen=True, eq=False)
class SwfLines(Generic[Number]):
    """Lines of a trace with what can be repaired repaired, one entry per line; what is missing is 0 or less.

    The request, or where it is missing the allocated processors and the runtime; the runtime is cut to the requested
    time. ``repaired`` are the lines that each repair concerns, by its reason.
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


def kept_trace(path: Path) -> SwfTrace:
    """The trace of an SWF file, plain or compressed, read once for all days of a run; other bytes are another trace."""
    return _kept_trace(path, hashlib.sha256(read_raw(path)).hexdigest())


@lru_cache(maxsize=1)
def _kept_trace(path: Path, mark: str) -> SwfTrace:
    return read_swf_trace(path)


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

    ``shape`` says how processors become units; only jobs submitted in the ``window`` are made and counted;
    ``start_unix`` takes the place of the header's UnixStartTime. With ``drop_zero_runtime`` jobs that never ran, or
    whose runtime is unknown, are left out; else their ``runtime_s`` is None. Each job left out counts once, under the
    first reason that holds.
    """
    submit_unix = np.ceil(trace.columns["submit_s"]).astype(np.int64) + start_unix_of(trace, start_unix)
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
    fields = (
        column["job"],
        submit_unix[rows],
        lines.processors,
        np.ceil(lines.requested_s),
        np.ceil(lines.runtime_s),
        column["requested_kb"],
        column["user"],
        column["group"],
        column["executable"],
    )
    jobs = []
    for number, submit, wanted, request, runtime, kb, owner, account, program in zip(
        *(values[kept].tolist() for values in fields), strict=True
    ):
        try:
            asked = Asked(
                str(int(number)),
                cut_cores(shape.scaled_cores(wanted), shape.unit_cores, max(kb, 0.0) / KB_PER_GB),
                int(request),
                f"user{int(owner)}" if owner >= 0 else "",
                f"group{int(account)}" if account >= 0 else "",
                f"app{int(program)}" if program >= 0 else "",
            )
            jobs.append(asked.job(submit, power(asked), runtime_s=int(runtime) if runtime > 0 else None))
        except InputError as error:
            problem = f"the job of number {number:.0f}: {error}"
            raise FileFormatError(trace.path, problem, remedy="correct its line") from error
    intake.kept = len(jobs)
    return tuple(jobs), intake


def start_unix_of(trace: SwfTrace, override: int | None = None) -> int:
    """Second 0 of a trace [Unix seconds]: as given, else as its header says."""
    start = override if override is not None else trace.header_integer("UnixStartTime")
    if start is None or start not in UNIX_S:
        raise FileFormatError(
            trace.path,
            "the header has no UnixStartTime" if start is None else f"UnixStartTime is {start}, expected {UNIX_S}",
            remedy="add a line such as ; UnixStartTime: 1296571124, or give start_unix",
        )
    return start
