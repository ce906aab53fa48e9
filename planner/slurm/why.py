"""Why a job waits, from the last plan of a site, in words for its user."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.domain.day_summary import DaySummary
from planner.errors import InputError
from planner.slurm.journal import journal_of, read_ours
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
    told = _Told(folder)
    found = list(told.lines(job))
    summary = told.summary
    if not found:
        raise InputError(
            f"job {job} is not in the plan of {summary.moment or summary.day}; it may be newer, or long over"
        )
    made = f"as planned at {told.local(summary.moment)}" if summary.moment else f"as planned for {summary.day}"
    more = [f"and {len(found) - MOST_TASKS:,} more tasks"] if len(found) > MOST_TASKS else []
    return [*found[:MOST_TASKS], *more, made if summary.booked is None else f"as booked of {summary.day}"]


class _Told:
    """A written plan, and what it says of each job at its moment; a plan of a whole day speaks from midnight."""

    def __init__(self, folder: Path) -> None:
        self.summary: DaySummary = read_summary(folder)
        self._run = read_run(folder)
        self._rows = [row for name in ("schedule", "deferred") for row in read_rows(folder, name, dict)]
        self._holds = {each.job_id: each for each in self.summary.holds}
        self._ours = read_ours(journal_of(folder))
        self._is_slurms = self._run["scenario"]["jobs"]["source"] == "slurm"
        horizon, moment = self.summary.horizon, self.summary.moment
        self._now_unix = horizon.start_unix if moment is None else int(dt.datetime.fromisoformat(moment).timestamp())

    def lines(self, job: str) -> Iterator[str]:
        """A line for a job, or one for each task of an array."""

        def is_meant(name: str) -> bool:
            return name == job or name.partition("_")[0] == job

        for row in self._rows:
            if is_meant(row["job_id"]):
                yield f"job {row['job_id']} {self._in_words(row)}"
        for each in (self._run.get("snapshot") or {}).get("left_alone", ()):
            if is_meant(each["job_id"]):
                yield f"job {each['job_id']} is Slurm's alone, and not planned: {each['reason']}"

    def local(self, moment: str | int) -> str:
        """A moment as people of the site read it."""
        zone = self.summary.horizon.to_datetime(0).tzinfo
        at = dt.datetime.fromtimestamp(moment, zone) if isinstance(moment, int) else dt.datetime.fromisoformat(moment)
        return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"

    def _in_words(self, row: Mapping[str, str]) -> str:
        state, kind = row.get("state", ""), row.get("kind", "")
        if kind == "withdrawn":
            return f"does not run: {row['reason']}"
        if kind == "rejected":
            return f"is refused and never runs as it is: {row['reason']}"
        if state in ("carried", "running") and self.summary.booked is None:
            at_most_unix = max(unix(row, "end_time"), unix(row, "start_time") + int(row["requested_s"]))
            return f"has been running since {self.local(row['start_time'])}, until {self.local(at_most_unix)} at most"
        if state in ("done", "cancelled"):
            was = "was cancelled" if state == "cancelled" else "ended"
            return f"started at {self.local(row['start_time'])} and {was} at {self.local(row['end_time'])}"
        if self.summary.booked is not None:
            return f"started at {self.local(row['start_time'])}" if state else f"waited: {row['reason']}"
        return self._waits(row)

    def _waits(self, row: Mapping[str, str]) -> str:
        """Of a job that has not started: its hold, or what else it waits for; and when it is to start."""
        start = row["start_time"] if "state" in row else row["planned_start"]
        held = self._held(row, f", and is expected to start at {self.local(start)}" if start else "")
        if held:
            return held
        is_over = row["job_id"] in self._holds
        text = f"{'is no longer held' if is_over else 'is not held'}; it waits {self._for_what(row)}"
        if "state" in row:
            return f"{text}, and is expected to start at {self.local(start)}"
        return text + (f", expected to start at {self.local(start)}" if start else "") + f": {row['reason']}"

    def _held(self, row: Mapping[str, str], then: str) -> str:
        """Until when a job is held, or is worth holding; empty where that is nothing, or over.

        Slurm holds what was sent to it, as the journal says. Elsewhere a job is held as planned.
        """
        hold = self._holds.get(row["job_id"])
        if hold is None:
            return ""
        sent_unix = self._ours.held_until(row["job_id"], unix(row, "submit_time")) if self._is_slurms else None
        is_held = sent_unix is not None and sent_unix > self._now_unix
        until_unix = sent_unix if sent_unix is not None and is_held else hold.until_unix
        if until_unix <= self._now_unix:
            return ""
        how = "is held" if is_held or not self._is_slurms else "is not held yet, but worth holding"
        until, latest = self.local(until_unix), self.local(hold.latest_unix)
        saved = f"that saves {hold.saved_eur:,.2f} {self.summary.currency} of energy"
        held = f"{how} until {until} for cheaper electricity, at the latest until {latest}{then}"
        return f"{held}; {saved}{_way_out(self._run) if self._is_slurms else ''}"

    def _for_what(self, row: Mapping[str, str]) -> str:
        """What a job waits for: other jobs, its user's own begin while that is to come, or its turn and room."""
        if row.get("dependency"):
            return f"for other jobs ({row['dependency']})"
        if row.get("begin_time") and unix(row, "begin_time") > self._now_unix:
            return f"for its own begin at {self.local(row['begin_time'])}"
        return f"for its turn and for room on the machine{', which is up to Slurm' if self._is_slurms else ''}"


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
