"""What later money counts, what the waiting of each job counts, from when on a job is late, and what that counts.

Later money counts by whether the queue empties by itself or the machine is overloaded. Where the queue empties, nobody
need start much later than under EASY, large jobs count more, and old ones too. On an overloaded machine somebody must:
waiting counts the same for every job there, young or old, and less, so that the room goes to what fills it best and
short jobs do not wait for it. In between it is a mixture, by what later money counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.job import Job
from planner.domain.job_order import cooled_prices, job_core_equivalents
from planner.domain.problem import Problem
from planner.domain.waits import Regime, WaitPrice
from planner.errors import InputError
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.scenario.schema import Scenario
from planner.search.orderings import job_margin_per_s
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR

LOAD_DAYS = 7
"""The jobs of so many days tell how much work comes in."""

ENOUGH_LOAD = 1.1
"""Work asked for, as a part of the machine, that a queue can still work off: jobs end before the time they ask for."""

SPARE_DAYS = 28
"""A queue empties if so many days leave room for all of it."""

LATE_AFTER_S = 4 * SECONDS_PER_HOUR
"""A job is late so long after its start under EASY at most."""

LONG_QUANTILE = 0.75
"""A wait that is longer than this part of those under EASY is long: a job whose wait is both long and longer than under
EASY is late. So the long waits of a night become no longer."""

LATE_TIMES = 100.0
"""An hour of being late counts so many times an hour of waiting."""

MOST_AGE_S = 7 * DAY_S
"""An hour of waiting counts no more with age than that of a job that has waited for so long. On an overloaded machine
the time before tonight does not count at all: there nearly all jobs are old, and the machine would be emptied for wide
ones day after day."""

MARGIN_PART = 0.5
"""What the hour of waiting of a job with the mean margin counts more than that of a job without any."""

OVERLOADED_PART = 0.5
"""What an hour of waiting counts on an overloaded machine, as a part of what it counts where the queue empties."""


def regime_of(scenario: Scenario, problem: Problem, came: Sequence[Job]) -> Regime:
    """Whether the queue empties, by the jobs that came in lately and the work that is there."""
    backlog = backlog_days(problem)
    if scenario.goal.later is not None:
        return Regime(scenario.goal.later, None, backlog, is_set=True)
    load = load_of(problem, came)
    spare = (ENOUGH_LOAD - (1.0 if load is None else load)) * SPARE_DAYS
    later = min(1.0, max(0.0, spare / backlog)) if backlog > 0 else float(spare > 0)
    return Regime(later, load, backlog)


def backlog_days(problem: Problem) -> float:
    """Work that waits and runs, in days of the whole machine."""
    left_s = np.maximum(0, problem.running_end_s - problem.now_s)
    running = float(job_core_equivalents(problem.running_columns) @ left_s)
    waiting = float(job_core_equivalents(problem.columns) @ problem.columns.duration_s)
    return (running + waiting) / (problem.cluster.total("cores") * DAY_S)


def load_of(problem: Problem, came: Sequence[Job]) -> float | None:
    """Core-hours that the jobs of the last days asked for, as a part of the machine's; None where nobody knows."""
    if not came:
        return None
    asked = sum(job.total("cores") * job.planned_s for job in came)
    return asked / (problem.cluster.total("cores") * DAY_S * LOAD_DAYS)


def last_jobs(scenario: Scenario, problem: Problem) -> list[Job]:
    """The jobs of the last `LOAD_DAYS` that the machine has the cores for; none where the source does not go back."""
    now_unix = problem.horizon.start_unix + problem.now_s
    try:
        jobs, _ = submitted_jobs(scenario, (now_unix - LOAD_DAYS * DAY_S, now_unix))
    except InputError:
        return []
    if not jobs or min(job.submit_unix for job in jobs) > now_unix - (LOAD_DAYS - 1) * DAY_S:
        return []
    cores = problem.cluster.total("cores")
    return [job for job in jobs if job.total("cores") <= cores]


def waiting_price(scenario: Scenario, problem: Problem, later: float, came: Sequence[Job]) -> float:
    """What an hour of waiting of one job counts [EUR]: as the site says, or a part of the energy of the mean job.

    ``later`` is what money after the day counts: from 0 on an overloaded machine to 1 where the queue empties. The mean
    job is that of the queue where it empties. An overloaded machine is left with the large ones: there it is that of
    the jobs that ``came`` in the last week, where any are known.
    """
    if scenario.goal.waiting is not None:
        return scenario.goal.waiting
    segments, columns = problem.segment_columns, problem.columns
    price = abs(float(np.average(cooled_prices(problem), weights=segments.length_s)))
    kwh = float(np.mean(columns.power_mw * columns.duration_s)) / MILLIWATT_SECONDS_PER_KWH
    if later < 1 and came:
        week_kwh = MILLI * sum(job.power_w * job.planned_s for job in came) / len(came) / MILLIWATT_SECONDS_PER_KWH
        kwh = later * kwh + (1.0 - later) * week_kwh
    part = OVERLOADED_PART + (1.0 - OVERLOADED_PART) * later
    return part * scenario.hold.params().waiting_fraction * kwh * price


def wait_prices(problem: Problem, hour_eur: float, later: float) -> dict[str, WaitPrice]:
    """What the waiting of each job counts, by id; jobs know when EASY would start them. ``later`` as above."""
    if hour_eur == 0:
        return {}
    columns, length_s = problem.columns, problem.horizon.length_s
    margin = np.maximum(0.0, job_margin_per_s(problem) * columns.duration_s)
    mean = float(margin.mean())
    relative: Floats = margin / mean if mean > 0 else margin
    rate = hour_eur * (1.0 + later * MARGIN_PART * relative) * problem.priority
    ready_s = np.array([_ready_s(problem, index, later) for index in range(len(problem.jobs))])
    due_s = _due_moments(problem, ready_s)
    return {
        job.id: WaitPrice(
            ready_s=int(ready_s[index]),
            eur_per_h=float(rate[index]),
            due_s=int(due_s[index]),
            late_eur_per_h=later * LATE_TIMES * float(rate[index]) if job.easy_unix is not None else 0.0,
        )
        for index, job in enumerate(problem.jobs)
        if length_s
    }


def _ready_s(problem: Problem, index: int, later: float) -> int:
    """Since when a job's wait counts: from its submission or its user's begin on, or from the first moment that what it
    waits for allows; of the time before now, ``later`` times `MOST_AGE_S` at most."""
    job = problem.jobs[index]
    ready_s = max(problem.horizon.to_s(job.release_unix), problem.now_s - round(later * MOST_AGE_S))
    return max(ready_s, min(int(problem.columns.release_s[index]), problem.horizon.length_s)) if job.after else ready_s


def _due_moments(problem: Problem, ready_s: Ints) -> Ints:
    """From when on jobs are late [s]; the end of the horizon for those of which nobody knows when EASY starts them."""
    horizon = problem.horizon
    due_s = np.full(len(ready_s), horizon.length_s, dtype=np.int64)
    known = np.flatnonzero([job.easy_unix is not None for job in problem.jobs])
    if len(known):
        easy_s = np.array([horizon.to_s(problem.jobs[index].easy_unix or 0) for index in known])
        is_long_s = ready_s[known] + int(np.quantile(easy_s - ready_s[known], LONG_QUANTILE))
        due_s[known] = np.maximum(easy_s, np.minimum(easy_s + LATE_AFTER_S, is_long_s))
    return due_s
