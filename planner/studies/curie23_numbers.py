"""The rows of the study of Curie: what each run earned and how it compares, day by day, and the paper's figures beside.

Published figures stand only beside all 23 days; those of the whole only beside runs until the queue is empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from planner.domain.day_summary import DaySummary
from planner.domain.waits import Waits
from planner.runs.compare_results import Row, run_row
from planner.search.orderings import ORDERINGS
from planner.studies.curie23_setup import RUNS
from planner.studies.published import CURIE23, CURIE23_SEARCHES
from planner.studies.report import grouped

DEFAULT_SEARCH = "cp"
"""The run that figures 5 to 8 compare searches with: the engine's default search."""

SEED = "multisearch"
"""The run whose plans delay and relaxation begin with."""

GROUP = ("calibration", "scenario")
"""Runs that have these in common are compared with each other."""

Said = tuple[float, float] | None
"""The least and the most that was published; the same where there is one number."""

TABLE_1, TABLE_2, TABLE_3 = "Table 1", "Table 2", "Table 3"
PROFIT_FIGURES, SEARCH_FIGURES = "Figures 1 to 4", "Figures 5 to 8"
SEARCHES = "Searches"
PLACES = (TABLE_1, TABLE_2, TABLE_3, PROFIT_FIGURES, SEARCH_FIGURES, SEARCHES)
"""Where in the paper a figure stands; of searches it speaks in its text."""


def days_without_solution(summaries: Sequence[DaySummary]) -> int:
    """On how many days the engine found no plan by itself."""
    return sum(not summary.has_plan for summary in summaries)


def days_improved(summaries: Sequence[DaySummary]) -> int | None:
    """On how many days a search found more than its seed, the best of the orderings; None where it has no seed."""
    if not any(trial.name in ORDERINGS for summary in summaries for trial in summary.trials):
        return None
    return sum(summary.best_trial not in ORDERINGS for summary in summaries if summary.jobs.started)


def run_rows(found: Sequence[Row], days: int) -> list[Row]:
    """One row per run: its profit at the end of the days of the study, the whole until its queue is empty, and how
    it compares with the best rule and with the engine's default search of the same group."""
    rows = [_row(told, days) for told in found]
    for group in grouped(rows, *GROUP):
        rule, base = best_of(group, "rule"), next((row for row in group if row["run"] == DEFAULT_SEARCH), None)
        easy = next((row for row in group if row["kind"] == "easy"), None)
        for row in group:
            row.update(_compared(row, rule, base, days))
            over = None if easy is None else percent_over(row["profit_eur"], easy["profit_eur"])
            row["over_easy_percent"] = over
    return rows


def best_of(rows: Sequence[Row], kind: str) -> Row | None:
    """The rule, or the search, that has earned the most by the last day of the study; the first of equals."""
    return max((row for row in rows if row["kind"] == kind), key=lambda row: row["profit_eur"], default=None)


def percent_over(value: float, base: float) -> float | None:
    """How much more a value is than another [%]; None where that says nothing."""
    return round(100 * (value / base - 1), 3) if base > 0 else None


