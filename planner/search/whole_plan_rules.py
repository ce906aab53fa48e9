"""A plan made to keep the rules that look at it as a whole, once jobs were moved or left out.

Where the rules allow it (``defer: free``), jobs that cost more than they earn are left out. What a search changes may
open room: for a job that is deferred (``defer: full`` starts it then), or for one that ends after its deadline although
it could now meet it (it must, whatever the rule of deferral). Both are mended here without moving anything else.
"""

from __future__ import annotations

import numpy as np

from planner.accounting.settle import settle
from planner.domain.columns import Ints
from planner.domain.job_order import predecessors_first, profit_per_kw
from planner.domain.ledger import Ledger
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import Candidate
from planner.machine.node_timelines import copy_timelines
from planner.search.decode import opening_timelines, place_all


def evaluate_decoded(problem: Problem, plan: Plan, name: str) -> Candidate:
    """The candidate of a plan whose jobs were placed one by one: without its losses under ``defer: free``.

    Such a plan keeps every rule; leaving jobs out may let another one meet its deadline.
    """
    ledger = settle(problem, plan)
    if problem.defer == "full":
        return Candidate(plan, ledger, name)
    leaner, ledger = without_losses(problem, plan, ledger)
    kept = leaner if leaner is plan else complete(problem, leaner)
    return Candidate(kept, ledger if kept is leaner else settle(problem, kept), name)


def evaluate_changed(problem: Problem, plan: Plan, name: str) -> Candidate:
    """The candidate of a plan in which jobs were moved or left out: completed first."""
    kept = complete(problem, plan)
    return Candidate(kept, settle(problem, kept), name)


def complete(problem: Problem, plan: Plan) -> Plan:
    """Start what has room, and let jobs meet deadlines that they can now meet; the plan itself when all is well.

    Cost: one placement of the day, and one more for each job that misses its deadline.
    """
    while True:
        if problem.defer == "full" and not np.all(plan.is_placed):
            plan = _start_deferred(problem, plan)
        sooner = next((found for job in _missed(problem, plan) if (found := _in_time(problem, plan, job))), None)
        if sooner is None:
            return plan
        plan = sooner


def _start_deferred(problem: Problem, plan: Plan) -> Plan:
    """Start every deferred job that has room: the tightest deadlines first, then the best earners for their power."""
    deferred = np.flatnonzero(~plan.is_placed)
    urgent_first = np.minimum(problem.columns.latest_start_s, problem.starts_end_s)[deferred]
    last_chance = deferred[np.lexsort((-profit_per_kw(problem, problem.columns)[deferred], urgent_first))]
    fuller = _placed_again(problem, plan, predecessors_first(problem, last_chance))
    return plan if np.array_equal(fuller.start_s, plan.start_s) else fuller


def _missed(problem: Problem, plan: Plan) -> list[int]:
    """Jobs that end after a deadline that they could meet on an empty machine, the tightest first."""
    columns = problem.columns
    start = np.where(plan.is_placed, plan.start_s, problem.starts_end_s)
    missed = np.flatnonzero((start > columns.latest_start_s) & (columns.latest_start_s >= columns.release_s))
    return [int(job) for job in missed[np.argsort(columns.latest_start_s[missed], kind="stable")]]


def _in_time(problem: Problem, plan: Plan, job: int) -> Plan | None:
    """The plan with a job moved to a start that meets its deadline; None when there is no room for that."""
    start_s, node_of_unit = plan.start_s.copy(), plan.node_of_unit.copy()
    start_s[job] = DEFERRED
    node_of_unit[problem.columns.unit_ptr[job] : problem.columns.unit_ptr[job + 1]] = DEFERRED
    moved = _placed_again(problem, Plan(start_s, node_of_unit), np.array([job], dtype=np.int64))
    in_time = DEFERRED < moved.start_s[job] <= problem.columns.latest_start_s[job]
    return moved if in_time else None


def _placed_again(problem: Problem, plan: Plan, then: Ints) -> Plan:
    """The plan on an empty machine, and then more jobs, each at its earliest start."""
    jobs, opening = opening_timelines(problem)
    start_s, node_of_unit = plan.start_s.copy(), plan.node_of_unit.copy()
    order = np.concatenate([np.flatnonzero(plan.is_placed), then])
    place_all(copy_timelines(opening), jobs, order, start_s, node_of_unit)
    return Plan(start_s, node_of_unit)


def without_losses(problem: Problem, plan: Plan, ledger: Ledger) -> tuple[Plan, Ledger]:
    """Defer the jobs whose line in the ledger is a loss, again and again while the day earns more by it.

    A job whose deadline falls on it today stays: a job that can meet its deadline must. So does one that a job waits
    for which stays.
    """
    urgent = problem.columns.latest_start_s < problem.starts_end_s
    while True:
        placed = np.flatnonzero(plan.is_placed)
        profit = ledger.jobs.profit_eur[len(problem.running) :]
        losing = _may_go(problem, plan, placed[(profit < 0) & ~urgent[placed]])
        if not len(losing):
            return plan, ledger
        leaner = without(problem, plan, losing)
        settled = settle(problem, leaner)
        if settled.worth_eur <= ledger.worth_eur:
            return plan, ledger
        plan, ledger = leaner, settled


def _may_go(problem: Problem, plan: Plan, losing: Ints) -> Ints:
    """Those of the jobs for which no other waits that is placed and stays."""
    links = problem.columns.links
    if not len(links):
        return losing
    going: set[int] = set()
    for job in links.sorted(losing)[::-1].tolist():
        if all(other in going or not plan.is_placed[other] for other, _ in links.followers_of(job)):
            going.add(job)
    return np.array(sorted(going), dtype=np.int64)


def may_go_alone(problem: Problem, plan: Plan, placed: Ints) -> Ints:
    """Those of the placed jobs that may wait: their deadline is not today, and no placed job waits for them."""
    waits = placed[problem.columns.latest_start_s[placed] >= problem.starts_end_s]
    return np.array([job for job in waits if len(_may_go(problem, plan, np.array([job])))], dtype=np.int64)


def without(problem: Problem, plan: Plan, jobs: Ints) -> Plan:
    """The plan with some of its jobs deferred."""
    start_s, node_of_unit = plan.start_s.copy(), plan.node_of_unit.copy()
    start_s[jobs] = DEFERRED
    dropped = np.repeat(start_s == DEFERRED, np.diff(problem.columns.unit_ptr))
    node_of_unit[dropped] = DEFERRED
    return Plan(start_s, node_of_unit)
