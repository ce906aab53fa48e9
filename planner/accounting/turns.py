"""When jobs may start in a finished plan by what they wait for; written for the audit, apart from any search."""

from __future__ import annotations

import numpy as np

from planner.accounting.room import FOR_EVER
from planner.domain.columns import Ints
from planner.domain.plan import Plan
from planner.domain.problem import Problem


def first_starts(problem: Problem, plan: Plan) -> Ints:
    """First second at which each job may start, from now on, with all other jobs where the plan has them."""
    first_s: Ints = np.maximum(ready_moments(problem, plan), problem.now_s)
    return first_s


def ready_moments(problem: Problem, plan: Plan) -> Ints:
    """When each job is submitted, may begin, and all that it waits for has come first, as the plan has it [s].

    `FOR_EVER` where a job that must come first does not run today. A job that is neither planned nor running nor
    refused is long gone.
    """
    released = [problem.horizon.to_s(job.release_unix) for job in problem.jobs]
    first_s: Ints = np.array(released, dtype=np.int64)
    if not any(job.after for job in problem.jobs):
        return first_s
    planned = dict(zip((job.id for job in problem.jobs), plan.start_s.tolist(), strict=True))
    lengths_s = {job.id: job.planned_s for job in problem.jobs}
    held_until_s = {work.job.id: work.end_s for work in problem.running}
    for index, job in enumerate(problem.jobs):
        for needed in job.after:
            other = needed.job_id
            allowed_s = held_until_s.get(other, 0) if needed.waits_for_end else 0
            if other in planned:
                allowed_s = planned[other] + (lengths_s[other] if needed.waits_for_end else 0)
            if other in problem.never or (other in planned and planned[other] < 0):
                allowed_s = int(FOR_EVER)
            first_s[index] = max(first_s[index], allowed_s)
    return first_s
