"""The rows of the study's table, one per cell, with what each saves against EASY and how much the bound allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.runs.figures import Row
from planner.studies.operation.cells import Cell, SiteGroup, baseline_of

Told = Mapping[str, Any]
"""What a settled cell or a bound says."""

MONEY_DIGITS = 6


def rows_of(
    cells: Sequence[Cell],
    settled: Mapping[Cell, Told],
    bounds: Mapping[tuple[SiteGroup, int], Told],
) -> list[Row]:
    """The table; ``bounds`` are of EASY's starts and so many hours more."""
    return [
        _row(
            cell,
            settled[cell],
            settled[baseline_of(cell.group)],
            None if cell.max_delay_h is None else bounds.get((cell.group, cell.max_delay_h)),
        )
        for cell in cells
    ]


def _row(cell: Cell, own: Told, easy: Told, bound: Told | None) -> Row:
    totals, base, metrics = own["totals"], easy["totals"], own["metrics"]
    saved_eur = totals["profit_eur"] - base["profit_eur"]
    at_last, base_at_last = own["submitted_totals"]["profit_eur"], easy["submitted_totals"]["profit_eur"]
    return {
        "site": cell.group.site,
        "tariff": cell.group.tariff,
        "load": cell.group.load,
        "load_fraction": round(own["load"], 4),
        "policy": cell.policy,
        "estimate": cell.estimate,
        "max_delay_h": cell.max_delay_h,
        "jobs": own["jobs"],
        "days": own["days"],
        "profit_eur": _money(totals["profit_eur"]),
        "revenue_eur": _money(totals["revenue_eur"]),
        "energy_cost_eur": _money(totals["energy_cost_eur"]),
        "it_kwh": round(totals["it_kwh"], 3),
        "cooling_kwh": round(totals["cooling_kwh"], 3),
        "carbon_kg": round(totals["carbon_kg"], 3) or None,
        "saved_eur": _money(saved_eur),
        "saved_percent": _percent(saved_eur, base["energy_cost_eur"]),
        "mean_wait_s": round(metrics["wait"], 1),
        "added_wait_s": round(metrics["wait"] - easy["metrics"]["wait"], 1),
        "wait95_s": round(metrics["wait95"], 1),
        "longest_wait_s": metrics["max-wait"],
        "bsld": round(metrics["bsld"], 4),
        "awf_s": round(metrics["awf"], 1),
        "p2sf_s": round(metrics["p2sf"], 1),
        "utilisation_fraction": round(own["utilisation_fraction"], 6),
        "held_jobs": metrics["held"],
        "longest_hold_s": metrics["max-hold"],
        "broken_promises": metrics["broken"],
        "bound_eur": None if bound is None else _money(bound["profit_eur"]),
        "bound_saves_eur": None if bound is None else _money(bound["profit_eur"] - base["profit_eur"]),
        "bound_slack_eur": None if bound is None else bound.get("slack_eur"),
        "share_of_bound": _share(saved_eur, bound, base),
        "submitted_days_profit_eur": _money(at_last),
        "submitted_days_over_easy_eur": _money(at_last - base_at_last),
        "submitted_days_over_easy_percent": _percent(at_last - base_at_last, base_at_last),
        "profit_by_day_eur": ";".join(f"{value:.2f}" for value in own["profit_by_day_eur"]),
        "cpu_s": round(own["cpu_s"], 3),
    }


def _share(saved_eur: float, bound: Told | None, base: Mapping[str, float]) -> float | None:
    """What was saved as a part of what the bound allows over EASY; None where it allows nothing."""
    allowed = 0.0 if bound is None else bound["profit_eur"] - base["profit_eur"]
    return round(saved_eur / allowed, 4) if allowed > 0 else None


def _money(value: float) -> float:
    return round(value, MONEY_DIGITS)


def _percent(value: float, of: float) -> float | None:
    return round(100 * value / of, 4) if of else None
