"""Jobs added to a plan that has room for them, each at its earliest start, without moving anything else."""

from __future__ import annotations

import numpy as np

from planner.accounting.room import StepTable, occupation, step_table
from planner.domain.columns import Ints
from planner.domain.packing import is_decidable, nodes_for
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem


def insert(problem: Problem, plan: Plan, job: int, release_s: int | None = None) -> Plan | None:
    """The plan with a job at its earliest start from a moment on; None when there is no room today."""
    columns = problem.columns
    fixed = occupation(problem, plan, without=job)
    nodes = step_table(problem.nodes.capacity, fixed.unit_node, fixed.unit_start_s, fixed.unit_end_s, fixed.unit_amount)
    power = _power_table(problem, plan, job)
    release = int(columns.release_s[job]) if release_s is None else release_s
    duration = int(columns.duration_s[job])
    ends = np.concatenate([fixed.unit_end_s, fixed.job_end_s])
    moments = np.unique(np.append(ends[(ends > release) & (ends < problem.horizon.length_s)], release))
    for moment in moments:
        start, end = int(moment), int(moment) + duration
        if power is not None and _least(power, 1, start, end)[0, 0] < columns.power_mw[job]:
            continue
        found = _pack(problem, job, _least(nodes, len(problem.nodes.capacity), start, end))
        if found is not None:
            return _with(problem, plan, job, start, found)
    return None


def without(problem: Problem, plan: Plan, job: int) -> Plan:
    """The plan with a job deferred."""
    return _with(problem, plan, job, DEFERRED, [DEFERRED] * problem.jobs[job].unit_count)


def _with(problem: Problem, plan: Plan, job: int, start_s: int, nodes: list[int]) -> Plan:
    starts, node_of_unit = plan.start_s.copy(), plan.node_of_unit.copy()
    starts[job] = start_s
    node_of_unit[problem.columns.unit_ptr[job] : problem.columns.unit_ptr[job + 1]] = nodes
    return Plan(starts, node_of_unit)


def _power_table(problem: Problem, plan: Plan, job: int) -> StepTable | None:
    limit_mw = problem.cluster.power_limit_mw
    if limit_mw is None:
        return None
    fixed = occupation(problem, plan, without=job)
    limit = np.array([[limit_mw]], dtype=np.int64)
    site = np.zeros(len(fixed.job_start_s), dtype=np.int64)
    return step_table(limit, site, fixed.job_start_s, fixed.job_end_s, fixed.job_power_mw[:, None])


def _least(table: StepTable, rows: int, start: int, end: int) -> Ints:
    """What is free on each row all the way from start to end."""
    inside = (table.time_s < end) & (table.until_s > start)
    least = np.full((rows, table.free.shape[1]), np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(least, table.row[inside], table.free[inside])
    return least


def _pack(problem: Problem, job: int, free: Ints) -> list[int] | None:
    """Nodes for the units of a job; None when they do not fit, or when that is too much to decide."""
    columns = problem.columns
    groups = range(int(columns.group_ptr[job]), int(columns.group_ptr[job + 1]))
    counts = [int(columns.group_count[group]) for group in groups]
    if not is_decidable(counts, len(free)):
        return None
    chosen = nodes_for(free, [columns.group_amount[group] for group in groups], counts)
    return None if chosen is None else [node for nodes in chosen for node in nodes]
