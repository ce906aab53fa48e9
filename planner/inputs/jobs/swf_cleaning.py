"""The rules by which SWF lines become jobs: which are dropped, which repaired, and how both are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from planner.domain.intake import Intake
from planner.errors import FileFormatError
from planner.inputs.jobs.swf_trace import SwfTrace

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
