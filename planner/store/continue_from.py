"""What a written day hands over to the next, read from its files, once they are whole and of the same site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.handover import Handover, Waiting
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.plan import Placement
from planner.domain.problem import Running
from planner.domain.site_state import SiteState
from planner.errors import FileFormatError, InputError
from planner.printable import one_line
from planner.scenario.schema import Scenario
from planner.store.provenance import digest
from planner.store.read_tables import deferred_of, read_rows, read_table, refused_of, scheduled_of
from planner.store.results import QUOTED, cluster_of, is_booked, known_until_of, made, read_run
from planner.store.versions import VERSIONS
from planner.store.write_tables import COLUMNS

CARRIED_FILES = ("schedule.csv", "deferred.csv")
"""Files that a handover is read from."""


@dataclass(frozen=True)
class Previous:
    """The day before: what it hands over, and the ``mark`` by which the next day names it in its run.json."""

    handover: Handover
    mark: Mapping[str, str]


def read_previous(folder: Path, scenario: Scenario, horizon: Horizon) -> Previous:
    """What the day of a horizon, written in a folder, hands over to the day after it.

    InputError says what to do when the files are damaged or were planned for another site.
    """
    again = f"plan {horizon.day} again, or start anew with --fresh"
    try:
        run = read_run(folder)
        mark = _mark(folder, run, horizon)
        _require_same_site(run, scenario)
        return Previous(_handover(folder, run, horizon), mark)
    except FileFormatError as error:
        raise InputError(f"{error}; {again}") from error
    except _OtherGroundError as error:
        raise InputError(f"{folder}: {error}; {again}") from error


def mark_of(folder: Path, horizon: Horizon) -> Mapping[str, str]:
    """The mark of a written day: its date and the SHA-256 of the files that a handover is read from."""
    return {"day": horizon.day.isoformat()} | {name: digest(folder / name) for name in CARRIED_FILES}


class _OtherGroundError(Exception):
    """A result that the next day must not be planned on."""


def _mark(folder: Path, run: Mapping[str, Any], horizon: Horizon) -> Mapping[str, str]:
    """The day's mark, when the files are the ones that its run wrote, and the day before it is still the same."""
    outputs = run.get("outputs")
    if outputs is None:
        raise _OtherGroundError("an earlier version of the planner wrote it, which kept no account of its files")
    for name in CARRIED_FILES:
        path = folder / name
        if not path.is_file():
            raise FileFormatError(path, "it is missing")
        if digest(path) != outputs.get(name):
            raise FileFormatError(path, "it is damaged: not what the run wrote")
    earlier = folder.parent / horizon.day_before().day.isoformat()
    if run.get("continues") and all((earlier / name).is_file() for name in CARRIED_FILES):
        before = horizon.day_before()
        if run["continues"] not in _marks_of(earlier, before):
            raise _OtherGroundError(f"it continues from a result of {before.day} that was planned again since")
    return mark_of(folder, horizon)


def _marks_of(folder: Path, horizon: Horizon) -> list[Mapping[str, str]]:
    """The mark of a day; of a booked one also those of its versions: what continues from its plan still stands."""
    versions = folder / VERSIONS
    places = [folder]
    if is_booked(folder) and versions.is_dir():
        places += [each for each in versions.iterdir() if all((each / name).is_file() for name in CARRIED_FILES)]
    return [mark_of(each, horizon) for each in places]


def _require_same_site(run: Mapping[str, Any], scenario: Scenario) -> None:
    """The machine, the zone and what a day knows must be the same, or nothing could be carried on."""
    then, now = run["scenario"], scenario.as_dict()
    facts = {
        "scenario": (then["name"], now["name"]),
        "zone": (then["zone"], now["zone"]),
        "jobs.visibility": (then["jobs"]["visibility"], now["jobs"]["visibility"]),
    }
    for what, (was, wanted) in facts.items():
        if was != wanted:
            raise _OtherGroundError(f"it was planned with another {what}, {one_line(was, 40)} and not {wanted}")
    if then["cluster"] != now["cluster"]:
        raise _OtherGroundError("it was planned for another cluster")


def _handover(folder: Path, run: Mapping[str, Any], horizon: Horizon) -> Handover:
    cluster = cluster_of(run)
    tables = {name: read_table(folder / f"{name}.csv", COLUMNS[name]) for name in ("schedule", "deferred")}
    scheduled = read_rows(folder, tables, "schedule", lambda row: scheduled_of(row, cluster))
    length_s = horizon.length_s
    deferred = read_rows(folder, tables, "deferred", lambda row: deferred_of(row, cluster))
    try:
        running = [_carried(job, placed, length_s, end_s) for job, _, placed, end_s in scheduled if end_s > length_s]
    except InputError as error:
        raise FileFormatError(folder / "schedule.csv", f"it is damaged: {one_line(str(error), QUOTED)}") from error
    if any(node >= cluster.node_count for work in running for node in work.nodes):
        raise FileFormatError(folder / "schedule.csv", "it is damaged: a job is on a node that is not there")
    waiting = tuple(Waiting(*each) for each in deferred if each is not None)
    waited_for = {needed.job_id for each in waiting for needed in each.job.after}
    refused = read_rows(folder, tables, "deferred", lambda row: refused_of(row, cluster, waited_for))
    needed_again = tuple(job for job in refused if job is not None)
    since_unix = known_until_of(run)
    site = made(SiteState, run["left"]) if "left" in run else None
    if since_unix is None:
        return Handover(tuple(running), waiting, refused=needed_again, site=site)
    # A day planned from a later moment knows jobs that the next one would take for new.
    ids = frozenset(row[0] for table in tables.values() for row in table.rows)
    return Handover(tuple(running), waiting, since_unix, ids, needed_again, site)


def _carried(job: Job, placement: Placement, length_s: int, end_s: int) -> Running:
    """A job on the next day: planning counts on the time that it asked for, however soon it really ends."""
    held_until = max(end_s, placement.start_s + job.planned_s)
    return Running(job, placement.start_s - length_s, held_until - length_s, placement.nodes)
