"""Why a job does not start today although there may be room, and why a promise could not be kept."""

from __future__ import annotations

from collections.abc import Mapping

from planner.domain.plan import Plan
from planner.domain.problem import Problem


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
