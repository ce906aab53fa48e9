"""The last plan of a site, read from the folder of its day: what it says about every job at a later moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.plan import DeferralKind
from planner.domain.rates import Rates
from planner.domain.site_state import SiteState
from planner.domain.snapshot import Outage, Snapshot, StartedJob
from planner.errors import FileFormatError, InputError
from planner.scenario.schema import Scenario
from planner.store.continue_from import read_previous
from planner.store.read_tables import choice, job_of, read_rows, read_table, scheduled_of, whole
from planner.store.results import cluster_of, is_booked, known_until_of, made, outages_of, read_run
from planner.store.versions import VERSIONS, plans_of
from planner.store.write_tables import COLUMNS


@dataclass(frozen=True)
class Unstarted:
    """A job of deferred.csv: what it is there as, and on how many days it was deferred."""

    job: Job
    kind: str
    times_deferred: int


@dataclass(frozen=True)
class LastPlan:
    """What was planned, or has happened, on a day.

    ``schedule`` has a start, nodes and an end for every job that runs that day; ``cancelled`` in it are those that were
    ended by somebody. ``known_until_unix`` is the moment from which jobs may be new. ``began`` and ``left`` are
    what the site carries over besides jobs when the day begins and when it ends; None where early versions wrote it.
    """

    horizon: Horizon
    schedule: tuple[StartedJob, ...]
    unstarted: tuple[Unstarted, ...]
    outages: tuple[Outage, ...]
    known_until_unix: int
    began: SiteState | None = None
    left: SiteState | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Every job that it knows."""
        return (*(each.job for each in self.schedule), *(each.job for each in self.unstarted))

    @property
    def ids(self) -> frozenset[str]:
        """Names of the jobs that it knows."""
        return frozenset(job.id for job in self.jobs)

    @property
    def deferred(self) -> tuple[Job, ...]:
        """The jobs that wait for a later day."""
        return tuple(each.job for each in self.unstarted if each.kind == "deferred")

    def times_deferred(self, day: Horizon) -> dict[str, int]:
        """On how many days before a day each job was deferred."""
        same_day = self.horizon.day == day.day
        return {
            each.job.id: each.times_deferred - same_day
            for each in self.unstarted
            if each.kind == "deferred" and each.times_deferred > same_day
        }

    def carried_out(self, moment_unix: int, day: Horizon, new: Iterable[Job] = ()) -> Snapshot:
        """The day at a moment, if everything went as planned: what was to start has started, what was to end ended.

        ``new`` are jobs submitted since. Jobs that it refused or that were withdrawn are told again on their own day,
        and as long as others wait for them.
        """
        same_day = self.horizon.day == day.day
        started, pending = [], list(new)
        for each in self.schedule:
            if each.start_unix > moment_unix:
                pending.append(each.job)
            elif each.end_unix is None or each.end_unix > moment_unix:
                started.append(StartedJob(each.job, each.start_unix, each.nodes))
            elif each.end_unix > day.start_unix:
                started.append(each)
        pending += [each.job for each in self.unstarted if each.kind == "deferred"]
        waited_for = {needed.job_id for job in pending for needed in job.after}
        refused = [each.job for each in self.unstarted if each.kind == "rejected"]
        pending += [job for job in refused if same_day or job.id in waited_for]
        return Snapshot(
            moment_unix,
            pending=tuple(sorted(pending, key=lambda job: job.submission_key)),
            started=tuple(started),
            withdrawn=tuple(each.job for each in self.unstarted if same_day and each.kind == "withdrawn"),
            outages=tuple(each for each in self.outages if each.end_unix is None or each.end_unix > moment_unix),
            source=f"the plan of {self.horizon.day}",
        )


def read_last_plan(folder: Path, scenario: Scenario, horizon: Horizon) -> LastPlan:
    """The plan of the day of a horizon; InputError when its files are damaged or it is of another site."""
    read_previous(folder, scenario, horizon)  # the files are whole, and of this site
    run = read_run(folder)
    cluster, known_until = cluster_of(run), known_until_of(run)
    tables = {name: read_table(folder / f"{name}.csv", COLUMNS[name]) for name in ("schedule", "deferred")}
    scheduled = read_rows(folder, tables, "schedule", lambda row: scheduled_of(row, cluster))
    unstarted = read_rows(
        folder,
        tables,
        "deferred",
        lambda row: Unstarted(
            job_of(row, cluster), choice(row, "kind", *get_args(DeferralKind)), whole(row, "times_deferred")
        ),
    )
    sees_day = run["scenario"]["jobs"]["visibility"] == "day"
    return LastPlan(
        horizon,
        tuple(
            StartedJob(
                job,
                horizon.start_unix + placed.start_s,
                placed.nodes,
                horizon.start_unix + end_s,
                cancelled=state == "cancelled",
            )
            for job, state, placed, end_s in scheduled
        ),
        tuple(unstarted),
        outages_of(run),
        known_until if known_until is not None else horizon.end_unix if sees_day else horizon.start_unix,
        _began(run, horizon),
        made(SiteState, run["left"]) if "left" in run else None,
    )


def _began(run: Mapping[str, Any], horizon: Horizon) -> SiteState | None:
    """The state in which a day found its site."""
    if "rates" not in run:
        return None
    rates: Rates = made(Rates, run["rates"])
    held = None if rates.battery is None else rates.battery.start_kwh
    return SiteState(horizon.day, rates.demand_so_far_kw, held)


def site_state_of(folder: Path, scenario: Scenario, today: Horizon, last: LastPlan | None) -> SiteState | None:
    """The state of the site at the midnight before a day: as the last plan has it, and where they are made, the books.

    None on a first day.
    """
    if last is None or last.horizon.day != today.day:
        return None if last is None else last.left
    before = today.day_before()
    if is_booked(folder / before.day.isoformat()):
        return read_last_plan(folder / before.day.isoformat(), scenario, before).left
    return last.began


def plan_before_books(folder: Path, scenario: Scenario, day: Horizon) -> LastPlan | None:
    """The last plan of a day, or else of the day before, whether or not the day is booked since."""
    written = folder / day.day.isoformat()
    if not is_booked(written):
        return last_plan_of(folder, scenario, day)
    plans = plans_of(written)
    if plans:
        return read_last_plan(written / VERSIONS / plans[-1][0], scenario, day)
    before = day.day_before()
    is_there = (folder / before.day.isoformat()).is_dir()
    return read_last_plan(folder / before.day.isoformat(), scenario, before) if is_there else None


def last_plan_of(folder: Path, scenario: Scenario, today: Horizon) -> LastPlan | None:
    """The plan of today in a folder of days, else that of yesterday; None when there is neither."""
    for horizon in (today, today.day_before()):
        written = folder / horizon.day.isoformat()
        try:
            is_there = written.exists()
        except OSError:  # a name too long, say: writing there will report it
            return None
        if is_there:
            try:
                return read_last_plan(written, scenario, horizon)
            except FileFormatError as error:
                raise InputError(f"{error}; or remove {written}") from error
    return None
