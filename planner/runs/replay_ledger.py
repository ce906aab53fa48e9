"""Energy and money of a replay: every day that it touches settled by the planner's own accounting."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.ledger import Totals
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.segment import split_segments, stretch_segments
from planner.domain.situation import SiteState
from planner.domain.trace import Trace
from planner.errors import CoverageError, InputError
from planner.inputs.build import frame
from planner.inputs.prices import rates_of
from planner.limits import DAY_S, RUN_DAYS
from planner.online.replay import Replay
from planner.scenario.schema import Scenario

MOST_DAYS = 3660


def settle_replays(
    scenario: Scenario, jobs: tuple[Job, ...], replays: Sequence[Replay]
) -> list[list[tuple[dt.date, Totals]]]:
    """The totals of each day, of each of some replays of one trace, from the first start of all to their last end.

    Jobs are in the order of the trace.
    """
    if not jobs or not replays:
        return [[] for _ in replays]
    trace = replays[0].trace
    origin = origin_of(trace)
    first_unix = min(int(each.start_s.min()) for each in replays) + origin
    last_unix = max(int(each.end_s.max()) for each in replays) + origin
    days = (last_unix - first_unix) // DAY_S
    if days > MOST_DAYS:
        raise InputError(f"{trace.source}: the replay takes {days:,} days; at most {MOST_DAYS:,} are settled")
    first = Horizon.of_unix(first_unix, scenario.zone)
    return [list(_settle_days(scenario, jobs, each, first, last_unix)) for each in replays]


def settle_window(
    scenario: Scenario, jobs: tuple[Job, ...], replay: Replay, *, first_day: dt.date, days: int, repeats: bool = False
) -> list[tuple[dt.date, Totals]]:
    """The totals of each of so many calendar days, also of those on which nothing runs.

    ``repeats``: a day without prices or weather is like the day before it.
    """
    return list(days_of_window(scenario, jobs, replay, first_day=first_day, days=days, repeats=repeats))


def days_of_window(
    scenario: Scenario, jobs: tuple[Job, ...], replay: Replay, *, first_day: dt.date, days: int, repeats: bool = False
) -> Iterator[tuple[dt.date, Totals]]:
    """The same, one day after the other."""
    until_unix = window_of(scenario, first_day, days).end_unix
    return _settle_days(scenario, jobs, replay, Horizon(first_day, scenario.zone), until_unix, repeats=repeats)


def window_of(scenario: Scenario, first_day: dt.date, days: int) -> Horizon:
    """So many calendar days from a first one on, as one stretch of time."""
    RUN_DAYS.require("the number of days", days)
    first, end = (Horizon(first_day + dt.timedelta(days=k), scenario.zone) for k in (0, days))
    return Horizon.from_moment(first.start_unix, end.start_unix - first.start_unix, scenario.zone)


def frame_of(scenario: Scenario, window: Horizon, *, repeats: bool = False) -> tuple[Problem, list[int]]:
    """Days as one problem without jobs, its segments cut at midnight as in each day's, and the midnights [s].

    So the sum of the days is one settlement of the whole.
    """
    empty, _ = frame(scenario, window, repeats=repeats)
    midnights = [day.start_unix - window.start_unix for day in window.days()]
    return replace(empty, segments=split_segments(empty.segments, midnights), defer="free"), midnights


def origin_of(trace: Trace) -> int:
    """Unix time of the first second of a trace; InputError when it has no date."""
    if trace.origin_unix is None:
        raise InputError(f"{trace.source}: the trace has no date; add UnixStartTime to settle its days")
    return trace.origin_unix


def require_first_day(scenario: Scenario, trace: Trace) -> None:
    """InputError when a trace has no date, or a scenario does not cover its first day: to be told before a replay."""
    origin = origin_of(trace)
    if len(trace):
        frame(scenario, Horizon.of_unix(int(trace.submit_s[0]) + origin, scenario.zone))


def _settle_days(
    scenario: Scenario,
    jobs: tuple[Job, ...],
    replay: Replay,
    horizon: Horizon,
    until_unix: int,
    *,
    repeats: bool = False,
) -> Iterator[tuple[dt.date, Totals]]:
    """The totals of each day from one on until a moment."""
    origin = origin_of(replay.trace)
    start_unix, end_unix = replay.start_s + origin, replay.end_s + origin
    state: SiteState | None = None
    known: Problem | None = None
    while horizon.start_unix < until_unix:
        try:
            known, _ = frame(scenario, horizon)
        except CoverageError as error:
            if not repeats or known is None or not error.is_end:
                raise
            segments = stretch_segments(known.segments, horizon.length_s)
            known = replace(known, horizon=horizon, segments=segments)
        problem, plan = _as_planned(known, jobs, replay, start_unix, end_unix)
        problem = replace(problem, rates=rates_of(scenario, horizon.day, state))
        ledger = settle(problem, plan)
        state = SiteState.after(problem.horizon.day, problem.rates, ledger)
        yield horizon.day, ledger.totals
        horizon = horizon.next_day()


def sum_of_days(settled: Sequence[tuple[dt.date, Totals]]) -> Mapping[str, float]:
    """All days together, by name."""
    names = [field.name for field in fields(Totals)]
    return Totals(**{name: float(sum(asdict(totals)[name] for _, totals in settled)) for name in names}).as_dict()


def as_they_ran(jobs: Sequence[Job], trace: Trace) -> tuple[Job, ...]:
    """The jobs of a trace, each as long as it ran and without a deadline; made once, they are taken as they are."""
    return tuple(_as_long(job, int(runtime_s)) for job, runtime_s in zip(jobs, trace.runtime_s, strict=True))


def _as_long(job: Job, runtime_s: int) -> Job:
    if job.requested_s == runtime_s and job.deadline_unix is None:
        return job
    return replace(job, requested_s=runtime_s, deadline_unix=None)


def _as_planned(
    empty: Problem,
    jobs: tuple[Job, ...],
    replay: Replay,
    start_unix: np.ndarray[tuple[int], np.dtype[np.int64]],
    end_unix: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[Problem, Plan]:
    """What ran on a day, as a problem with its plan: jobs count for the time that they really ran."""
    first, last = empty.horizon.start_unix, empty.horizon.end_unix
    today = np.flatnonzero((start_unix < last) & (end_unix > first))
    running, starting, placements = [], [], {}
    for index in today:
        job = _as_long(jobs[index], int(replay.trace.runtime_s[index]))
        units = replay.trace.unit_ptr[index : index + 2]
        nodes = tuple(replay.node_of_unit[units[0] : units[1]].tolist())
        start_s, end_s = int(start_unix[index]) - first, int(end_unix[index]) - first
        if start_s <= 0:
            running.append(Running(job, start_s, end_s, nodes))
        else:
            starting.append(job)
            placements[job.id] = Placement(job.id, start_s, nodes)
    starting.sort(key=lambda job: job.submission_key)
    problem = replace(empty, jobs=tuple(starting), running=tuple(running), defer="free")
    return problem, Plan.of(problem, placements)
