"""From a sequence of jobs to a plan, through the placement kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from planner.domain.columns import Ints
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.search.kernel import place_in_order
from planner.units import MILLI


class RunningUnits(NamedTuple):
    """The running work as the kernel takes it."""

    node: Ints
    end_s: Ints
    amount: Ints
    job_end_s: Ints
    job_power_mw: Ints


def decode(problem: Problem, order: Ints, release_s: Ints | None = None) -> Plan:
    """Place the jobs of ``order`` one by one, each at its earliest start; the others are deferred.

    ``release_s`` replaces the jobs' own release times [s].
    """
    columns = problem.columns
    running = running_units(problem)
    limit_w = problem.cluster.power_limit_w
    start_s, node_of_unit = place_in_order(
        order,
        columns.release_s if release_s is None else release_s,
        columns.duration_s,
        columns.power_mw,
        columns.group_ptr,
        columns.group_count,
        columns.group_amount,
        columns.unit_ptr,
        problem.nodes.capacity,
        running.node,
        running.end_s,
        running.amount,
        running.job_end_s,
        running.job_power_mw,
        -1 if limit_w is None else int(limit_w * MILLI),
        problem.horizon.length_s,
    )
    return Plan(start_s, node_of_unit)


@lru_cache(maxsize=8)
def running_units(problem: Problem) -> RunningUnits:
    """The running jobs, unit by unit."""
    columns = problem.running_columns
    ends = np.array([work.end_s for work in problem.running], dtype=np.int64)
    return RunningUnits(
        node=np.array([node for work in problem.running for node in work.nodes], dtype=np.int64),
        end_s=np.repeat(ends, np.diff(columns.unit_ptr)),
        amount=columns.group_amount[columns.unit_group],
        job_end_s=ends,
        job_power_mw=columns.power_mw,
    )
