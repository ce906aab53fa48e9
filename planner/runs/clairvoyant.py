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
from planner.domain.job import Job
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.runs.replay_ledger import frame_of, origin_of, window_of
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
    empty, midnights = frame_of(scenario, window)
    real = [replace(jobs[k], requested_s=int(trace.runtime_s[k]), deadline_unix=None) for k in inside.tolist()]
    problem = replace(empty, jobs=tuple(real))
    return profit_bound(
        problem,
        latest_start_s=np.minimum(latest_s[inside] - shift_s, NO_DEADLINE),
        bills_s=midnights,
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )
