"""The curves of figures 1 to 8: profit since the first day, and what it is ahead of others, day by day."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from planner.runs.fanout import Outcome
from planner.runs.figures import Row
from planner.studies.curie23.cells import DEFAULT_SEARCH, RUNS, Cell
from planner.studies.curie23.rows import percent_over

Sums = list[float]
"""Profit since the first day at the end of each day [EUR]."""


def curve_rows(found: Mapping[Cell, Outcome], days: int) -> list[Row]:
    """One row per run and day; a run whose queue is empty stays at what it has earned for those that go on."""
    earned = {cell: _sums(summaries) for cell, summaries in found.items()}
    rows = []
    for cell, summaries in found.items():
        group = {other.run: sums for other, sums in earned.items() if other.group == cell.group}
        rule, base = best_rule(group, days), group.get(DEFAULT_SEARCH)
        for number, summary in enumerate(summaries, start=1):
            total = earned[cell][number - 1]
            rows.append(
                {
                    "calibration": cell.calibration,
                    "scenario": cell.scenario,
                    "run": cell.run,
                    "label": RUNS[cell.run].label,
                    "kind": "rule" if RUNS[cell.run].is_rule else "search",
                    "number": number,
                    "day": summary.day.isoformat(),
                    "profit_eur": summary.totals.profit_eur,
                    "cumulative_profit_eur": round(total, 6),
                    "over_best_rule_eur": None if rule is None else round(total - _at(group[rule], number), 6),
                    "over_cp_eur": None if base is None else round(total - _at(base, number), 6),
                    "over_cp_percent": None if base is None else percent_over(total, _at(base, number)),
                    "utilisation_fraction": summary.utilisation_fraction,
                    "waiting": summary.jobs.deferred,
                    "search_s": summary.solve_s,
                    "found_s": summary.found_s,
                }
            )
    return rows


def best_rule(earned: Mapping[str, Sums], days: int) -> str | None:
    """The rule that has earned the most by the last day of the study; None without rules."""
    rules = [name for name in earned if RUNS[name].is_rule]
    return max(rules, key=lambda name: _at(earned[name], days), default=None)


def _sums(summaries: Outcome) -> Sums:
    return list(accumulate(summary.totals.profit_eur for summary in summaries))


def _at(sums: Sums, number: int) -> float:
    """What had been earned by the end of a day, also of one after the last."""
    return sums[min(number, len(sums)) - 1]
