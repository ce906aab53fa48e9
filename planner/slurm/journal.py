"""The journal of what was sent to Slurm: JSON lines, on the disk before anything is sent, so that undo always works.

It tells which begin times are ours, set by an earlier run and not changed by anybody since, and what was promised.

    {"kind": "set", "at": 1700000000, "job": "42", "submit": 1699999990, "old": null, "new": 1700003600, ...}
    {"kind": "result", "at": 1700000001, "job": "42", "submit": 1699999990, "new": 1700003600, "taken": true, ...}

``undo`` and ``undone`` are the same for changes that take others back. ``old`` is null where no time was set. A hold
has its promise as ``reference`` and ``latest``, and what it is expected to save as ``saved``. A result that was not
taken has its reason as ``note``. ``reserve`` and ``reserved`` were written of reservations, which earlier versions
made; they are passed over.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from planner.domain.job import Promise
from planner.domain.result import Hold
from planner.errors import FileFormatError, InputError, OutputError
from planner.inputs.slurm.job import SlurmJob
from planner.limits import DAY_S
from planner.places import full_path, is_there
from planner.store.folder import PRIVATE, flush, put
from planner.text_files import open_text

JOURNAL = "slurm-journal.jsonl"
"""Name of the journal, which stands beside the days of a site."""
LONGEST_LINE = 1 << 20
"""Bytes; no line of a journal is as long."""
KEPT_DAYS = 35
"""For so long lines of jobs that are over are kept: what was saved in a month is told by them."""
SET, RESULT, UNDO, UNDONE = "set", "result", "undo", "undone"
OLD = ("reserve", "reserved")
Key = tuple[str, int]
"""Job id and submit time: Slurm gives ids anew, and a job that is queued again has a new submit time."""


@dataclass(frozen=True)
class Change:
    """One begin time to set, for a hold, or to give back.

    ``at_once``: any time that has come is as good as `new_unix`, as Slurm sets a begin time in the past to the present.
    ``is_release``: it takes back what was ours. ``hold`` is what is noted of a hold beside its end.
    """

    job: str
    submit_unix: int
    old_unix: int | None
    new_unix: int
    at_once: bool = False
    is_release: bool = False
    hold: Hold | None = None


@dataclass(frozen=True)
class Entry:
    """What was set for one job."""

    old_unix: int | None
    """The begin time before the first of ours; None: not set."""
    sent: tuple[int, ...]
    """Every begin time that was sent since, the newest last; a job that did not take it still has an earlier one."""


@dataclass(frozen=True)
class Ours:
    """All that was set and not undone, and all that was ever promised.

    A promise counts from the first hold on, also once the job was released: ``since`` is when that was sent.
    """

    entries: Mapping[Key, Entry] = field(default_factory=dict)
    promises: Mapping[Key, Promise] = field(default_factory=dict)
    since: Mapping[Key, int] = field(default_factory=dict)

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

    def promise(self, job: str, submit_unix: int) -> Promise | None:
        """What was promised to a job, or to the array of a task; None: it was never held."""
        given = [found for name in _names(job) if (found := self.promises.get((name, submit_unix))) is not None]
        return _tighter(given) if given else None

    def held_until(self, job: str, submit_unix: int) -> int | None:
        """Until when a job, or the array of a task, was last held; None: it is not."""
        found = (self.entries.get((name, submit_unix)) for name in _names(job))
        return next((entry.sent[-1] for entry in found if entry is not None), None)

    def held_since(self, job: str, submit_unix: int) -> int | None:
        """When a job, or the array of a task, was first held; None: never."""
        return min(
            (self.since[name, submit_unix] for name in _names(job) if (name, submit_unix) in self.since), default=None
        )


def _names(job: str) -> tuple[str, ...]:
    """A job, and the array of a task."""
    return tuple(dict.fromkeys((job, job.partition("_")[0])))


def _tighter(given: Collection[Promise]) -> Promise:
    """The earliest moments of several promises: one that was given is never put off."""
    return Promise(min(each.reference_unix for each in given), min(each.latest_unix for each in given))


def write_changes(path: Path, changes: Iterable[Change], at_unix: int) -> None:
    """Write down what is about to be sent; it is on the disk when this returns."""
    lines = []
    for change in changes:
        line = _line(UNDO if change.is_release else SET, change, at_unix)
        line |= {"old": change.old_unix, "new": change.new_unix}
        if (hold := change.hold) is not None:
            line |= {"reference": hold.reference_unix, "latest": hold.latest_unix, "saved": round(hold.saved_eur, 6)}
        lines.append(line)
    _append(path, lines)


def write_results(path: Path, results: Iterable[tuple[Change, bool, str]], at_unix: int) -> None:
    """Write down which changes Slurm has taken, and a note on each that it has not."""
    lines = []
    for change, taken, note in results:
        line = _line(UNDONE if change.is_release else RESULT, change, at_unix)
        lines.append(line | {"new": change.new_unix, "taken": taken, "note": note})
    _append(path, lines)


def _line(kind: str, change: Change, at_unix: int) -> dict[str, Any]:
    return {"kind": kind, "at": at_unix, "job": change.job, "submit": change.submit_unix}


def read_ours(path: Path) -> Ours:
    """What was set and not undone; nothing when there is no journal yet.

    A last line without its end is left out: a run was killed as it wrote, before it sent anything.
    """
    entries: dict[Key, Entry] = {}
    promises: dict[Key, Promise] = {}
    since: dict[Key, int] = {}
    for line in _lines(path):
        key = line["job"], line["submit"]
        if line["kind"] == SET:
            entries[key] = _with_sent(entries, key, line["old"], line["new"])
            if "latest" in line:
                since.setdefault(key, line["at"])
                given = Promise(line["reference"], line["latest"])
                promises[key] = _tighter([given, promises.get(key, given)])
        elif line["kind"] == UNDONE and line["taken"]:
            entries.pop(key, None)
    return Ours(entries, promises, since)


def _require_line(line: dict[str, Any]) -> None:
    """An error unless a line has what its kind has."""
    kind = line["kind"]
    numbers = [line["at"], line["submit"], line["new"]]
    if kind in (SET, UNDO):
        numbers += [0 if line["old"] is None else line["old"]]
        numbers += [line[name] for name in ("reference", "latest") if name in line]
    elif kind in (RESULT, UNDONE):
        bool(line["taken"])
    else:
        raise ValueError(kind)
    if not isinstance(line["job"], str) or any(not isinstance(each, int) for each in numbers):
        raise ValueError(line)
    if not math.isfinite(line.get("saved", 0)):
        raise ValueError(line)


def _with_sent(entries: Mapping[Key, Entry], key: Key, old_unix: int | None, new_unix: int) -> Entry:
    """The entry of a job once one more begin time was sent."""
    job, submit_unix = key
    for name in _names(job):
        before = entries.get((name, submit_unix))
        if before is not None and old_unix in before.sent:
            return Entry(before.old_unix, (*(each for each in before.sent if each != new_unix), new_unix))
    return Entry(old_unix, (new_unix,))


def forget_old(path: Path, waiting: Collection[Key], now_unix: int) -> int:
    """Drop the lines of jobs that are long over, and say how many; those of jobs that wait are kept whatever their age.

    Nothing is read to the end unless the first line is a day beyond `KEPT_DAYS`. The caller is alone with the journal.
    """
    oldest = now_unix - KEPT_DAYS * DAY_S
    kept: list[str] = []
    dropped = 0
    for said in _lines(path):
        if not kept and not dropped and said["at"] >= oldest - DAY_S:
            return 0
        if said["at"] >= oldest or any((name, said["submit"]) in waiting for name in _names(said["job"])):
            kept.append(json.dumps(said) + "\n")
        else:
            dropped += 1
    if dropped:
        put(path, "".join(kept).encode("ascii"), PRIVATE)
    return dropped


def saved_since(path: Path, since_unix: int, now_unix: int) -> float:
    """What holds that ended from a moment on were expected to save [money]; those taken back saved nothing."""
    found: dict[Key, tuple[int, float]] = {}
    for line in _lines(path):
        key = line["job"], line["submit"]
        if line["kind"] == SET and "saved" in line:
            found[key] = line["new"], line["saved"]
        elif (line["kind"] == UNDONE and line["taken"]) or (line["kind"] == RESULT and not line["taken"]):
            found.pop(key, None)
    return sum(saved for until, saved in found.values() if since_unix <= until <= now_unix)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line of a journal that still counts; FileFormatError for one that is none."""
    if not is_there(path):
        return
    with open_text(path, newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith("\n"):
                return
            try:
                said = json.loads(line)
                is_old = said["kind"] in OLD
                if not is_old:
                    _require_line(said)
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
                remedy = "move the journal away if it is not one; nothing that it says can be undone then"
                raise FileFormatError(path, "not a line of a journal", line=number, remedy=remedy) from error
            if not is_old:
                yield said


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


def journal_of(folder: Path) -> Path:
    """The journal of the site whose plan is in a folder; InputError when there is no such folder."""
    require_folder(folder)
    return full_path(folder).parent / JOURNAL


def require_folder(folder: Path) -> None:
    """InputError when there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/site/2024-06-01")
