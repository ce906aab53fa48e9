"""One day planned: a method run on its problem, the plan audited, and every job accounted for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.accounting.audit import require_clean
from planner.domain.job import Job
from planner.domain.plan import Deferral
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.methods import Params, Stop, method_named
from planner.pipeline.build import Day


@dataclass(frozen=True)
class PlannedDay:
    """A day with its audited result; every known job is placed, deferred or rejected."""

    day: Day
    result: Result
    deferrals: tuple[tuple[Job, Deferral], ...]


def plan_day(day: Day, method: str, params: Params, stop: Stop) -> PlannedDay:
    """Plan a day and audit the plan; AuditError when it breaks a rule."""
    result = method_named(method)(day.problem, params, stop)
    require_clean(day.problem, result.plan)
    return PlannedDay(day, result, (*_deferred(day.problem, result), *day.rejected))


def _deferred(problem: Problem, result: Result) -> list[tuple[Job, Deferral]]:
    late = problem.columns.latest_start_s < problem.horizon.length_s
    deferred = []
    for index in np.flatnonzero(~result.plan.is_placed):
        job = problem.jobs[index]
        asked = " and ".join(f"{group.count} x {_words(group.amounts)}" for group in job.units)
        reason = f"no room today for {asked} during {job.requested_s / 3600:.2f} h"
        if problem.defer == "free":
            reason = "not started today: another plan without it earns more, or there is no room"
        if late[index]:
            reason += "; misses its deadline"
        deferred.append((job, Deferral(job.id, "deferred", reason)))
    return deferred


def _words(amounts: tuple[tuple[str, float], ...]) -> str:
    return ", ".join(f"{amount:g} {name}" for name, amount in amounts)