def _row(told: Row, days: int) -> Row:
    run, summaries = RUNS[told["run"]], told["summaries"]
    first = summaries[:days]
    study, whole = run_row({}, first), run_row({}, summaries)
    is_emptied = not whole["running"] and not whole["deferred"]
    found_s = [summary.found_s for summary in first if summary.found_s is not None]
    return {
        "calibration": told["calibration"],
        "scenario": told["scenario"],
        "run": run.name,
        "label": run.label,
        "method": run.method,
        "kind": run.kind,
        "profit_eur": study["profit_eur"],
        "bound_eur": study["bound_eur"],
        "run_bound_eur": told["run_bound_eur"],
        "utilisation_fraction": study["utilisation_fraction"],
        "waiting": study["deferred"],
        **_waits(first),
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


def _waits(summaries: Sequence[DaySummary]) -> Row:
    """How long jobs waited until they started, those that are left until the end of the last day [h]."""
    told = [(each.waits, each.jobs.started) for each in summaries if each.waits is not None]
    started = [(each.started_mean_s, count) for each, count in told if each.started_mean_s is not None]
    total = math.fsum(mean * count for mean, count in started)
    count = sum(each for _, each in started)
    last, begun = told[-1] if told else (Waits(None, None), 0)
    if last.still_waiting and last.mean_s is not None:
        total += last.mean_s * (begun + last.still_waiting) - (last.started_mean_s or 0.0) * begun
        count += last.still_waiting
    longest = [each.longest_s for each, _ in told if each.longest_s is not None]
    return {
        "mean_wait_h": round(total / count / 3600, 3) if count else None,
        "longest_wait_h": round(max(longest) / 3600, 3) if longest else None,
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


def curve_rows(found: Sequence[Row], days: int) -> list[Row]:
    """Profit since the first day, and what it is ahead of others: one row per run and day.

    A run whose queue is empty stays at what it has earned for those that go on.
    """
    earned = {
        (told["calibration"], told["scenario"], told["run"]): list(
            accumulate(summary.totals.profit_eur for summary in told["summaries"])
        )
        for told in found
    }
    rows = []
    for told in found:
        calibration, scenario, name = told["calibration"], told["scenario"], told["run"]
        group = {run: sums for (*names, run), sums in earned.items() if names == [calibration, scenario]}
        rule, base = best_rule(group, days), group.get(DEFAULT_SEARCH)
        for number, summary in enumerate(told["summaries"], start=1):
            total = group[name][number - 1]
            rows.append(
                {
                    "calibration": calibration,
                    "scenario": scenario,
                    "run": name,
                    "label": RUNS[name].label,
                    "kind": RUNS[name].kind,
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


def best_rule(earned: Mapping[str, Sequence[float]], days: int) -> str | None:
    """The rule that has earned the most by the last day of the study; None without rules."""
    rules = [name for name in earned if RUNS[name].kind == "rule"]
    return max(rules, key=lambda name: _at(earned[name], days), default=None)


def _at(sums: Sequence[float], number: int) -> float:
    """What had been earned by the end of a day, also of one after the last."""
    return sums[min(number, len(sums)) - 1]


def published_rows(runs: Sequence[Row], *, has_all_days: bool) -> list[Row]:
    """The paper's tables and figures beside ours, one row per figure, scenario and calibration.

    What is known of neither side is left out.
    """
    rows = []
    for group in grouped(runs, *GROUP):
        for beside in _of_group(group):
            said = beside.pop("said") if has_all_days else None
            derived = beside.pop("derived")
            if beside["ours"] is None and said is None:
                continue
            rows.append(
                {name: group[0][name] for name in GROUP}
                | {name: beside[name] for name in ("place", "figure", "unit", "run", "ours")}
                | {"published": None if said is None else said[0], "published_most": None if said is None else said[1]}
                | {"derived": "" if said is None else "yes" if derived else "no"}
            )
    return rows


def _beside(
    place: str, figure: str, unit: str, run: str, ours: float | None, said: Said = None, *, derived: bool = False
) -> Row:
    """A figure of ours, of a run or of one over another, with what was published of it.

    ``derived``: not printed in the paper, but worked out from what is.
    """
    row: Row = {"place": place, "figure": figure, "unit": unit, "run": run, "ours": ours}
    return row | {"said": said, "derived": derived}


def _of_group(group: Sequence[Row]) -> Iterator[Row]:
    best, rule = best_of(group, "search"), best_of(group, "rule")
    searches = [row for row in group if row["kind"] == "search"]
    yield from _table_1(group[0]["scenario"], best, rule)
    if best is not None and rule is not None:
        pair = f"{best['label']} over {rule['label']}"
        gain = (CURIE23[group[0]["scenario"]].gain_eur,) * 2
        yield _beside(TABLE_2, "best search over best rule, a day", "EUR", pair, best["gain_eur_per_day"], gain)
        over = CURIE23[group[0]["scenario"]].over_best_rule_percent
        yield _beside(
            PROFIT_FIGURES, "best search over best rule", "%", pair, best["over_best_rule_percent"], (over, over)
        )
    yield from _table_3(searches, CURIE23[group[0]["scenario"]].per_second)
    yield from _over_default_search(searches, best)
    yield from _searches(searches)


def _table_1(scenario: str, best: Row | None, rule: Row | None) -> Iterator[Row]:
    """PUE and days until the queue is empty, as far as it was run until then."""
    said = CURIE23[scenario]
    days, _ = CURIE23_SEARCHES["makespan_of_best_rule", ""]
    sooner = round(days * (1 - said.shorter_percent / 100))
    for words, row, makespan, pue_said in (
        ("best search", best, sooner, said.pue),
        ("best rule", rule, days, said.rule_pue),
    ):
        if row is None:
            continue
        is_whole = row["emptied"] == "yes"
        pue = (pue_said, pue_said) if is_whole else None
        yield _beside(TABLE_1, f"PUE, {words}", "", row["label"], row["pue"], pue)
        until = (makespan, makespan) if is_whole else None
        yield _beside(
            TABLE_1,
            f"queue empty after, {words}",
            "days",
            row["label"],
            row["makespan_days"],
            until,
            derived=row is best,
        )
    if best is None or rule is None:
        return
    ours = best["shorter_than_best_rule_percent"]
    shorter = said.shorter_percent
    pair = f"{best['label']}, {rule['label']}"
    yield _beside(TABLE_1, "shorter than the best rule", "%", pair, ours, None if ours is None else (shorter, shorter))


def _table_3(searches: Sequence[Row], said: Mapping[str, float]) -> Iterator[Row]:
    """Improvement by time: of MultiSearch over the best rule by its time, of others over MultiSearch by theirs.

    The time of the others is that to their best plan, after the seed.
    """
    seed = next((row for row in searches if row["run"] == SEED), None)
    for row in searches:
        over, took_s = row["over_best_rule_percent"], row["search_s_per_day"]
        if row is not seed:
            over = None if seed is None else percent_over(row["profit_eur"], seed["profit_eur"])
            took_s = row["found_s_per_day"]
        ours = float(f"{over / took_s:.6g}") if over is not None and took_s else None
        paper = said.get(row["run"])
        figure = f"{row['label']}: improvement by its time"
        yield _beside(TABLE_3, figure, "%/s", row["label"], ours, None if paper is None else (paper, paper))


def _over_default_search(searches: Sequence[Row], best: Row | None) -> Iterator[Row]:
    if best is not None and best["over_cp_percent"] is not None:
        said = CURIE23_SEARCHES["best_search_over", "cp"]
        yield _beside(
            SEARCH_FIGURES, "best search over default search", "%", best["label"], best["over_cp_percent"], said
        )
    for row in searches:
        if row["gain_over_cp_eur_per_search_s"] is not None:
            label = row["label"]
            yield _beside(SEARCH_FIGURES, f"{label} over default search", "%", label, row["over_cp_percent"])


def _searches(searches: Sequence[Row]) -> Iterator[Row]:
    """Time of searches and to their plans, and days on which they are of use; the paper's is of methods as they are."""
    for figure, words, unit, value in (
        ("search_time_per_day", "search time a day", "s", lambda row: row["search_s_per_day"]),
        ("time_to_best_plan", "time to its plan, a day", "s", lambda row: row["found_s_per_day"]),
        ("days_improved", "days on which it improves its seed", "%", _improved_percent),
    ):
        for row in searches:
            said = CURIE23_SEARCHES.get((figure, row["run"]))
            yield _beside(SEARCHES, f"{row['label']}: {words}", unit, row["label"], value(row), said)
    for row in searches:
        if row["days_without_solution"]:
            figure = f"{row['label']}: days without a plan of the engine"
            yield _beside(SEARCHES, figure, "days", row["label"], row["days_without_solution"])


def _improved_percent(row: Row) -> float | None:
    return None if row["days_improved"] is None else round(100 * row["days_improved"] / row["days"], 1)
