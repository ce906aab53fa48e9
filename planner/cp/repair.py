"""From what an engine found to a plan that keeps every rule, chosen by the ledger."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planner.accounting.audit import Violation, audit
from planner.accounting.broken import why_broken
from planner.accounting.settle import settle
from planner.cp.insertion import insert, without
from planner.cp.subproblem import empty_plan
from planner.domain.candidate import Candidate
from planner.domain.columns import Ints
from planner.domain.job_order import predecessors_first
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.errors import TableError

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
    return max((one for one in finished if one is not None), key=lambda one: one.profit_eur, default=None)


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
