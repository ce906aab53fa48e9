"""Promises in planning: until when jobs may be held, and why one starts later than that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from planner.domain.job import Job, Promise
from planner.domain.problem import Problem
from planner.domain.result import Hold


def with_promises(problem: Problem, holds: Iterable[Hold]) -> Problem:
    """The same problem with these holds noted as promises to its jobs."""
    given = {each.job_id: Promise(each.reference_unix, each.latest_unix) for each in holds}

    def told(job: Job) -> Job:
        return replace(job, promise=given[job.id]) if job.id in given else job

    return replace(problem, jobs=tuple(told(job) for job in problem.jobs)) if given else problem


def why_late(method: str) -> str:
    """Why a job of a plan starts later than until when it might be held."""
    return "no room when its hold ended" if method == "hold" else f"the method {method} holds nothing"
