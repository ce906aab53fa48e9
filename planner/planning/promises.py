"""Promises in planning: what a site tells its users when jobs arrive, and why one could not be kept."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.job import Job, Promise
from planner.domain.problem import Problem


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
