"""From a snapshot to the problem of its day: what happened so far is fixed, what waits is to be planned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from planner.bounds import Bounds
from planner.domain.closed_room import node_outages
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral
from planner.domain.problem import Problem, Running
from planner.domain.snapshot import Snapshot, StartedJob
from planner.errors import InputError
from planner.inputs.build import Day, frame, overdue, sorted_out
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR

Rejected = tuple[tuple[Job, Deferral], ...]
"""Jobs that can never run here, with reasons."""

HOURS = Bounds(0, 24 * 14, "hours", above=True)
"""How far ahead of a moment jobs are planned."""


def day_from_snapshot(
    scenario: Scenario,
    day: dt.date,
    snapshot: Snapshot,
    *,
    hours: float | None = None,
    times_deferred: Mapping[str, int] | None = None,
    intake: Intake | None = None,
) -> Day:
    """The whole calendar day that a snapshot is of.

    What has started today, ended or not, is fixed; pending jobs start from the snapshot's moment on. With ``hours`` the
    day is decided on the stretch from its midnight to so many hours after the moment, where that is longer than the
    day. ``times_deferred`` says on how many earlier days jobs were deferred.
    """
    horizon = Horizon(day, scenario.zone)
    if not horizon.start_unix <= snapshot.moment_unix < horizon.end_unix:
        moment = horizon.to_datetime(horizon.to_s(snapshot.moment_unix)).isoformat()
        raise InputError(f"{snapshot.source}: its moment, {moment}, is not on {day}; plan the day that it is of")
    times = dict(times_deferred or {})
    waiting, rejected = sorted_out(scenario, snapshot.pending)
    intake = intake or Intake(snapshot.source, kept=len(snapshot.pending) + len(snapshot.started))
    ended_before = [each for each in snapshot.started if ended_by(each, horizon.start_unix)]
    if ended_before:
        intake.notes.append(f"{len(ended_before)} jobs ended before {day}: they are part of earlier days")
    empty, intakes = frame(scenario, horizon)
    return Day(
        scenario,
        filled(scenario, empty, waiting, rejected, snapshot, times),
        rejected,
        (intake, *intakes),
        times,
        withdrawn=tuple((job, taken_back(job)) for job in snapshot.withdrawn),
        snapshot=snapshot,
        ahead=_ahead(scenario, horizon, waiting, rejected, snapshot, times, hours),
    )


def _ahead(
    scenario: Scenario,
    horizon: Horizon,
    waiting: tuple[Job, ...],
    rejected: Rejected,
    snapshot: Snapshot,
    times: Mapping[str, int],
    hours: float | None,
) -> Problem | None:
    """The day and the time after it that is looked at; None when that is no longer than the day."""
    if hours is None:
        return None
    HOURS.require("the hours to plan ahead", hours)
    length_s = horizon.to_s(snapshot.moment_unix) + round(hours * SECONDS_PER_HOUR)
    if length_s <= horizon.length_s:
        return None
    empty, _ = frame(scenario, Horizon.from_moment(horizon.start_unix, length_s, scenario.zone), repeats=True)
    return filled(scenario, empty, waiting, rejected, snapshot, times)


def filled(
    scenario: Scenario,
    empty: Problem,
    waiting: tuple[Job, ...],
    rejected: Rejected,
    snapshot: Snapshot,
    times: Mapping[str, int],
) -> Problem:
    """A problem without jobs, filled with those of a snapshot; what has ended before its horizon is no part of it."""
    horizon = empty.horizon
    now_s = horizon.to_s(snapshot.moment_unix)
    started = [each for each in snapshot.started if not ended_by(each, horizon.start_unix)]
    known = {job.id for job in waiting}
    return replace(
        empty,
        jobs=waiting,
        running=tuple(_fixed(each, horizon, now_s) for each in started),
        overdue=overdue(scenario, {name: count for name, count in times.items() if name in known}),
        now_s=now_s,
        outages=node_outages(snapshot.outages, horizon),
        never=frozenset(job.id for job, _ in rejected),
    )


def _fixed(started: StartedJob, horizon: Horizon, now_s: int) -> Running:
    """A started job: with its real end, or with the end that its requested time lets expect, at the earliest now.

    A job that ended in the second of its start holds its nodes for that second.
    """
    start_s = horizon.to_s(started.start_unix)
    if started.end_unix is None:
        end_s = max(start_s + started.job.planned_s, now_s + 1)
    else:
        end_s = max(horizon.to_s(started.end_unix), start_s + 1)
    return Running(started.job, start_s, end_s, started.nodes, is_cancelled=started.cancelled)


def ended_by(started: StartedJob, unix: int) -> bool:
    """Whether a job was over at a moment."""
    return started.end_unix is not None and started.end_unix <= unix


def taken_back(job: Job) -> Deferral:
    """What is told of a job that never ran."""
    return Deferral(job.id, "withdrawn", "it was cancelled before it started")
