"""The journal of what was sent to Slurm: JSON lines, on the disk before anything is sent, so that undo always works.

It tells which begin times are ours: set by an earlier run, and not changed by anybody since.

    {"kind": "set", "at": 1700000000, "job": "42", "submit": 1699999990, "old": null, "new": 1700003600}
    {"kind": "result", "at": 1700000001, "job": "42", "submit": 1699999990, "new": 1700003600, "taken": true, ...}

``undo`` and ``undone`` are the same for changes that take others back. ``old`` is null where no time was set. A result
that was not taken has its reason as ``note``. ``reserve`` and ``reserved`` were written of reservations, which earlier
versions made; they are passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from planner.errors import FileFormatError, OutputError
from planner.inputs.slurm.job import SlurmJob
from planner.places import is_there
from planner.store.folder import PRIVATE, flush
from planner.text_files import open_text

LONGEST_LINE = 1 << 20
"""Bytes; no line of a journal is as long."""
SET, RESULT, UNDO, UNDONE = "set", "result", "undo", "undone"
OLD = ("reserve", "reserved")
Key = tuple[str, int]
"""Job id and submit time: Slurm gives ids anew, and a job that is queued again has a new submit time."""


@dataclass(frozen=True)
class Change:
    """One begin time to set."""

    job: str
    submit_unix: int
    old_unix: int | None
    new_unix: int
    at_once: bool = False
    """Any time that has come is as good as `new_unix`: Slurm sets a begin time in the past to the present."""


@dataclass(frozen=True)
class Entry:
    """What was set for one job."""

    old_unix: int | None
    """The begin time before the first of ours; None: not set."""
    sent: tuple[int, ...]
    """Every begin time that was sent since, the newest last; a job that did not take it still has an earlier one."""


@dataclass(frozen=True)
class Ours:
    """All that was set and not undone."""

    entries: Mapping[Key, Entry] = field(default_factory=dict)

    def of(self, job: SlurmJob) -> Entry | None:
        """What was set for a job, as long as it has a begin time of ours; else None.

        A task that has left its array since has what was set for the array.
        """
        for name in (job.record, job.array):
            entry = self.entries.get((name, job.submit_unix))
            if entry is not None and job.begin_unix in entry.sent:
                return entry
        return None

    def own_begin(self, job: SlurmJob) -> int | None:
        """The begin time that the job has without us."""
        entry = self.of(job)
        return job.begin_unix if entry is None else entry.old_unix


def write_changes(path: Path, changes: Iterable[Change], at_unix: int, *, undo: bool = False) -> None:
    """Write down what is about to be sent; it is on the disk when this returns."""
    kind = UNDO if undo else SET
    _append(
        path,
        [
            {
                "kind": kind,
                "at": at_unix,
                "job": change.job,
                "submit": change.submit_unix,
                "old": change.old_unix,
                "new": change.new_unix,
            }
            for change in changes
        ],
    )


def write_results(path: Path, results: Iterable[tuple[Change, bool, str]], at_unix: int, *, undo: bool = False) -> None:
    """Write down which changes Slurm has taken, and a note on each that it has not."""
    kind = UNDONE if undo else RESULT
    _append(
        path,
        [
            {
                "kind": kind,
                "at": at_unix,
                "job": change.job,
                "submit": change.submit_unix,
                "new": change.new_unix,
                "taken": taken,
                "note": note,
            }
            for change, taken, note in results
        ],
    )


def read_ours(path: Path) -> Ours:
    """What was set and not undone; nothing when there is no journal yet.

    A last line without its end is left out: a run was killed as it wrote, before it sent anything.
    """
    if not is_there(path):
        return Ours()
    entries: dict[Key, Entry] = {}
    with open_text(path, newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith("\n"):
                break
            try:
                _follow(entries, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                remedy = "move the journal away if it is not one; nothing that it says can be undone then"
                raise FileFormatError(path, "not a line of a journal", line=number, remedy=remedy) from error
    return Ours(entries)


def _follow(entries: dict[Key, Entry], line: dict[str, Any]) -> None:
    key = str(line["job"]), int(line["submit"])
    kind = line["kind"]
    if kind == SET:
        old = line["old"]
        entries[key] = _with_sent(entries, key, None if old is None else int(old), int(line["new"]))
    elif kind == UNDONE and line["taken"]:
        entries.pop(key, None)
    elif kind not in (RESULT, UNDO, UNDONE, *OLD):
        raise ValueError(kind)


def _with_sent(entries: Mapping[Key, Entry], key: Key, old_unix: int | None, new_unix: int) -> Entry:
    """The entry of a job once one more begin time was sent."""
    job, submit_unix = key
    for name in (job, job.partition("_")[0]):
        before = entries.get((name, submit_unix))
        if before is not None and old_unix in before.sent:
            return Entry(before.old_unix, (*(each for each in before.sent if each != new_unix), new_unix))
    return Entry(old_unix, (new_unix,))


def _append(path: Path, lines: list[dict[str, Any]]) -> None:
    if not lines:
        return
    text = "".join(json.dumps(line) + "\n" for line in lines)
    try:
        how = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(path, how, PRIVATE), "a+b") as stream:
            with suppress(OSError):  # of an earlier version, which anybody could read
                os.fchmod(stream.fileno(), PRIVATE)
            _drop_unfinished_line(stream)
            stream.write(text.encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())
        flush(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: the journal cannot be written ({error.strerror or error})") from error


def _drop_unfinished_line(stream: BinaryIO) -> None:
    """Cut off what a killed run left of a line, so that the next line is not lost with it."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - LONGEST_LINE, 0))
    tail = stream.read()
    unfinished = len(tail) - (tail.rfind(b"\n") + 1)
    if unfinished:
        stream.truncate(size - unfinished)


def when(unix: int | None) -> str:
    """A moment as people read it, in UTC."""
    if unix is None:
        return "no set time"
    try:
        return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(unix)
