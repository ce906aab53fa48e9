"""The rows of the study: one per run, with what it earned, how it was searched for, and how it compares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner.domain.day_summary import DaySummary
from planner.runs.fanout import Outcome
from planner.runs.figures import Row, run_row
from planner.search.orderings import ORDERINGS
from planner.studies.curie23.cells import DEFAULT_SEARCH, RUNS, Cell, Group

"""What the name of a trial says where the engine had no plan when its time was over, so that another stands in."""


def days_without_solution(summaries: Sequence[DaySummary]) -> int:
    """On how many days the engine found no plan by itself."""
    return sum(not summary.has_plan for summary in summaries)


def days_improved(summaries: Sequence[DaySummary]) -> int | None:
    """On how many days a search found more than its seed, the best of the orderings; None where it has no seed."""
    if not any(trial.name in ORDERINGS for summary in summaries for trial in summary.trials):
        return None
    return sum(summary.best_trial not in ORDERINGS for summary in summaries if summary.jobs.started)


def run_rows(
    found: Mapping[Cell, Outcome], days: int, run_bounds: Mapping[Group, float | None] | None = None
) -> list[Row]:
    """One row per run: its profit at the end of the days of the study, the whole until its queue is empty, and how
    it compares with the best rule and with the engine's default search of the same group."""
    bounds = run_bounds or {}
    rows = [_row(cell, summaries, days, bounds.get(cell.group)) for cell, summaries in found.items()]
    for group in groups_of(rows):
        rule, base = best_of(group, "rule"), run_of(group, DEFAULT_SEARCH)
        for row in group:
            row.update(_compared(row, rule, base, days))
    return rows


def groups_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each calibration and scenario."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["calibration"], row["scenario"]), []).append(row)
    return list(groups.values())


def best_of(rows: Sequence[Row], kind: str) -> Row | None:
    """The rule, or the search, that has earned the most by the last day of the study; the first of equals."""
    return max((row for row in rows if row["kind"] == kind), key=lambda row: row["profit_eur"], default=None)


def run_of(rows: Sequence[Row], name: str) -> Row | None:
    """The row of a run."""
    return next((row for row in rows if row["run"] == name), None)


def percent_over(value: float, base: float) -> float | None:
    """How much more a value is than another [%]; None where that says nothing."""
    return round(100 * (value / base - 1), 3) if base > 0 else None


def _row(cell: Cell, summaries: Outcome, days: int, run_bound_eur: float | None) -> Row:
    run, first = RUNS[cell.run], summaries[:days]
    study, whole = run_row({}, first), run_row({}, summaries)
    is_emptied = not whole["running"] and not whole["deferred"]
    found_s = [summary.found_s for summary in first if summary.found_s is not None]
    return {
        "calibration": cell.calibration,
        "scenario": cell.scenario,
        "run": run.name,
        "label": run.label,
        "method": run.method,
        "kind": "rule" if run.is_rule else "search",
        "profit_eur": study["profit_eur"],
        "bound_eur": study["bound_eur"],
        "run_bound_eur": run_bound_eur,
        "utilisation_fraction": study["utilisation_fraction"],
        "waiting": study["deferred"],
        "emptied": "yes" if is_emptied else "no",
        "makespan_days": round(whole["makespan_h"] / 24, 3) if is_emptied else None,
        "profit_in_the_end_eur": whole["profit_eur"],
        "pue": whole["pue"],
        "jobs": whole["finished"],
        "search_s": round(math.fsum(summary.solve_s for summary in first), 3),
        "search_s_per_day": round(math.fsum(summary.solve_s for summary in first) / len(first), 3),
        "found_s_per_day": round(math.fsum(found_s) / len(found_s), 3) if found_s else None,
        "days_improved": days_improved(summaries) if run.method != "multisearch" else None,
        "days_without_solution": days_without_solution(summaries),
        "days": len(summaries),
    }


def _compared(row: Row, rule: Row | None, base: Row | None, days: int) -> Row:
    """How a run compares with the best rule and with the engine's default search."""
    over_rule = None if rule is None else row["profit_eur"] - rule["profit_eur"]
    over_base = None if base is None else row["profit_eur"] - base["profit_eur"]
    shorter = None
    if rule is not None and rule["makespan_days"] and row["makespan_days"] is not None:
        shorter = round(100 * (1 - row["makespan_days"] / rule["makespan_days"]), 3)
    return {
        "over_best_rule_percent": None if rule is None else percent_over(row["profit_eur"], rule["profit_eur"]),
        "over_cp_percent": None if base is None else percent_over(row["profit_eur"], base["profit_eur"]),
        "shorter_than_best_rule_percent": shorter,
        "gain_eur_per_day": None if over_rule is None else round(over_rule / days, 6),
        "gain_eur_per_search_s": _per_second(over_rule, row),
        "gain_over_cp_eur_per_search_s": None if row is base else _per_second(over_base, row),
    }


def _per_second(gain_eur: float | None, row: Row) -> float | None:
    """What a second of search brought; rules do not search."""
    search_s: float = row["search_s"]
    if gain_eur is None or row["kind"] == "rule" or not search_s:
        return None
    return round(gain_eur / search_s, 6)
