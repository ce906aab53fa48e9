"""Promises in planning: what a site tells its users when jobs arrive, and why one could not be kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.job import Job, Promise
from planner.domain.plan import DEFERRED
from planner.domain.problem import Problem
from planner.search.decode import decode


def promised(problem: Problem, max_delay_s: int) -> dict[str, Promise]:
    """A promise for every job that has none yet: its reference start and the delay that the site allows.

    The reference start is when the job would start under list scheduling in submit order. A job that would not start in
    the time that is looked at gets no promise yet.
    """
    if all(job.promise is not None for job in problem.jobs):
        return {}
    order = np.arange(len(problem.jobs), dtype=np.int64)
    starts = decode(replace(problem, overdue=frozenset()), order).start_s
    first = problem.horizon.start_unix
    return {
        job.id: Promise(first + int(start), first + int(start) + max_delay_s)
        for job, start in zip(problem.jobs, starts, strict=True)
        if job.promise is None and start != DEFERRED
    }


def with_promises(problem: Problem, given: dict[str, Promise]) -> Problem:
    """The same problem with these promises to its jobs."""

    def told(job: Job) -> Job:
        return replace(job, promise=given[job.id]) if job.id in given else job

    return replace(problem, jobs=tuple(told(job) for job in problem.jobs))


def why_broken_promises(problem: Problem, method: str) -> str:
    """Why a plan of a method could not keep every promise, in a few words for each cause."""
    if method != "replan":
        return f"the method {method} keeps no promises"
    causes = []
    outlived = [work.job.id for work in problem.running if _has_outlived(problem, work.start_s, work.end_s, work.job)]
    if outlived:
        more = f" and {len(outlived) - 1} more" if len(outlived) > 1 else ""
        causes.append(f"job {outlived[0]}{more} outlived the estimate")
    if problem.outages:
        names = problem.cluster.node_list(outage.node for outage in problem.outages)
        causes.append(f"{names} cannot be used")
    return "; ".join(causes) or "what runs now leaves no room earlier"


def _has_outlived(problem: Problem, start_s: int, end_s: int, job: Job) -> bool:
    return end_s > problem.now_s and start_s + job.planned_s <= problem.now_s
