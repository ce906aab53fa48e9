"""Jobs added to a plan that has room for them, each at its earliest start, without moving anything else."""

from __future__ import annotations

import numpy as np

from planner.cp.used_room import Usage, UsedRoom
from planner.domain.columns import Ints
from planner.domain.packing import is_decidable, nodes_for
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem


def insert(problem: Problem, plan: Plan, job: int, release_s: int | None = None) -> Plan | None:
    """The plan with a deferred job at its earliest start from a moment on; None when there is no room today.

    It starts after all that it waits for, and not at all without.
    """
    columns, capacity = problem.columns, problem.nodes.capacity
    held = UsedRoom.by(problem, plan)
    nodes = Usage(len(capacity), held.unit_node, held.unit_start_s, held.unit_end_s, held.unit_amount)
    site = Usage(1, np.zeros_like(held.start_s), held.start_s, held.end_s, held.power_mw[:, None])
    release = int(columns.release_s[job]) if release_s is None else release_s
    for other, is_end in columns.links.before_of(job):
        if not plan.is_placed[other]:
            return None
        release = max(release, int(plan.start_s[other]) + (int(columns.duration_s[other]) if is_end else 0))
    if release >= problem.horizon.length_s:
        return None
    duration, power_mw = int(columns.duration_s[job]), int(columns.power_mw[job])
    soon = held.end_s[(held.end_s > release) & (held.end_s < problem.horizon.length_s)]
    for moment in np.unique(np.append(soon, release)):
        start, end = int(moment), int(moment) + duration
        limit_mw = problem.cluster.power_limit_mw
        if limit_mw is not None and site.most(start, end)[0, 0] + power_mw > limit_mw:
            continue
        found = _pack(problem, job, capacity - nodes.most(start, end))
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


def _pack(problem: Problem, job: int, free: Ints) -> list[int] | None:
    """Nodes for the units of a job; None when they do not fit, or when that is too much to decide."""
    columns = problem.columns
    groups = range(int(columns.group_ptr[job]), int(columns.group_ptr[job + 1]))
    counts = [int(columns.group_count[group]) for group in groups]
    if not is_decidable(counts, len(free)):
        return None
    chosen = nodes_for(free, [columns.group_amount[group] for group in groups], counts)
    return None if chosen is None else [node for nodes in chosen for node in nodes]
