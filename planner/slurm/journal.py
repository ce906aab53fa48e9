"""The journal of what was sent to Slurm: JSON lines, on the disk before anything is sent, so that undo always works.

    {"kind": "set", "at": 1700000000, "job": "42", "submit": 1699999990, "old": null, "new": 1700003600}
    {"kind": "result", "at": 1700000001, "job": "42", "submit": 1699999990, "new": 1700003600, "taken": true, ...}

``undo`` and ``undone`` are the same for changes that take others back. ``old`` is null where no time was set. A result
that was not taken has its reason as ``note``. ``reserve`` and ``reserved`` are the same for the reservation ``name`` of
a job: ``old`` and ``new`` say what it holds, and are null where there is none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from planner.errors import FileFormatError, OutputError
from planner.places import is_there
from planner.slurm.changes import Change
from planner.slurm.ours import Entry, Key, Made, Ours, with_sent
from planner.slurm.reserved import ReservationChange, Reserved
from planner.store.folder import flush
from planner.text_files import open_text

LONGEST_LINE = 1 << 20
"""Bytes; no line of a journal is as long, also where it names many nodes."""
SET, RESULT, UNDO, UNDONE = "set", "result", "undo", "undone"
RESERVE, RESERVED = "reserve", "reserved"


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


def write_reservations(path: Path, changes: Iterable[ReservationChange], at_unix: int) -> None:
    """Write down which reservations are about to be made or deleted; it is on the disk when this returns."""
    _append(path, [_reservation_line(RESERVE, change, at_unix) for change in changes])


def write_reserved(path: Path, results: Iterable[tuple[ReservationChange, bool, str]], at_unix: int) -> None:
    """Write down which changes of reservations Slurm has taken, and a note on each that it has not."""
    _append(
        path,
        [
            {**_reservation_line(RESERVED, change, at_unix), "taken": taken, "note": note}
            for change, taken, note in results
        ],
    )


def _reservation_line(kind: str, change: ReservationChange, at_unix: int) -> dict[str, Any]:
    return {
        "kind": kind,
        "at": at_unix,
        "job": change.job,
        "submit": change.submit_unix,
        "name": change.name,
        "old": None if change.old is None else change.old.written(),
        "new": None if change.new is None else change.new.written(),
    }


def read_ours(path: Path) -> Ours:
    """What was set and not undone; nothing when there is no journal yet.

    A last line without its end is left out: a run was killed as it wrote, before it sent anything.
    """
    if not is_there(path):
        return Ours()
    entries: dict[Key, Entry] = {}
    reservations: dict[str, Made] = {}
    with open_text(path, newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith("\n"):
                break
            try:
                _follow(entries, reservations, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                remedy = "move the journal away if it is not one; nothing that it says can be undone then"
                raise FileFormatError(path, "not a line of a journal", line=number, remedy=remedy) from error
    return Ours(entries, reservations)


def _follow(entries: dict[Key, Entry], reservations: dict[str, Made], line: dict[str, Any]) -> None:
    key = str(line["job"]), int(line["submit"])
    kind = line["kind"]
    if kind in (RESERVE, RESERVED):
        _follow_reservation(reservations, key, line)
        return
    if kind == SET:
        old = line["old"]
        entries[key] = with_sent(entries, key, None if old is None else int(old), int(line["new"]))
    elif kind == UNDONE and line["taken"]:
        entries.pop(key, None)
    elif kind not in (RESULT, UNDO, UNDONE):
        raise ValueError(kind)


def _follow_reservation(reservations: dict[str, Made], key: Key, line: dict[str, Any]) -> None:
    name, new = str(line["name"]), line["new"]
    if line["kind"] == RESERVE and new is not None:
        before = reservations.get(name)
        sent = Reserved.read(new)
        earlier = () if before is None else tuple(each for each in before.sent if each != sent)
        reservations[name] = Made(*key, (*earlier, sent))
    elif line["kind"] == RESERVED and line["taken"] and new is None:
        reservations.pop(name, None)


def _append(path: Path, lines: list[dict[str, Any]]) -> None:
    if not lines:
        return
    text = "".join(json.dumps(line) + "\n" for line in lines)
    try:
        with path.open("a+b") as stream:
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
