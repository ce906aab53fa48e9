"""The starts that a written plan wants, and the rules under which they may be given to Slurm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.inputs.slurm.hostlist import expand
from planner.slurm.changes import OptIn, Rules
from planner.slurm.reservations import Place
from planner.store.provenance import changed
from planner.store.read_tables import moment, read_rows, read_table
from planner.store.results import read_run, read_summary
from planner.store.write_tables import COLUMNS
from planner.units import utc_text

JOURNAL = "slurm-journal.jsonl"
"""Name of the journal, which stands beside the days of a site."""


@dataclass(frozen=True)
class Wanted:
    """What a plan wants of Slurm.

    Attributes
    ----------
    starts
        When each job that waits is to begin at the earliest [Unix seconds]: its planned start, or the end of the day
        for a job that is deferred without one.
    left_alone
        Jobs of the plan that it never starts, each with its reason.
    rules
        Whose begin times may be set, and how far.
    until_unix
        When the day of the plan is over.
    places
        Where the jobs start that are wide enough for a reservation; none where the scenario wants none. Jobs of a later
        day have no place yet.
    """

    starts: Mapping[str, int]
    left_alone: Mapping[str, str]
    rules: Rules
    until_unix: int
    places: Mapping[str, Place]


def journal_of(folder: Path) -> Path:
    """The journal of the site whose plan is in a folder; InputError when there is no such folder."""
    _require_folder(folder)
    return folder.resolve().parent / JOURNAL


def read_wanted(folder: Path) -> Wanted:
    """What the plan in a folder wants; InputError when the folder is none of a plan, or was changed since."""
    _require_folder(folder)
    run, summary = read_run(folder), read_summary(folder)
    for path, what in changed(folder, run):
        raise InputError(f"{path}: {what}; plan the day again")
    tables = {name: read_table(folder / f"{name}.csv", COLUMNS[name]) for name in ("schedule", "deferred")}
    scheduled = read_rows(folder, tables, "schedule", _scheduled)
    deferred = read_rows(folder, tables, "deferred", lambda row: (row, _unix(row, "planned_start")))
    until_unix = summary.horizon.end_unix
    starts = {
        each.job: each.start_unix for each in scheduled if each.state == "planned" and each.start_unix is not None
    }
    starts |= {row["job_id"]: start or until_unix for row, start in deferred if row["kind"] == "deferred"}
    left_alone = {row["job_id"]: row["reason"] for row, _ in deferred if row["kind"] == "rejected"}
    least = run["scenario"].get("slurm", {}).get("reserve_nodes")
    places = {} if least is None else _places(scheduled, least)
    return Wanted(starts, left_alone, rules_of(run), until_unix, places)


def require_not_over(wanted: Wanted, folder: Path, now_unix: int) -> None:
    """InputError when the day of a plan is over: its starts say nothing about jobs that still wait."""
    if wanted.until_unix <= now_unix:
        raise InputError(
            f"{folder}: its day was over at {utc_text(wanted.until_unix)}; plan again from now with plan now"
        )


def rules_of(run: Mapping[str, Any]) -> Rules:
    """The rules by the scenario of a run; plans of versions that knew no Slurm opt nobody in."""
    said = run["scenario"].get("slurm", {})
    opt_in = said.get("opt_in", {})
    return Rules(
        OptIn(
            frozenset(opt_in.get("partitions", ())),
            frozenset(opt_in.get("qos", ())),
            frozenset(opt_in.get("comment", ())),
        ),
        said.get("max_delay_s"),
    )


@dataclass(frozen=True)
class _Scheduled:
    """A row of the schedule."""

    job: str
    state: str
    start_unix: int | None
    end_unix: int | None
    node_list: str


def _scheduled(row: Mapping[str, str]) -> _Scheduled:
    return _Scheduled(row["job_id"], row["state"], _unix(row, "start_time"), _unix(row, "end_time"), row["nodes"])


def _places(scheduled: Sequence[_Scheduled], least: int) -> dict[str, Place]:
    """Where jobs are planned on at least so many nodes, and whether others are there while they run."""
    nodes = [frozenset(expand(each.node_list)) for each in scheduled]
    places = {}
    for each, own in zip(scheduled, nodes, strict=True):
        if each.state == "planned" and each.start_unix is not None and len(own) >= least:
            together = zip(scheduled, nodes, strict=True)
            shared = any(
                other is not each and _meet(each, other) and not own.isdisjoint(theirs) for other, theirs in together
            )
            places[each.job] = Place(each.start_unix, tuple(sorted(own)), shared)
    return places


def _meet(one: _Scheduled, other: _Scheduled) -> bool:
    """Whether two jobs run at the same time; one without an end runs on."""
    starts = (one.start_unix or 0, other.start_unix or 0)
    return (one.end_unix is None or starts[1] < one.end_unix) and (other.end_unix is None or starts[0] < other.end_unix)


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/site/2024-06-01")


def _unix(row: Mapping[str, str], name: str) -> int | None:
    return int(moment(row, name).timestamp()) if row[name] else None
