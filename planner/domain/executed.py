"""What really happened: a planned day in which every job ends at its real runtime."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from planner.domain.job import Job
from planner.domain.problem import Problem, Running

ExecuteRule = Literal["requested", "actual"]
"""How long jobs run once they are planned: as long as they asked, or as they really did."""


def executed(problem: Problem) -> Problem:
    """The same day with every job as long as it really ran; a plan of the one is a plan of the other.

    Jobs start when and where they were planned to: what ends early only leaves room. A job whose runtime is not known
    runs as long as it asked; what has ended already ended when it did.
    """
    return replace(
        problem,
        jobs=tuple(replace(job, requested_s=ran_s(job), estimate_s=None) for job in problem.jobs),
        running=tuple(replace(work, end_s=_real_end_s(work, problem.now_s)) for work in problem.running),
    )


def _real_end_s(work: Running, now_s: int) -> int:
    if work.end_s <= now_s:
        return work.end_s
    return min(work.end_s, max(now_s + 1, work.start_s + ran_s(work.job)))


def ran_s(job: Job) -> int:
    """How long a job really ran, at most the time that it asked for [s]."""
    return min(job.runtime_s, job.requested_s) if job.runtime_s else job.requested_s
