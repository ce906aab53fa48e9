"""The clairvoyant bound of a replay: what no schedule of the same jobs can earn, even one that knows them all ahead.

Every job is released at its submission, takes the time that it really took, and starts no later than it was promised.
The limit is on the profit of whole calendar days, as `settle_window` gives it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.accounting.bound import Bound, profit_bound
from planner.domain.columns import NO_DEADLINE, Ints
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.ledger import Totals
from planner.domain.problem import Running
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.replay import Replay
from planner.runs.replay_ledger import as_they_ran, frame_of, origin_of, settle_window, sum_of_days, window_of
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

    Jobs are in the order of the trace, none submitted before the first day. ``latest_s`` is the latest start of each [s
    of the trace]; one beyond the last day leaves open whether the job starts. ``time_limit_s`` is when to be content
    with the bound so far.
    """
    window = window_of(scenario, first_day, days)
    shift_s = window.start_unix - origin_of(trace)
    early = np.flatnonzero(trace.submit_s < shift_s)
    if len(early):
        raise InputError(f"job {trace.ids[early[0]]} was submitted before {first_day}: begin with the first submission")
    inside = np.flatnonzero(trace.submit_s < shift_s + window.length_s)
    inside = np.array(sorted(inside.tolist(), key=lambda index: jobs[index].submission_key), dtype=np.int64)
    empty, midnights = frame_of(scenario, window)
    real = as_they_ran(jobs, trace)
    problem = replace(empty, jobs=tuple(real[k] for k in inside.tolist()))
    return profit_bound(
        problem,
        latest_start_s=np.minimum(latest_s[inside] - shift_s, NO_DEADLINE),
        bills_s=midnights,
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )


@dataclass(frozen=True)
class LimitBeside:
    """What no schedule saves more of than another costs [EUR], with what that one's energy costs.

    ``slack_eur`` is by how much the limit might still be lower.
    """

    saved_eur: float
    slack_eur: float | None
    easy_eur: float


def limit_beside(
    scenario: Scenario,
    jobs: tuple[Job, ...],
    easy: Replay,
    delay_s: int,
    *,
    first_day: dt.date,
    time_limit_s: float,
    slot_s: int | None = None,
    repeats: bool = False,
    settled: Sequence[tuple[dt.date, Totals]] = (),
) -> LimitBeside:
    """What no schedule saves more of, with all known ahead, in which jobs start so late after their start at most.

    What has started before the first day runs as it did. ``repeats``: days without prices or weather are like the day
    before them. ``settled``: the days of the replay from the first on, where they are known for long enough.
    """
    ran, origin = easy.trace, origin_of(easy.trace)
    last_unix = int(easy.end_s.max()) + delay_s + origin - 1
    days = (Horizon.of_unix(last_unix, scenario.zone).day - first_day).days + 1
    window = window_of(scenario, first_day, days)
    first_s = window.start_unix - origin
    empty, midnights = frame_of(scenario, window, repeats=repeats)
    real = as_they_ran(jobs, ran)
    is_own = easy.start_s >= first_s
    running = [
        Running(real[k], int(easy.start_s[k]) - first_s, int(easy.end_s[k]) - first_s, _nodes(easy, k))
        for k in np.flatnonzero(~is_own & (easy.end_s > first_s)).tolist()
    ]
    own = sorted(np.flatnonzero(is_own).tolist(), key=lambda k: jobs[k].submission_key)
    problem = replace(empty, jobs=tuple(real[k] for k in own), running=tuple(running))
    bound = profit_bound(
        problem,
        latest_start_s=np.minimum(easy.start_s[own] + delay_s - first_s, NO_DEADLINE),
        bills_s=midnights,
        slot_s=slot_s,
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )
    if len(settled) < days:
        settled = settle_window(scenario, jobs, easy, first_day=first_day, days=days, repeats=repeats)
    totals = sum_of_days(settled[:days])
    saved = bound.profit_eur - float(totals["profit_eur"])
    return LimitBeside(saved, bound.slack_eur, float(totals["energy_cost_eur"]))


def _nodes(happened: Replay, job: int) -> tuple[int, ...]:
    units = happened.trace.unit_ptr
    return tuple(happened.node_of_unit[units[job] : units[job + 1]].tolist())
