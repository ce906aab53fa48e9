"""The starts that a written plan wants, and the rules under which they may be given to Slurm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.places import full_path
from planner.slurm.changes import ChangeRules, OptIn
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
    latest
        The latest start that the user of each job was promised [Unix seconds]; none where the scenario promises
        nothing.
    rules
        Whose begin times may be set.
    until_unix
        When the day of the plan is over.
    """

    starts: Mapping[str, int]
    left_alone: Mapping[str, str]
    latest: Mapping[str, int]
    rules: ChangeRules
    until_unix: int


def journal_of(folder: Path) -> Path:
    """The journal of the site whose plan is in a folder; InputError when there is no such folder."""
    _require_folder(folder)
    return full_path(folder).parent / JOURNAL


def read_wanted(folder: Path) -> Wanted:
    """What the plan in a folder wants; InputError when the folder is none of a plan, or was changed since."""
    _require_folder(folder)
    run, summary = read_run(folder), read_summary(folder)
    for path, what in changed(folder, run):
        raise InputError(f"{path}: {what}; plan the day again")
    tables = {name: read_table(folder / f"{name}.csv", COLUMNS[name]) for name in ("schedule", "deferred")}
    scheduled = read_rows(folder, tables, "schedule", lambda row: (row, _unix(row, "start_time")))
    deferred = read_rows(folder, tables, "deferred", lambda row: (row, _unix(row, "planned_start")))
    until_unix = summary.horizon.end_unix
    starts = {row["job_id"]: start for row, start in scheduled if row["state"] == "planned" and start is not None}
    starts |= {row["job_id"]: start or until_unix for row, start in deferred if row["kind"] == "deferred"}
    left_alone = {row["job_id"]: row["reason"] for row, _ in deferred if row["kind"] == "rejected"}
    promises = run["scenario"]["rules"].get("max_delay_s") is not None
    latest = read_rows(folder, tables, "schedule", _latest) + read_rows(folder, tables, "deferred", _latest)
    promised = {job: unix for job, unix in latest if promises and unix is not None}
    return Wanted(starts, left_alone, promised, rules_of(run), until_unix)


def require_not_over(wanted: Wanted, folder: Path, now_unix: int) -> None:
    """InputError when the day of a plan is over: its starts say nothing about jobs that still wait."""
    if wanted.until_unix <= now_unix:
        raise InputError(
            f"{folder}: its day was over at {utc_text(wanted.until_unix)}; plan again from now with plan now"
        )


def rules_of(run: Mapping[str, Any]) -> ChangeRules:
    """The rules by the scenario of a run; plans of versions that knew no Slurm opt nobody in."""
    said = run["scenario"].get("slurm", {})
    opt_in = said.get("opt_in", {})
    return ChangeRules(
        OptIn(
            frozenset(opt_in.get("partitions", ())),
            frozenset(opt_in.get("qos", ())),
            frozenset(opt_in.get("comment", ())),
        )
    )


def _latest(row: Mapping[str, str]) -> tuple[str, int | None]:
    """A job and the latest start that its user was promised."""
    return row["job_id"], _unix(row, "latest_start")


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/site/2024-06-01")


def _unix(row: Mapping[str, str], name: str) -> int | None:
    return int(moment(row, name).timestamp()) if row[name] else None
