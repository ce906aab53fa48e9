"""The summary of a day: the numbers of ``summary.json`` and the short text on the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from planner.pipeline.day import PlannedDay
from planner.units import SECONDS_PER_HOUR, clock


def summarise(planned: PlannedDay) -> dict[str, Any]:
    """Totals, jobs, method and trials of a planned day, as plain data."""
    day, result = planned.day, planned.result
    problem, totals = day.problem, result.ledger.totals
    kinds = [why.kind for _, why in planned.deferrals]
    core_hours = problem.cluster.total("cores") * problem.horizon.length_s / SECONDS_PER_HOUR
    missed = _missed_deadlines(planned)
    return {
        "scenario": day.scenario.name,
        "day": problem.horizon.day.isoformat(),
        "zone": problem.horizon.zone,
        "currency": day.scenario.currency,
        "method": result.method,
        "status": result.status,
        "solve_s": round(result.solve_s, 3),
        "best_trial": result.best_trial,
        "totals": {name: round(value, 6) for name, value in totals.as_dict().items()},
        "peak_kw": round(result.ledger.peak_kw, 6),
        "site_cost_eur": round(result.ledger.site_cost_eur, 6),
        "utilisation_fraction": round(totals.core_hours / core_hours, 6),
        "jobs": {
            "known": len(problem.jobs) + len(day.rejected),
            "started": int(result.plan.is_placed.sum()),
            "carried_in": len(problem.running),
            "deferred": kinds.count("deferred"),
            "rejected": kinds.count("rejected"),
            "missed_deadlines": missed,
        },
        "trials": [
            {"name": trial.name, "profit_eur": round(trial.profit_eur, 6), "started": trial.started}
            for trial in result.trials
        ],
        "segments": len(problem.segments),
        "inputs": [intake.as_dict() for intake in day.intakes],
    }


def summary_text(summary: dict[str, Any], folder: str) -> str:
    """The summary in a few lines for people."""
    totals, jobs, money = summary["totals"], summary["jobs"], summary["currency"]
    other = totals["carbon_cost_eur"] + totals["demand_cost_eur"]
    lines = [
        f"{summary['day']}  {summary['scenario']}  ({summary['zone']})",
        "",
        f"  profit          {totals['profit_eur']:>14,.2f} {money}",
        f"  revenue         {totals['revenue_eur']:>14,.2f} {money}   {totals['core_hours']:,.0f} core-hours",
        f"  IT energy       {totals['it_cost_eur']:>14,.2f} {money}   {totals['it_kwh']:,.1f} kWh",
        f"  cooling energy  {totals['cooling_cost_eur']:>14,.2f} {money}   {totals['cooling_kwh']:,.1f} kWh,"
        f" PUE {totals['pue']:.3f}",
    ]
    if other:
        lines.append(f"  carbon, demand  {other:>14,.2f} {money}   peak {summary['peak_kw']:,.1f} kW")
    lines += [
        f"  utilisation     {100 * summary['utilisation_fraction']:>14.1f} %",
        f"  jobs            {jobs['started']:>14,} started   {_rest(jobs)}",
        f"  method          {summary['method']:>14}     best: {summary['best_trial']}"
        f" of {len(summary['trials'])} orderings, {clock(summary['solve_s'])}",
        "",
        f"  {folder}",
    ]
    return "\n".join(lines)


def _rest(jobs: dict[str, int]) -> str:
    parts = [f"{jobs['deferred']:,} deferred"]
    parts += [
        f"{jobs[key]:,} {text}"
        for key, text in [
            ("rejected", "rejected"),
            ("carried_in", "carried in"),
            ("missed_deadlines", "missed deadlines"),
        ]
        if jobs[key]
    ]
    return ", ".join(parts)


def _missed_deadlines(planned: PlannedDay) -> int:
    problem, plan = planned.day.problem, planned.result.plan
    start = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    return int((start > problem.columns.latest_start_s).sum())
