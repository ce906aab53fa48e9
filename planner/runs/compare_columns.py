"""Columns of compared runs: a row per day from its summary, the sums of a run, and what it saves against another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.units import rounded

Row = dict[str, Any]
Sums = Mapping[str, float]

TOTALS = (
    "profit_eur",
    "revenue_eur",
    "energy_cost_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "it_kwh",
    "cooling_kwh",
    "bought_kwh",
    "solar_kwh",
    "fed_kwh",
    "curtailed_kwh",
    "discharged_kwh",
    "fees_eur",
    "feed_in_eur",
    "battery_eur",
    "asleep_h",
    "carbon_kg",
    "core_hours",
)
"""Columns that are taken from the totals of a summary, and add up over days."""

JOBS = ("started", "finished", "rejected", "missed_deadlines")
"""Counts that add up over days."""

STANDING = ("running", "deferred")
"""Counts that stand at the end of a day."""

SAVINGS = ("saved_eur", "saved_percent", "saved_volume_eur", "saved_energy_cost_eur", "saved_kwh", "saved_carbon_kg")
"""What a run saves against EASY of the same scenario; volume: what of it is other work within the days."""


def day_rows(names: Mapping[str, str], summaries: Sequence[DaySummary]) -> list[Row]:
    """One row per day: ``names`` such as scenario and method, then the figures of its summary."""
    rows = []
    for summary in summaries:
        rows.append(
            {**names, "day": summary.day.isoformat()}
            | {name: getattr(summary.totals, name) for name in TOTALS}
            | {"pue": summary.totals.pue, "utilisation_fraction": summary.utilisation_fraction}
            | {name: getattr(summary.jobs, name) for name in (*JOBS, *STANDING)}
            | {"bound_eur": summary.profit_bound_eur, "gap_fraction": summary.profit_gap_fraction}
            | {"status": summary.status}
        )
    return rows


def run_row(names: Mapping[str, str], summaries: Sequence[DaySummary]) -> Row:
    """The sums of a run; its makespan is from the start of its first day to the end of its last job."""
    horizons = [summary.horizon for summary in summaries]
    last_end_unix = max(h.start_unix + s.last_end_s for h, s in zip(horizons, summaries, strict=True))
    return sum_row(names, day_rows(names, summaries), horizons, last_end_unix)


def sum_row(names: Mapping[str, str], rows: Sequence[Row], horizons: Sequence[Horizon], last_end_unix: int) -> Row:
    """The sums of the rows of days."""
    sums = {name: round(math.fsum(row[name] for row in rows), 6) for name in TOTALS}
    hours = math.fsum(horizon.length_s for horizon in horizons)
    used = math.fsum(row["utilisation_fraction"] * h.length_s for row, h in zip(rows, horizons, strict=True))
    bounds = [row["bound_eur"] for row in rows]
    return (
        {**names, "days": len(rows)}
        | sums
        | {
            "kwh": round(sums["it_kwh"] + sums["cooling_kwh"], 6),
            "pue": round(1 + sums["cooling_kwh"] / sums["it_kwh"], 6) if sums["it_kwh"] else 1.0,
            "utilisation_fraction": round(used / hours, 6),
            "makespan_h": round((last_end_unix - horizons[0].start_unix) / 3600, 3),
        }
        | {name: sum(row[name] for row in rows) for name in JOBS}
        | {name: rows[-1][name] for name in STANDING}
        | {"bound_eur": round(math.fsum(bounds), 6) if all(bound is not None for bound in bounds) else None}
        | {"days_without_plan": sum(row["status"] == "nothing" for row in rows)}
    )


def cents(value: float) -> float:
    return round(value, 2) + 0.0


def volume_eur(base: Sums, other: Sums) -> float:
    """What more or less work within the days brings, at what core-hours earn in each and cost in the base."""
    hours = base["core_hours"]
    each = (base["revenue_eur"] - base["profit_eur"]) / hours if hours else 0.0
    return cents(other["revenue_eur"] - base["revenue_eur"] - each * (other["core_hours"] - hours))


def with_saving(row: Row, easy: Row | None) -> Row:
    """A run with what it saves against EASY: positive is better; None where there is no EASY to compare with."""
    if easy is None:
        return row | dict.fromkeys(SAVINGS)
    more = row["profit_eur"] - easy["profit_eur"]
    saved = {
        "saved_eur": more,
        "saved_percent": 100 * more / abs(easy["profit_eur"]) if easy["profit_eur"] else None,
        "saved_volume_eur": volume_eur(easy, row),
        **{f"saved_{name}": easy[name] - row[name] for name in ("energy_cost_eur", "kwh", "carbon_kg")},
    }
    return row | {name: None if value is None else rounded(value) for name, value in saved.items()}


def with_difference(row: Row, base: Row | None) -> Row:
    """A run with what it earns more than the baseline, in money and in percent of the baseline's profit."""
    if base is None:
        return row | {"profit_difference_eur": None, "profit_difference_percent": None}
    more = row["profit_eur"] - base["profit_eur"]
    percent = 100 * more / abs(base["profit_eur"]) if base["profit_eur"] else None
    return row | {
        "profit_difference_eur": rounded(more),
        "profit_difference_percent": None if percent is None else rounded(percent),
    }
