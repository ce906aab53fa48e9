"""What the rules of common schedulers would earn on the planned day, to compare a plan with."""

from __future__ import annotations

from planner.domain.candidate import never
from planner.domain.day_summary import Baseline
from planner.domain.problem import Problem
from planner.methods import METHODS, RULES, Params
from planner.units import rounded


def rule_baselines(problem: Problem) -> tuple[Baseline, ...]:
    """Profit, revenue, cost and started jobs of each rule, with every job as long as it asked."""
    found = []
    for name in RULES:
        result = METHODS[name][0](problem, Params(workers=1), never)
        totals = result.ledger.totals
        found.append(
            Baseline(
                name,
                profit_eur=rounded(totals.profit_eur),
                revenue_eur=rounded(totals.revenue_eur),
                energy_cost_eur=rounded(totals.energy_cost_eur),
                started=int(result.plan.is_placed.sum()),
            )
        )
    return tuple(found)
