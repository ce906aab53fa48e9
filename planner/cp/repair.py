"""An engine's plan made complete: nodes for starts without any, jobs added where there is room, and no rule broken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planner.accounting.audit import Violation, audit, why_broken
from planner.accounting.settle import settle
from planner.cp.fixed_work import Usage, UsedRoom
from planner.cp.subproblem import empty_plan
from planner.domain.columns import Ints
from planner.domain.job_order import predecessors_first
from planner.domain.plan import DEFERRED, Plan, is_decidable, nodes_for
from planner.domain.problem import Problem
from planner.domain.result import Candidate
from planner.errors import TableError


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


Complete = Callable[[Ints, Ints], Plan]
"""Places the jobs of a sequence one by one, each at its earliest start from a given release [s] on."""

MOST_ROUNDS = 200
"""Jobs that are added to a plan before it is given up."""


def finish(
    problem: Problem, plan: Plan | None, start_s: Ints, complete: Complete | None, name: str, broken: list[str]
) -> Candidate | None:
    """The most profitable clean plan that follows from what an engine found, under a name; None when there is none.

    Tried are the plan as it is with every job added that still fits where the rules ask for it, and, with ``complete``,
    the starts decoded again: in order, from these starts on, deferred jobs last. ``plan`` is None when the engine gave
    starts without nodes. Plans that break a rule which nothing mends are bugs and go to ``broken``.
    """
    repaired = None if plan is None else repair(problem, plan, name, broken)
    if repaired is not None:
        finished = [_settled(problem, repaired, name)]
    elif complete is not None:
        placed = [(complete(*_sequence(problem, start_s, delayed=late)), late) for late in (True, False)]
        finished = [_judge(problem, each, name, broken, delayed=late) for each, late in placed]
    elif plan is None:
        finished = [_judge(problem, _insert_all(problem, start_s), name, broken, delayed=True)]
    else:
        finished = []
    return max((one for one in finished if one is not None), key=lambda one: one.worth_eur, default=None)


def repair(problem: Problem, plan: Plan, name: str, broken: list[str]) -> Plan | None:
    """The plan with jobs added, or moved forward for their deadline, until the audit is content."""
    index = {f"job {job.id}": number for number, job in enumerate(problem.jobs)}
    for _ in range(MOST_ROUNDS):
        violations = audit(problem, plan)
        if not violations:
            return plan
        changed = False
        for violation in violations:
            better = _mend(problem, plan, violation, index)
            if better is not None:
                plan, changed = better, True
        if not changed:
            broken.append(why_broken(f"the engine, {name},", violations))
            return None
    return None


def _mend(problem: Problem, plan: Plan, violation: Violation, index: dict[str, int]) -> Plan | None:
    if violation.rule not in ("defer", "deadline"):
        return None
    job = index[violation.where]
    start = int(plan.start_s[job])
    better = insert(problem, without(problem, plan, job), job)
    return better if better is not None and (start == DEFERRED or better.start_s[job] < start) else None


def _sequence(problem: Problem, start_s: Ints, *, delayed: bool) -> tuple[Ints, Ints]:
    """Jobs in order of their starts, deferred ones by release, and the releases to decode them from.

    Under ``defer: free`` a job that the engine left out stays out, unless its deadline falls on it.
    """
    columns = problem.columns
    placed = start_s != DEFERRED
    urgent = columns.latest_start_s < problem.horizon.length_s
    order = np.lexsort((columns.release_s, np.where(placed, start_s, np.iinfo(np.int64).max)))
    if problem.defer == "free":
        order = order[(placed | urgent)[order]]
    release = np.where(placed, start_s, columns.release_s) if delayed else columns.release_s
    return order.astype(np.int64), release.astype(np.int64)


def _insert_all(problem: Problem, start_s: Ints) -> Plan:
    order, release = _sequence(problem, start_s, delayed=True)
    plan = empty_plan(problem)
    for job in predecessors_first(problem, order):
        plan = insert(problem, plan, int(job), int(release[job])) or plan
    return plan


def _judge(problem: Problem, plan: Plan, name: str, broken: list[str], *, delayed: bool) -> Candidate | None:
    """The candidate of a plan whose jobs were placed again, if it is clean.

    Jobs that were placed from later starts on may leave room or miss a deadline, and no more than that.
    """
    if why := why_broken(f"{name}, placed again,", audit(problem, plan, leaves_room=delayed)):
        broken.append(why)
        return None
    return None if delayed and audit(problem, plan) else _settled(problem, plan, name)


def _settled(problem: Problem, plan: Plan, name: str) -> Candidate | None:
    """The candidate of a plan, if the PUE table knows its power."""
    try:
        return Candidate(plan, settle(problem, plan), name)
    except TableError:
        return None


class Seats:
    """Gives nodes to jobs in order of their starts, each from its start on; jobs that have nodes keep them.

    Where no nodes are free at a start the job waits for them; where there are none today it does not start.
    """

    def __init__(self, problem: Problem, complete: Complete | None) -> None:
        self._problem = problem
        self._complete = complete
        self._order = np.zeros(0, dtype=np.int64)
        self._from_s = problem.columns.release_s.copy()

    def taken(self, plan: Plan, start_s: Ints) -> Plan:
        """The plan with the jobs that have a start and no nodes yet; without those that find none today."""
        new = np.flatnonzero((start_s != DEFERRED) & ~plan.is_placed)
        new = new[np.argsort(start_s[new], kind="stable")]
        if self._complete is None:
            for job in new:
                plan = insert(self._problem, plan, int(job), int(start_s[job])) or plan
            return plan
        self._order = np.concatenate([self._order, new])
        self._from_s[new] = start_s[new]
        return self._complete(self._order, self._from_s)
