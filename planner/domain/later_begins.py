"""Jobs that may not begin before the day is over: a method gets the day without them, and they wait in its plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem

Mask = npt.NDArray[np.bool_]


def may_begin(problem: Problem) -> Mask:
    """Which jobs may start before the day is over."""
    allowed: Mask = problem.columns.release_s < problem.horizon.length_s
    return allowed


def without_others(problem: Problem, kept: Mask) -> Problem:
    """The problem with some of its jobs."""
    return replace(problem, jobs=tuple(job for job, stays in zip(problem.jobs, kept, strict=True) if stays))


def with_others(problem: Problem, kept: Mask, plan: Plan) -> Plan:
    """A plan for some of the jobs as one for all of them; the others are deferred."""
    columns = problem.columns
    start_s = np.full(len(columns), DEFERRED, dtype=np.int64)
    node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    start_s[kept] = plan.start_s
    node_of_unit[np.repeat(kept, np.diff(columns.unit_ptr))] = plan.node_of_unit
    return Plan(start_s, node_of_unit)
