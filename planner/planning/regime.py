"""Whether the queue empties by itself or the machine is overloaded, and what later money counts then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.domain.job import Job
from planner.domain.job_order import job_core_equivalents
from planner.domain.problem import Problem
from planner.domain.time_ahead import Regime
from planner.errors import InputError
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.scenario.schema import Scenario

LOAD_DAYS = 7
"""The jobs of so many days tell how much work comes in."""

ENOUGH_LOAD = 1.1
"""Work asked for, as a part of the machine, that a queue can still work off: jobs end before the time they ask for."""

SPARE_DAYS = 28
"""A queue empties if so many days leave room for all of it."""


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
