"""Versions: what a day's folder held before it was booked, or planned again from a snapshot, kept inside the folder.

They are further names of the same files, put into the new folder before that takes the place of the old one: the step
that brings the new day brings its versions, and at no moment is there a day without them.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

from planner.domain.day_summary import DaySummary
from planner.errors import FileFormatError
from planner.store.folder import link, linked, remove
from planner.store.read_json import read_summary

VERSIONS = "versions"
"""The folder in a day's folder that holds them, each under the moment at which it was planned."""


def keep_versions(day: Path, fresh: Path, *, with_last: bool) -> None:
    """Put the versions of a day into the folder that will take its place.

    ``with_last``: the day as it stands becomes one of them; it always does when it was itself planned from a snapshot,
    for then it says what happened.
    """
    if (day / VERSIONS).is_dir():
        (fresh / VERSIONS).mkdir()
        linked(day / VERSIONS, fresh / VERSIONS)
    files = [path for path in day.iterdir() if path.is_file() and not path.is_symlink()] if day.is_dir() else []
    run = _run_of(day)
    if files and (with_last or run.get("snapshot") is not None):
        (fresh / VERSIONS).mkdir(exist_ok=True)
        version = _new_folder(fresh / VERSIONS, str(run.get("began", "")))
        for path in files:
            link(path, version / path.name)


def thin_out(days: Path, before: dt.date) -> int:
    """Remove the versions of days before a day, but for the first and the last of each; how many went.

    The books of a day stand beside its first plan. What cannot be removed stays.
    """
    gone = 0
    for folder in sorted(days.glob("*-*-*")):
        try:
            is_old = dt.date.fromisoformat(folder.name) < before
        except ValueError:
            continue
        for version in sorted((folder / VERSIONS).glob("*"))[1:-1] if is_old else ():
            remove(version)
            gone += 1
    return gone


def plans_of(day: Path) -> list[tuple[str, DaySummary]]:
    """The versions of a day that are plans, by their names, with their summaries, the earliest first."""
    folder, found = day / VERSIONS, []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            summary = read_summary(path)
        except FileFormatError:
            continue
        if summary.booked is None:
            found.append((path.name, summary))
    return found


def _new_folder(versions: Path, began: str) -> Path:
    """A folder with the moment as its name, such as 20240601T100000Z, and a number where that is taken."""
    digits = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\+00:00", began, re.ASCII)
    stem = "{}{}{}T{}{}{}Z".format(*digits.groups()) if digits else "unknown"
    number = 1
    while True:
        folder = versions / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _run_of(day: Path) -> dict[str, object]:
    """What run.json of a day says, as far as it can be read; a damaged day is kept all the same."""
    path = day / "run.json"
    try:
        run = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return run if isinstance(run, dict) else {}
