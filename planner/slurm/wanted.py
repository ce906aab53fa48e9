"""What a written plan wants of Slurm: which jobs are held until when, and the rules under which that may be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.domain.result import Hold
from planner.errors import InputError
from planner.slurm.allowed_holds import ChangeRules, rules_of
from planner.slurm.journal import require_folder
from planner.store.provenance import changed
from planner.store.read_json import read_run, read_summary
from planner.store.read_tables import read_rows, unix
from planner.units import utc_text


@dataclass(frozen=True)
class Wanted:
    """What a plan wants of Slurm: the jobs that it holds for cheaper hours, and whose begin times may be set.

    ``starts`` are when it expects each job that waits to start [Unix seconds]; after the day, where it does not say.
    At ``until_unix`` the day of the plan is over. ``zone`` is the site's, ``tell`` where held jobs say so.
    """

    holds: Mapping[str, Hold]
    starts: Mapping[str, int]
    rules: ChangeRules
    until_unix: int
    zone: str = "UTC"
    tell: str = "nobody"


def read_wanted(folder: Path) -> Wanted:
    """What the plan in a folder wants; InputError when the folder is none of a plan, or was changed since."""
    require_folder(folder)
    run, summary = read_run(folder), read_summary(folder)
    for path, what in changed(folder, run):
        raise InputError(f"{path}: {what}; plan the day again")
    until_unix = summary.horizon.end_unix
    scheduled = read_rows(folder, "schedule", lambda row: (row, unix(row, "start_time")))
    deferred = read_rows(
        folder, "deferred", lambda row: (row, unix(row, "planned_start") if row["planned_start"] else until_unix)
    )
    starts = {row["job_id"]: start for row, start in scheduled if row["state"] == "planned"}
    starts |= {row["job_id"]: start for row, start in deferred if row["kind"] == "deferred"}
    holds = {each.job_id: each for each in summary.holds} if summary.moment is not None else {}
    tell = run["scenario"].get("slurm", {}).get("tell", "nobody")
    return Wanted(holds, starts, rules_of(run["scenario"]), until_unix, summary.zone, tell)


def require_not_over(wanted: Wanted, folder: Path, now_unix: int) -> None:
    """InputError when the day of a plan is over: its holds say nothing about jobs that still wait."""
    if wanted.until_unix <= now_unix:
        raise InputError(
            f"{folder}: its day was over at {utc_text(wanted.until_unix)}; plan again from now with plan now"
        )
