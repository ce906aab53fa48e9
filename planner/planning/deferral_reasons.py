"""Why a job does not start today although there may be room, and why a promise could not be kept."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.domain.job import Job
from planner.domain.plan import Deferral, Plan
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.inputs.build import Day
from planner.methods import RULES


class Waiting:
    """What the jobs of a plan wait for.

    ``later`` are starts after the day [s] that are planned already; ``length_s`` is the end of what was planned, and
    ``until`` says so in words.
    """

    def __init__(self, problem: Problem, plan: Plan, later: Mapping[str, int], length_s: int, until: str) -> None:
        placed = {placement.job_id: placement.start_s for placement in plan.placements(problem)}
        self._problem = problem
        self._start_s = placed | dict(later)
        self._planned_s = {job.id: job.planned_s for job in problem.jobs}
        self._end_s = {work.job.id: work.end_s for work in problem.running}
        self._length_s = length_s
        self._until = until

    def why(self, job: int) -> str | None:
        """The first job that keeps a job waiting, with the reason; None when all that it waits for comes first."""
        for needed in self._problem.jobs[job].after:
            other = needed.job_id
            if other in self._problem.never:
                return f"waits for job {other}, which can never run here"
            if other in self._planned_s and other not in self._start_s:
                return f"waits for job {other}, which does not start {self._until}"
            end_s = self._end_s.get(other, 0)
            if other in self._planned_s:
                end_s = self._start_s[other] + self._planned_s[other]
            if needed.waits_for_end and end_s >= self._length_s:
                return (
                    f"waits for job {other}, which is to end at {self._problem.horizon.to_datetime(end_s).isoformat()}"
                )
        return None


def why_late(method: str) -> str:
    """Why a job of a plan starts later than until when it might be held."""
    return "no room when its hold ended" if method == "hold" else f"the method {method} holds nothing"


def deferrals_of(day: Day, result: Result, later: Mapping[str, int]) -> list[tuple[Job, Deferral]]:
    """The jobs that a plan does not start on its day, each with the reason."""
    problem, before, ahead = day.problem, day.situation.times_deferred, day.ahead or day.problem
    until = (
        "today" if day.ahead is None else f"until {ahead.horizon.to_datetime(ahead.horizon.length_s):%Y-%m-%d %H:%M}"
    )
    late = problem.columns.latest_start_s < problem.horizon.length_s
    waiting = Waiting(problem, result.plan, later, ahead.horizon.length_s, until)
    deferred = []
    for index in np.flatnonzero(~result.plan.is_placed):
        job = problem.jobs[index]
        asked = " and ".join(f"{group.count} x {_words(group.amounts)}" for group in job.units)
        where = f" on {', '.join(job.classes)}" if job.classes else ""
        asked += ", each with a node of its own," if job.exclusive else ""
        reason = f"no room {until}{where} for {asked} during {job.planned_s / 3600:.2f} h"
        if job.id in later:
            reason = f"planned to start at {problem.horizon.to_datetime(later[job.id]).isoformat()}"
        elif why := waiting.why(int(index)):
            reason = why
        elif result.status == "nothing":
            reason = f"does not start {until}: the engine found no plan in time"
        elif result.method in (*RULES, "easy"):
            reason = f"its turn did not come {until} under the rule {result.method}"
        elif result.method == "hold":
            reason = f"does not start {until}: no room, or held for a cheaper hour"
        elif result.method == "cp" and result.leaves_room:
            reason = f"the engine did not start it {until}"
        elif problem.defer == "free":
            reason = f"not started {until}: another plan without it earns more, or there is no room"
        begin_s = problem.horizon.to_s(job.release_unix)
        is_held = begin_s >= problem.horizon.length_s
        if is_held and job.id not in later:
            reason = f"may not begin before {problem.horizon.to_datetime(begin_s).isoformat()}"
        if late[index]:
            reason += "; misses its deadline"
        # A day on which it may not begin is none that deferred it.
        times = before.get(job.id, 0) + (not is_held)
        deferred.append((job, Deferral(job.id, "deferred", reason, times, later.get(job.id))))
    return deferred


def _words(amounts: tuple[tuple[str, float], ...]) -> str:
    return ", ".join(f"{amount:g} {name}" for name, amount in amounts)
