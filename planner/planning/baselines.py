"""What the rules of schedulers in use would earn on the day that was planned, for a plan to be held against."""

from __future__ import annotations

from typing import Any

from planner.domain.candidate import never
from planner.domain.problem import Problem
from planner.methods import METHODS, RULES, Params


def rule_baselines(problem: Problem) -> list[dict[str, Any]]:
    """Profit, revenue, cost and started jobs of each rule, as plain data, with every job as long as it asked."""
    found = []
    for name in RULES:
        result = METHODS[name][0](problem, Params(workers=1), never)
        totals = result.ledger.totals
        found.append(
            {
                "name": name,
                "profit_eur": round(totals.profit_eur, 6) + 0.0,
                "revenue_eur": round(totals.revenue_eur, 6) + 0.0,
                "energy_cost_eur": round(totals.energy_cost_eur, 6) + 0.0,
                "started": int(result.plan.is_placed.sum()),
            }
        )
    return found
