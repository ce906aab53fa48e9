"""The promises to the jobs of a plan, and how it keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from planner.domain.job import Job, Promise
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import BrokenPromise, Hold, Promises
from planner.units import rounded


def promises_of(
    problem: Problem,
    plan: Plan,
    later: Mapping[str, int] | None = None,
    *,
    reason: str = "",
) -> Promises | None:
    """How a plan keeps the promises of its jobs, started ones included; None where there are none.

    ``later`` has planned starts after the end of the problem [s]; ``reason`` says why jobs start later than promised.
    """
    horizon, after = problem.horizon, dict(later or {})
    starts = {work.job.id: (work.job, work.start_s) for work in problem.running}
    for index, job in enumerate(problem.jobs):
        start_s = int(plan.start_s[index]) if plan.is_placed[index] else after.get(job.id, horizon.length_s)
        starts[job.id] = (job, start_s)
    delays, broken, given = [], [], 0
    for job, start_s in starts.values():
        if job.promise is None:
            continue
        given += 1
        # Before it may begin at all, nobody keeps a job waiting.
        delay_s = start_s - horizon.to_s(max(job.promise.reference_unix, job.release_unix))
        late_s = start_s - horizon.to_s(max(job.promise.latest_unix, job.release_unix))
        if delay_s > 0:
            delays.append(delay_s)
        if late_s > 0:
            broken.append(BrokenPromise(job.id, late_s, reason))
    if not given:
        return None
    mean_s = rounded(float(np.mean(delays))) if delays else 0.0
    return Promises(given, len(delays), mean_s, max(delays, default=0), tuple(broken))


def with_promises(problem: Problem, holds: Iterable[Hold]) -> Problem:
    """The same problem with these holds noted as promises to its jobs; what was promised before is never made later."""
    given = {each.job_id: Promise(each.reference_unix, each.latest_unix) for each in holds}

    def told(job: Job) -> Job:
        if job.id not in given:
            return job
        new, old = given[job.id], job.promise
        if old is not None:
            new = Promise(old.reference_unix, min(old.latest_unix, new.latest_unix))
        return replace(job, promise=new)

    return replace(problem, jobs=tuple(told(job) for job in problem.jobs)) if given else problem
