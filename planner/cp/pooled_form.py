"""The pooled form of the model counts nodes per class.

Where no two units can share a node, the units in a class are intervals on equal machines. Intervals of which at most m
overlap at any time can be given m machines in order of their starts, each to any machine that is free then: if none
were free, m others would overlap that start. Started work goes first of all, on machines of its own. So a pooled
solution always has nodes, and any plan is a pooled solution: the form is exact. It is not when outages are ahead.
"""

from __future__ import annotations

import weakref

import numpy as np
import numpy.typing as npt

from planner.domain.cluster import CORES
from planner.domain.columns import Ints
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem

_WHOLE: weakref.WeakKeyDictionary[Problem, npt.NDArray[np.bool_]] = weakref.WeakKeyDictionary()


def whole_node_class(problem: Problem, node_class: int) -> bool:
    """Whether no two units can share a node of a class: all ask more than half of it in some resource."""
    if problem not in _WHOLE:
        _WHOLE[problem] = np.array([_is_whole(problem, k) for k in range(len(problem.cluster.classes))], dtype=bool)
    return bool(_WHOLE[problem][node_class])


def is_exact(problem: Problem) -> bool:
    """Whether the pooled form decides the same day: no sharing of nodes, one class for every unit, no outages."""
    if problem.outages:
        return False
    capacities = problem.class_capacity
    amounts = _all_amounts(problem)
    fits = np.all(amounts[:, None, :] <= capacities[None, :, :], axis=2)
    if np.any(fits.sum(axis=1) > 1):
        return False
    return all(whole_node_class(problem, int(k)) for k in np.flatnonzero(fits.any(axis=0)))


def assign_nodes(problem: Problem, start_s: Ints, class_of_group: dict[int, int]) -> Plan:
    """Nodes for the starts of an exact pooled solution, in order of start, the lowest free nodes first."""
    columns, first_nodes = problem.columns, problem.cluster.first_nodes
    free_from = np.zeros(problem.cluster.node_count, dtype=np.int64)
    for work in problem.running:
        free_from[list(work.nodes)] = np.maximum(free_from[list(work.nodes)], work.end_s)
    node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    placed = np.flatnonzero(start_s != DEFERRED)
    for job in placed[np.argsort(start_s[placed], kind="stable")]:
        for unit in range(int(columns.unit_ptr[job]), int(columns.unit_ptr[job + 1])):
            place = class_of_group[int(columns.unit_group[unit])]
            nodes = np.arange(first_nodes[place], first_nodes[place + 1])
            node = int(nodes[np.argmax(free_from[nodes] <= start_s[job])])
            free_from[node] = start_s[job] + columns.duration_s[job]
            node_of_unit[unit] = node
    return Plan(start_s, node_of_unit)


def _is_whole(problem: Problem, node_class: int) -> bool:
    capacity = problem.class_capacity[node_class]
    amounts = _all_amounts(problem)
    here = amounts[np.all(amounts <= capacity, axis=1)]
    return bool(np.any(2 * here.min(axis=0) > capacity)) if len(here) else True


def _all_amounts(problem: Problem) -> Ints:
    both: Ints = np.concatenate([problem.running_columns.group_amount, problem.columns.group_amount])
    return both


def busy_share(problem: Problem, core_equivalents: float, node_class: int) -> float:
    """How much of a node counts as busy while a unit runs on it: all of it where no two units can share a node."""
    if whole_node_class(problem, node_class):
        return 1.0
    return core_equivalents / problem.cluster.classes[node_class].capacity[CORES]
