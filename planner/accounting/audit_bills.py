"""The audit of bills: every job pays for its hours by what it asked, whatever nodes it was given.

A unit pays the price of the cheapest class that its job may use and that has room for it. All is worked out again from
jobs, classes and prices, job by job, with no code shared with the ledger or any search.
"""

from __future__ import annotations

import math

import numpy as np

from planner.accounting.audit import Violation, broken_rules
from planner.domain.cluster import NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.ledger import Ledger
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.errors import AuditError
from planner.units import MILLI, SECONDS_PER_HOUR

CENTS = 1e-9
"""The part of a bill, and the money, by which a bill may differ from what is worked out here."""


def require_bills(problem: Problem, ledger: Ledger) -> None:
    """Raise AuditError with the bills of a ledger that are not what the jobs asked for, if there are any."""
    if wrong := wrong_bills(problem, ledger):
        raise AuditError(f"the bills break {broken_rules(wrong)}")


def wrong_bills(problem: Problem, ledger: Ledger) -> list[Violation]:
    """The jobs whose bill is not what they asked for."""
    jobs = {job.id: job for job in (*problem.jobs, *(work.job for work in problem.running))}
    prices: dict[tuple[tuple[UnitGroup, ...], tuple[str, ...]], float] = {}
    lines, wrong = ledger.jobs, []
    edges = [0, *(each.end_s for each in problem.segments)]
    counted_s = np.cumsum([0.0, *(each.length_s * each.counts for each in problem.segments)])
    hours = (np.interp(lines.end_s, edges, counted_s) - np.interp(lines.start_s, edges, counted_s)) / SECONDS_PER_HOUR
    for job_id, ran_h, billed in zip(lines.job_ids, hours.tolist(), lines.revenue_eur.tolist(), strict=True):
        job = jobs[job_id]
        asked = (job.units, job.classes)
        if asked not in prices:
            prices[asked] = _eur_per_hour(problem, job)
        owed = prices[asked] * _factor(problem.rates, job) * ran_h
        if not math.isclose(billed, owed, rel_tol=CENTS, abs_tol=CENTS):
            wrong.append(Violation("bill", f"job {job_id}", f"pays {billed:.6f}, and by what it asked {owed:.6f}"))
    return wrong


def _factor(rates: Rates, job: Job) -> float:
    return job.revenue_weight * rates.account_factors.get(job.account, 1.0) * rates.qos_factors.get(job.qos, 1.0)


def _eur_per_hour(problem: Problem, job: Job) -> float:
    """What a job pays for an hour: each unit at its cheapest class."""
    total = 0.0
    for group in job.units:
        room = [each for each in problem.cluster.classes if _has_room(each, group)]
        allowed = [each for each in room if not job.classes or each.name in job.classes]
        total += group.count * min((_on(problem.rates, each, group) for each in allowed or room), default=0.0)
    return total


def _thousandths(group: UnitGroup) -> dict[str, int]:
    """What a unit asks for, in thousandths rounded up; whoever asks for something asks for one."""
    return {name: max(1, math.ceil(round(amount * MILLI, 3))) for name, amount in group.amounts}


def _has_room(node_class: NodeClass, group: UnitGroup) -> bool:
    return all(
        asked <= math.floor(round(node_class.capacity.get(name, 0.0) * MILLI, 3))
        for name, asked in _thousandths(group).items()
    )


def _on(rates: Rates, node_class: NodeClass, group: UnitGroup) -> float:
    """What an hour of a unit costs at the prices of a class."""
    price = rates.class_prices.get(node_class.name, rates)
    asked = _thousandths(group)
    share = max(amount / math.floor(round(node_class.capacity[name] * MILLI, 3)) for name, amount in asked.items())
    on_top = sum(asked.get(name, 0) / MILLI * eur for name, eur in price.eur_per_hour.items())
    return share * node_class.capacity["cores"] * price.eur_per_core_hour + on_top
