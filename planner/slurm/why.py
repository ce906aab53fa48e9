"""Why a job waits, from the last plan of a site, in words for its user."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.domain.day_summary import DaySummary
from planner.domain.result import Hold
from planner.errors import InputError
from planner.slurm.journal import Ours, journal_of, read_ours
from planner.store.read_json import read_run, read_summary
from planner.store.read_tables import read_rows, unix

MOST_TASKS = 5
"""Tasks of an array that are told one by one."""


def last_day(folder: Path) -> Path:
    """The folder of a day itself, or that of the last day in a folder of days; InputError where there is none."""
    for each in (folder, *sorted(folder.glob("[0-9]*-[0-9]*-[0-9]*"), reverse=True)):
        if (each / "run.json").is_file():
            return each
    raise InputError(f"{folder}: no day was planned here; give the folder of a site's days, as in reports/site")


def why(folder: Path, job: str) -> list[str]:
    """What the plan in a folder says of a job, or of the tasks of an array; InputError where it does not know it."""
    run, summary = read_run(folder), read_summary(folder)
    found = list(_of_array(folder, run, summary, job))
    if not found:
        raise InputError(
            f"job {job} is not in the plan of {summary.moment or summary.day}; it may be newer, or long over"
        )
    made = f"as planned at {_local(summary, summary.moment)}" if summary.moment else f"as planned for {summary.day}"
    more = [f"and {len(found) - MOST_TASKS:,} more tasks"] if len(found) > MOST_TASKS else []
    return [*found[:MOST_TASKS], *more, made]


def _of_array(folder: Path, run: Mapping[str, Any], summary: DaySummary, job: str) -> Iterator[str]:
    holds = {each.job_id: each for each in summary.holds}
    ours = read_ours(journal_of(folder))

    def is_meant(name: str) -> bool:
        return name == job or name.partition("_")[0] == job

    for name in ("schedule", "deferred"):
        for row in read_rows(folder, name, dict):
            if is_meant(row["job_id"]):
                yield _in_words(row, holds.get(row["job_id"]), ours, run, summary)
    for each in (run.get("snapshot") or {}).get("left_alone", ()):
        if is_meant(each["job_id"]):
            yield f"job {each['job_id']} is Slurm's alone, and not planned: {each['reason']}"


def _in_words(
    row: Mapping[str, str], hold: Hold | None, ours: Ours, run: Mapping[str, Any], summary: DaySummary
) -> str:
    job, state = row["job_id"], row.get("state", "")
    if hold is not None:
        until_unix = ours.held_until(job, unix(row, "submit_time"))
        until, latest = _local(summary, until_unix or hold.until_unix), _local(summary, hold.latest_unix)
        saved = f"that saves {hold.saved_eur:,.2f} {summary.currency} of energy"
        is_held = "is held" if until_unix is not None else "is not held yet, but worth holding"
        held = f"job {job} {is_held} until {until} for cheaper electricity, at the latest until {latest}"
        return f"{held}; {saved}{_way_out(run)}"
    if state in ("running", "done", "cancelled"):
        ended = "" if state == "running" else f" and ended at {_local(summary, row['end_time'])}"
        return f"job {job} started at {_local(summary, row['start_time'])}{ended}"
    if state == "planned":
        start = _local(summary, row["start_time"])
        return f"job {job} is not held; it waits {_for_what(row, summary, run)}, and is expected to start at {start}"
    start = f", expected to start at {_local(summary, row['planned_start'])}" if row["planned_start"] else ""
    return f"job {job} is not held; it waits {_for_what(row, summary, run)}{start}: {row['reason']}"


def _for_what(row: Mapping[str, str], summary: DaySummary, run: Mapping[str, Any]) -> str:
    """What a job waits for that is not held: other jobs, the begin that its user gave it, or its turn and room."""
    if row.get("dependency"):
        return f"for other jobs ({row['dependency']})"
    if row.get("begin_time"):
        return f"for its own begin at {_local(summary, row['begin_time'])}"
    is_slurms = run["scenario"]["jobs"]["source"] == "slurm"
    return f"for its turn and for room on the machine{', which is up to Slurm' if is_slurms else ''}"


def _way_out(run: Mapping[str, Any]) -> str:
    """How a user gets out of being held."""
    opt_in = run["scenario"].get("slurm", {}).get("opt_in", {})
    ways = []
    if opt_in.get("comment"):
        ways.append(f"take the word {' or '.join(opt_in['comment'])} out of its comment")
    if opt_in.get("qos"):
        ways.append(f"use another QOS than {', '.join(opt_in['qos'])}")
    if opt_in.get("partitions"):
        ways.append(f"use another partition than {', '.join(opt_in['partitions'])}")
    return f"; to opt out, {', and '.join(ways)}: the next run releases it" if ways else ""


def _local(summary: DaySummary, moment: str | int) -> str:
    """A moment as people of the site read it."""
    zone = summary.horizon.to_datetime(0).tzinfo
    found = dt.datetime.fromtimestamp(moment, zone) if isinstance(moment, int) else dt.datetime.fromisoformat(moment)
    return f"{found.astimezone(zone):%Y-%m-%d %H:%M}"
