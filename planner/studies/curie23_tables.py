"""The tables of the study on 23 days of CEA Curie: its runs, the paper's figures beside them, profit day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.methods import RULES
from planner.runs.fanout import Outcome
from planner.runs.figures import Row, run_row
from planner.search.orderings import ORDERINGS
from planner.studies.published import CURIE23, CURIE23_IMPROVED


def run_rows(pairs: Sequence[tuple[str, str]], found: Mapping[tuple[str, str], Outcome], days: int) -> list[Row]:
    """One row per run: the profit at the end of the days of the study, and the whole until the queue is empty."""
    rows = []
    for scenario, method in pairs:
        summaries = found[scenario, method]
        names = {"scenario": scenario, "method": method}
        study, whole = run_row(names, summaries[:days]), run_row(names, summaries)
        rows.append(
            {
                **names,
                "profit_eur": study["profit_eur"],
                "bound_eur": study["bound_eur"],
                "utilisation_fraction": study["utilisation_fraction"],
                "waiting": study["deferred"],
                "makespan_days": round(whole["makespan_h"] / 24, 3),
                "profit_in_the_end_eur": whole["profit_eur"],
                "pue": whole["pue"],
                "jobs": whole["finished"],
                "solve_s_per_day": round(sum(s.solve_s for s in summaries) / len(summaries), 3),
                "days_better_than_orderings": sum(
                    s.best_trial not in (*ORDERINGS, *RULES) for s in summaries if s.jobs.started
                ),
                "days": len(summaries),
            }
        )
    for row in rows:
        rules = [r["profit_eur"] for r in rows if r["scenario"] == row["scenario"] and r["method"] in RULES]
        best = max(rules, default=None)
        row["over_best_rule_percent"] = None if best is None else round(100 * (row["profit_eur"] / best - 1), 3)
    return rows


def published_rows(runs: Sequence[Row], scenarios: Sequence[str]) -> list[Row]:
    """The paper's figures of each scenario beside ours."""
    rows: list[Row] = []
    for scenario in scenarios:
        here = [row for row in runs if row["scenario"] == scenario]
        searches = [row for row in here if row["method"] not in RULES]
        rules = [row for row in here if row["method"] in RULES]
        best = max(searches, key=lambda row: row["profit_eur"], default=None)
        rule = max(rules, key=lambda row: row["profit_eur"], default=None)
        said = CURIE23[scenario]
        shorter = None if best is None or rule is None else rule["makespan_days"] - best["makespan_days"]
        by_cp = next((row["profit_eur"] for row in here if row["method"] == "cp"), None)
        improved = {
            row["method"]: round(100 * row["days_better_than_orderings"] / row["days"], 1)
            for row in here
            if row["method"] in CURIE23_IMPROVED
        }
        rows.append(
            {
                "scenario": scenario,
                "best_search": best["method"] if best else "",
                "best_rule": rule["method"] if rule else "",
                "over_best_rule_percent": best["over_best_rule_percent"] if best else None,
                "published_percent": said.over_best_rule_percent,
                "days_shorter": None if shorter is None else round(shorter, 3),
                "published_days_shorter": said.days_shorter,
                "pue": (best or rule or here[0])["pue"],
                "published_pue": said.pue,
                "over_cp_percent": round(100 * (best["profit_eur"] / by_cp - 1), 3) if best and by_cp else None,
                "delay_improves_percent": improved.get("delay"),
                "relaxation_improves_percent": improved.get("relaxation"),
            }
        )
    return rows


def cumulative_rows(found: Mapping[str, Outcome], scenario: str) -> list[Row]:
    """Profit from the first day on, one row per method and day."""
    rows = []
    for method, summaries in found.items():
        total = 0.0
        for number, summary in enumerate(summaries, start=1):
            total += summary.totals.profit_eur
            rows.append(
                {
                    "scenario": scenario,
                    "method": method,
                    "number": number,
                    "day": summary.day.isoformat(),
                    "profit_eur": summary.totals.profit_eur,
                    "cumulative_profit_eur": round(total, 6),
                    "utilisation_fraction": summary.utilisation_fraction,
                    "waiting": summary.jobs.deferred,
                    "solve_s": summary.solve_s,
                }
            )
    return rows
