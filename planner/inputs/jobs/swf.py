"""Reads jobs from the Standard Workload Format 2.2 of the Parallel Workloads Archive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.bounds import JOBS_OF_A_FILE, UNIX_S
from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.errors import FileFormatError, InputError
from planner.inputs.jobs.power import PowerModel
from planner.inputs.jobs.swf_columns import FIELDS, parse_columns
from planner.inputs.jobs.unit_shape import UnitShape, cut_cores
from planner.text_files import open_text

KB_PER_GB = 1024 * 1024
PARTIAL_EXECUTION = (2, 3, 4)
"""Status of lines that repeat a part of a job which has a line of its own."""

TOOK_USED_PROCESSORS = "requested processors missing: allocated processors taken"
TOOK_RUNTIME = "requested time missing: runtime taken"
CUT_RUNTIME = "runtime above requested time: cut to it"
NO_PROCESSORS = "processor count is missing"
NO_TIME = "requested time and runtime are missing"
NO_RUNTIME = "runtime is zero or unknown"
PARTIAL = "line of a partial execution: the job has its own line"

_HEADER_KEY = re.compile(r"[A-Za-z][\w -]*")
_LEADING_INTEGER = re.compile(r"\s*([+-]?\d{1,15})(?![\d.])", re.ASCII)

_Mask = npt.NDArray[np.bool_]
_Column = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SwfTrace:
    """A trace as it stands in the file: nothing repaired, nothing dropped.

    Attributes
    ----------
    path
        File that it came from.
    header
        Values of each header key in file order; keys such as ``Note`` repeat.
    columns
        The 18 fields by name (the keys of `FIELDS`), -1 for unknown; times in seconds from the trace's start,
        memory in KB per processor.
    line_numbers
        Line of each job in the file, from 1.
    """

    path: Path
    header: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, _Column]
    line_numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.line_numbers)

    def header_text(self, key: str) -> str | None:
        """First value of a header key, whatever its capitals; None when the header lacks it."""
        values = (values for name, values in self.header.items() if name.casefold() == key.casefold())
        return next((found[0] for found in values if found[0]), None)

    def header_integer(self, key: str) -> int | None:
        """The integer that the value begins with: 1664 for ``MaxProcs: 1664 (72, 1368, 224)``."""
        text = self.header_text(key)
        if text is None:
            return None
        match = _LEADING_INTEGER.match(text)
        if match is None:
            raise FileFormatError(
                self.path, f"header {key} is {text!r}, expected an integer", remedy=f"write ; {key}: 123"
            )
        return int(match[1])


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
        _kept_trace(Path(path), _state(Path(path))),
        shape=shape,
        power=power,
        window=window,
        start_unix=start_unix,
        drop_zero_runtime=drop_zero_runtime,
    )


@lru_cache(maxsize=1)
def _kept_trace(path: Path, state: tuple[int, int]) -> SwfTrace:
    """The trace of a file, read once for all days of a run; another state of the file is another file."""
    return read_swf_trace(path)


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def read_swf_trace(path: Path | str) -> SwfTrace:
    """Read header and columns of an SWF file, plain, ``.gz`` or ``.xz``.

    Raises
    ------
    InputError
        The file is missing or cannot be read.
    FileFormatError
        A line has not exactly 18 fields, a field is not a finite number, or a submit time is negative.
    """
    path = Path(path)
    with open_text(path) as stream:
        lines = stream.read().split("\n")
    comment = [line.lstrip().startswith(";") for line in lines]
    data = [k for k, line in enumerate(lines) if line and not comment[k] and not line.isspace()]
    JOBS_OF_A_FILE.require(f"{path}: the number of lines", len(data))
    line_numbers = np.array(data, dtype=np.int64) + 1
    table = parse_columns(path, [lines[k] for k in data], line_numbers)
    table.setflags(write=False)
    trace = SwfTrace(
        path=path,
        header=_header([line for line, is_comment in zip(lines, comment, strict=True) if is_comment]),
        columns=dict(zip(FIELDS, table, strict=True)),
        line_numbers=line_numbers,
    )
    _require_submit_times(trace)
    return trace


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
    rows = np.flatnonzero(chosen & _whole_jobs(trace, chosen, intake))
    column = {name: values[rows] for name, values in trace.columns.items()}

    processors = np.where(column["requested_procs"] > 0, column["requested_procs"], column["used_procs"])
    requested_s = np.where(column["requested_s"] > 0, column["requested_s"], column["runtime_s"])
    kept = np.ones(len(rows), dtype=np.bool_)
    kept = _drop(kept, processors <= 0, NO_PROCESSORS, intake)
    kept = _drop(kept, requested_s <= 0, NO_TIME, intake)
    if drop_zero_runtime:
        kept = _drop(kept, column["runtime_s"] <= 0, NO_RUNTIME, intake)
    for reason, repaired in (
        (TOOK_USED_PROCESSORS, kept & (column["requested_procs"] <= 0)),
        (TOOK_RUNTIME, kept & (column["requested_s"] <= 0)),
        (CUT_RUNTIME, kept & (column["runtime_s"] > requested_s)),
    ):
        if repaired.any():
            intake.repaired[reason] = int(repaired.sum())
    memory_kb = column["requested_kb"] if shape.use_memory else np.zeros(len(rows))
    jobs = _make_jobs(
        trace.path,
        shape,
        power,
        number=column["job"][kept],
        submit_unix=submit_unix[rows][kept],
        processors=processors[kept],
        requested_s=np.ceil(requested_s[kept]),
        runtime_s=np.ceil(np.minimum(column["runtime_s"], requested_s)[kept]),
        memory_kb=memory_kb[kept],
        user=column["user"][kept],
        group=column["group"][kept],
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
) -> tuple[Job, ...]:
    units: dict[tuple[int, float], tuple[UnitGroup, ...]] = {}
    jobs = []
    columns = (number, submit_unix, processors, requested_s, runtime_s, memory_kb, user, group)
    for job, submit, wanted, request, runtime, kb, owner, account in zip(
        *(values.tolist() for values in columns), strict=True
    ):
        cores = shape.scaled_cores(wanted)
        size = (cores, max(kb, 0.0))
        name = str(int(job))
        try:
            if size not in units:
                units[size] = cut_cores(cores, shape.unit_cores, memory_gb_per_core=size[1] / KB_PER_GB)
            made = Job(
                id=name,
                submit_unix=submit,
                requested_s=int(request),
                units=units[size],
                power_w=power(name, cores),
                account=f"group{int(account)}" if account >= 0 else "",
                user=f"user{int(owner)}" if owner >= 0 else "",
                runtime_s=int(runtime) if runtime > 0 else None,
            )
        except InputError as error:
            raise FileFormatError(path, f"the job of number {name}: {error}", remedy="correct its line") from error
        jobs.append(made)
    return tuple(jobs)


def _drop(kept: _Mask, bad: _Mask, reason: str, intake: Intake) -> _Mask:
    dropped = kept & bad
    if dropped.any():
        intake.dropped[reason] += int(dropped.sum())
    return kept & ~bad


def _whole_jobs(trace: SwfTrace, chosen: _Mask, intake: Intake) -> _Mask:
    """Lines that stand for a job: all but partial executions of jobs that have a line of their own."""
    number = trace.columns["job"]
    odd = np.flatnonzero((number != np.floor(number)) | (number < 0) | (number > 2**53))
    if len(odd):
        raise FileFormatError(
            trace.path,
            f"field 1 (job number) is {number[odd[0]]:g}, expected a whole number from 0 up",
            line=int(trace.line_numbers[odd[0]]),
            remedy="number the jobs from 1",
        )
    whole = np.ones(len(trace), dtype=np.bool_)
    if len(np.unique(number)) == len(trace):
        return whole
    partial = np.isin(trace.columns["status"], PARTIAL_EXECUTION)
    whole = ~(partial & np.isin(number, number[~partial]))
    _require_distinct(trace, whole)
    _drop(chosen, ~whole, PARTIAL, intake)
    return whole


def _require_distinct(trace: SwfTrace, whole: _Mask) -> None:
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


def _require_submit_times(trace: SwfTrace) -> None:
    submit_s = trace.columns["submit_s"]
    early = np.flatnonzero(submit_s < 0)
    if len(early):
        raise FileFormatError(
            trace.path,
            f"field 2 (submit time) is {submit_s[early[0]]:g}, expected seconds from the trace's start",
            line=int(trace.line_numbers[early[0]]),
            remedy="every job needs a submit time from 0 up; remove the line or set UnixStartTime earlier",
        )


def _start_unix(trace: SwfTrace, override: int | None) -> int:
    start = override if override is not None else trace.header_integer("UnixStartTime")
    if start is None or start not in UNIX_S:
        raise FileFormatError(
            trace.path,
            "the header has no UnixStartTime" if start is None else f"UnixStartTime is {start}, expected {UNIX_S}",
            remedy="add a line such as ; UnixStartTime: 1296571124, or give start_unix",
        )
    return start


def _header(comments: list[str]) -> dict[str, tuple[str, ...]]:
    header: dict[str, tuple[str, ...]] = {}
    for line in comments:
        word, colon, value = line.strip().removeprefix(";").partition(":")
        key = word.strip()
        if colon and _HEADER_KEY.fullmatch(key) and (not value or value[0].isspace()):
            header[key] = (*header.get(key, ()), value.strip())
    return header
