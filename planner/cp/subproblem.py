"""What an engine is to decide: which jobs, on which nodes, in which form, and what stays as it is.

The pooled form of the model counts nodes per class. Where no two units can share a node, the units in a class are
intervals on equal machines. Intervals of which at most m overlap at any time can be given m machines in order of their
starts, each to any machine that is free then: if none were free, m others would overlap that start. Started work goes
first of all, on machines of its own. So a pooled solution always has nodes, and any plan is a pooled solution: the form
is exact. It is not when outages are ahead.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from planner.domain.cluster import CORES
from planner.domain.columns import Ints
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem

NODES = 8
"""Nodes among which the single-unit jobs of a neighbourhood may move, besides their own."""

_WHOLE: weakref.WeakKeyDictionary[Problem, npt.NDArray[np.bool_]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class Subproblem:
    """The part of a day that an engine decides.

    Attributes
    ----------
    jobs
        Indices of the jobs to decide; every other job stays where ``around`` has it.
    around
        The plan of the other jobs, and the nodes of ``kept`` jobs; None when no other job is placed.
    kept
        Jobs among ``jobs`` whose nodes stay those of ``around``: only their start is decided.
    nodes
        Nodes that the other jobs may take; None for all.
    pooled
        Count what is in use per node class instead of per node; nodes are assigned afterwards.
    soft_deadlines
        Deadlines are worth more than any profit instead of being rules: for days on which they cannot all be met.
    at_least_eur
        The profit that a solution must reach: that of the plan which the engine starts from.
    window_s
        The stretch of the day in which the jobs may start; None for the whole day.
    mean_cost
        Energy costs the same whatever the machine draws: its price with the mean cooling of the time. An objective
        that is linear, for models of many jobs.
    """

    jobs: tuple[int, ...]
    around: Plan | None = None
    kept: frozenset[int] = frozenset()
    nodes: tuple[int, ...] | None = None
    pooled: bool = False
    soft_deadlines: bool = False
    at_least_eur: float | None = None
    window_s: tuple[int, int] | None = None
    mean_cost: bool = False
    also_allowed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Nodes that single jobs may take besides ``nodes``, such as the one that they are on."""

    @classmethod
    def whole_day(cls, problem: Problem, *, pooled: bool = False, soft_deadlines: bool = False) -> Subproblem:
        """Every job that may start today, from nothing."""
        return cls(tuple(may_start(problem).tolist()), pooled=pooled, soft_deadlines=soft_deadlines)

    def starts_of(self, problem: Problem, job: int) -> tuple[int, int]:
        """The first and the last start that the rules allow: within the day, and in time for a deadline to be met."""
        columns, day = problem.columns, problem.starts_end_s
        begin_s, end_s = self.window_s or (0, day)
        last = min(end_s, day) - 1
        if must_start(problem, job):
            last = min(last, int(columns.latest_start_s[job]))
        return max(begin_s, int(columns.release_s[job])), last

    def counted_duration(self, problem: Problem, job: int) -> int:
        """Requested time, cut so that the earliest start ends with the day; what lies beyond changes nothing today."""
        first, _ = self.starts_of(problem, job)
        return int(min(problem.columns.duration_s[job], problem.horizon.length_s - first))

    def others(self, problem: Problem) -> Plan:
        """The plan without the jobs to decide."""
        columns = problem.columns
        if self.around is None:
            return empty_plan(problem)
        start_s, node_of_unit = self.around.start_s.copy(), self.around.node_of_unit.copy()
        start_s[list(self.jobs)] = DEFERRED
        node_of_unit[np.repeat(start_s == DEFERRED, np.diff(columns.unit_ptr))] = DEFERRED
        return Plan(start_s, node_of_unit)

    def kept_nodes(self, problem: Problem, job: int) -> Ints | None:
        """Nodes of the units of a job whose nodes are kept; None when they are to be decided."""
        if job not in self.kept:
            return None
        assert self.around is not None, "kept nodes need the plan that has them"
        pointers = problem.columns.unit_ptr
        return self.around.node_of_unit[pointers[job] : pointers[job + 1]]


def empty_plan(problem: Problem) -> Plan:
    """The plan that defers everything."""
    units = int(problem.columns.unit_ptr[-1])
    return Plan(np.full(len(problem.jobs), DEFERRED, dtype=np.int64), np.full(units, DEFERRED, dtype=np.int64))


def may_start(problem: Problem) -> Ints:
    """The jobs that can start today by what they wait for."""
    return np.flatnonzero(problem.columns.release_s < problem.horizon.length_s)


def must_start(problem: Problem, job: int) -> bool:
    """Whether a job has a deadline that falls on it today and that it can meet."""
    columns = problem.columns
    return bool(columns.release_s[job] <= columns.latest_start_s[job] < problem.horizon.length_s)


def subproblem_around(problem: Problem, plan: Plan, jobs: Ints, rng: np.random.Generator | None) -> Subproblem:
    """The subproblem of RelaxationSearch: multi-unit jobs keep their nodes, single-unit jobs may move.

    With ``rng`` the nodes to move to are drawn; without, they are all nodes. A multi-unit job that is deferred has no
    nodes to keep and stays deferred; an overdue one that is placed stays where it is.
    """
    columns = problem.columns
    units = np.diff(columns.unit_ptr)
    jobs = jobs[(units[jobs] == 1) | plan.is_placed[jobs]]
    jobs = jobs[np.isin(jobs, may_start(problem))]
    jobs = jobs[~(problem.is_overdue & plan.is_placed)[jobs]]
    kept = frozenset(int(job) for job in jobs if units[job] > 1)
    singles = [int(job) for job in jobs if units[job] == 1]
    nodes = None
    if rng is not None and problem.cluster.node_count > 2 * NODES:
        homes = np.unique(plan.node_of_unit[columns.unit_ptr[[job for job in singles if plan.is_placed[job]]]])
        pool = homes if len(homes) >= NODES else np.arange(problem.cluster.node_count)
        nodes = tuple(sorted(int(node) for node in rng.choice(pool, NODES, replace=False)))
    own = {job: (int(plan.node_of_unit[columns.unit_ptr[job]]),) for job in singles if plan.is_placed[job]}
    return Subproblem(tuple(int(job) for job in np.sort(jobs)), plan, kept, nodes, also_allowed=own)


def whole_node_class(problem: Problem, node_class: int) -> bool:
    """Whether no two units can share a node of a class: all ask more than half of it in some resource."""
    if problem not in _WHOLE:
        _WHOLE[problem] = np.array([_is_whole(problem, k) for k in range(len(problem.cluster.classes))], dtype=bool)
    return bool(_WHOLE[problem][node_class])


def is_exact_when_pooled(problem: Problem) -> bool:
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
