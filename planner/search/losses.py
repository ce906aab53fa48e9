"""Jobs that cost more than they earn, left out where the rules allow it (``defer: free``)."""

from __future__ import annotations

import numpy as np

from planner.accounting.settle import settle
from planner.domain.columns import Ints
from planner.domain.ledger import Ledger
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem


def without_losses(problem: Problem, plan: Plan, ledger: Ledger) -> tuple[Plan, Ledger]:
    """Defer the jobs whose line in the ledger is a loss, again and again while the day earns more by it.

    A job whose deadline falls on it today stays: a job that can meet its deadline must. So does one that a job waits
    for which stays.
    """
    urgent = problem.columns.latest_start_s < problem.horizon.length_s
    while True:
        placed = np.flatnonzero(plan.is_placed)
        profit = ledger.jobs.profit_eur[len(problem.running) :]
        losing = _may_go(problem, plan, placed[(profit < 0) & ~urgent[placed]])
        if not len(losing):
            return plan, ledger
        leaner = _without(problem, plan, losing)
        settled = settle(problem, leaner)
        if settled.profit_eur <= ledger.profit_eur:
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


def _without(problem: Problem, plan: Plan, jobs: Ints) -> Plan:
    start_s, node_of_unit = plan.start_s.copy(), plan.node_of_unit.copy()
    start_s[jobs] = DEFERRED
    dropped = np.repeat(start_s == DEFERRED, np.diff(problem.columns.unit_ptr))
    node_of_unit[dropped] = DEFERRED
    return Plan(start_s, node_of_unit)
