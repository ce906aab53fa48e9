"""The clairvoyant bound of a replay: what no schedule of the same jobs can earn, even one that knows them all ahead.

Every job is released at its submission, takes the time that it really took, and starts no later than it was promised.
The limit is on the profit of whole calendar days, as `settle_window` gives it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np

from planner.accounting.bound import Bound, profit_bound
from planner.domain.columns import NO_DEADLINE, Ints
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.problem import Problem
from planner.domain.segment import split_segments
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.inputs.build import frame
from planner.runs.replay_ledger import origin_of, window_of
from planner.scenario.schema import Scenario

TIME_S = 300.0
TOLERANCE = 5e-4
"""As a part of what is left to gain: the jobs that must start earn the same whenever they do."""


def clairvoyant_bound(
    scenario: Scenario,
    jobs: tuple[Job, ...],
    trace: Trace,
    latest_s: Ints,
    *,
    first_day: dt.date,
    days: int,
    time_limit_s: float = TIME_S,
) -> Bound:
    """A proven limit on the profit of so many days of any schedule that starts each job in time.

    Parameters
    ----------
    scenario
        The machine, its weather, cooling and prices.
    jobs
        The jobs, in the order of the trace.
    trace
        When they were submitted, and how long they ran.
    latest_s
        Latest start of each job [s of the trace]. One beyond the last day leaves open whether the job starts.
    first_day, days
        The calendar days; no job may be submitted before them.
    time_limit_s
        When to be content with the bound so far [s].
    """
    window = window_of(scenario, first_day, days)
    shift_s = window.start_unix - origin_of(trace)
    early = np.flatnonzero(trace.submit_s < shift_s)
    if len(early):
        raise InputError(f"job {trace.ids[early[0]]} was submitted before {first_day}: begin with the first submission")
    inside = np.flatnonzero(trace.submit_s < shift_s + window.length_s)
    inside = np.array(sorted(inside.tolist(), key=lambda index: jobs[index].submission_key), dtype=np.int64)
    problem = _known_jobs(scenario, window, [(jobs[index], int(trace.runtime_s[index])) for index in inside.tolist()])
    return profit_bound(
        problem,
        latest_start_s=np.minimum(latest_s[inside] - shift_s, NO_DEADLINE),
        bills_s=_midnights(window),
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )


def _known_jobs(scenario: Scenario, window: Horizon, jobs: list[tuple[Job, int]]) -> Problem:
    """The days as one problem, with jobs as long as they really ran, and segments cut at midnight as in each day's."""
    empty, _ = frame(scenario, window)
    return replace(
        empty,
        jobs=tuple(replace(job, requested_s=runtime_s, deadline_unix=None) for job, runtime_s in jobs),
        segments=split_segments(empty.segments, _midnights(window)),
        defer="free",
    )


def _midnights(window: Horizon) -> list[int]:
    """The beginning of each day [s from the first]."""
    return [day.start_unix - window.start_unix for day in window.days()]
