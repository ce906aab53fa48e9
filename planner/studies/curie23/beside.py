"""The paper's tables and figures beside ours, one row per figure, scenario and calibration: ``published.csv``.

Published figures stand there only beside all 23 days; those of the whole only beside runs until the queue is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.runs.figures import Row
from planner.studies.curie23.rows import best_of, groups_of
from planner.studies.published import CURIE23, CURIE23_SEARCHES

Said = tuple[float, float]
"""The least and the most that was published; the same where there is one number."""

TABLE_1, TABLE_2, TABLE_3 = "Table 1", "Table 2", "Table 3"
PROFIT_FIGURES, SEARCH_FIGURES = "Figures 1 to 4", "Figures 5 to 8"
SEARCHES = "Searches"
PLACES = (TABLE_1, TABLE_2, TABLE_3, PROFIT_FIGURES, SEARCH_FIGURES, SEARCHES)
"""Where in the paper a figure stands; of searches it speaks in its text."""


@dataclass(frozen=True)
class Beside:
    """A figure of ours, of a run or of one over another, with what was published of it.

    ``derived``: not printed in the paper, but worked out from what is.
    """

    place: str
    figure: str
    unit: str
    run: str
    ours: float | None
    said: Said | None = None
    derived: bool = False


def published_rows(runs: Sequence[Row], *, has_all_days: bool) -> list[Row]:
    """The rows of all groups; what is known of neither side is left out."""
    rows = []
    for group in groups_of(runs):
        for each in _of_group(group):
            said = each.said if has_all_days else None
            if each.ours is None and said is None:
                continue
            rows.append(
                {
                    "calibration": group[0]["calibration"],
                    "scenario": group[0]["scenario"],
                    "place": each.place,
                    "figure": each.figure,
                    "unit": each.unit,
                    "run": each.run,
                    "ours": each.ours,
                    "published": None if said is None else said[0],
                    "published_most": None if said is None else said[1],
                    "derived": "" if said is None else "yes" if each.derived else "no",
                }
            )
    return rows


def _of_group(group: Sequence[Row]) -> Iterator[Beside]:
    best, rule = best_of(group, "search"), best_of(group, "rule")
    searches = [row for row in group if row["kind"] == "search"]
    yield from _table_1(group[0]["scenario"], best, rule)
    if best is not None and rule is not None:
        pair = f"{best['label']} over {rule['label']}"
        gain = CURIE23_SEARCHES["gain_per_day", ""]
        yield Beside(TABLE_2, "best search over best rule, a day", "EUR", pair, best["gain_eur_per_day"], gain)
        over = CURIE23[group[0]["scenario"]].over_best_rule_percent
        yield Beside(
            PROFIT_FIGURES, "best search over best rule", "%", pair, best["over_best_rule_percent"], (over, over)
        )
    yield from _table_3(searches, best)
    yield from _over_default_search(searches, best)
    yield from _searches(searches)


def _table_1(scenario: str, best: Row | None, rule: Row | None) -> Iterator[Beside]:
    """PUE and days until the queue is empty, as far as it was run until then."""
    said = CURIE23[scenario]
    days, _ = CURIE23_SEARCHES["makespan_of_best_rule", ""]
    for words, row, makespan in (("best search", best, days - said.days_shorter), ("best rule", rule, days)):
        if row is None:
            continue
        is_whole = row["emptied"] == "yes"
        # The paper gives one PUE for each scenario.
        pue = (said.pue, said.pue) if row is best and is_whole else None
        yield Beside(TABLE_1, f"PUE, {words}", "", row["label"], row["pue"], pue)
        until = (makespan, makespan) if is_whole else None
        yield Beside(
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
    shorter = round(100 * said.days_shorter / days, 2)
    pair = f"{best['label']}, {rule['label']}"
    yield Beside(TABLE_1, "shorter than the best rule", "%", pair, ours, None if ours is None else (shorter, shorter))


def _table_3(searches: Sequence[Row], best: Row | None) -> Iterator[Beside]:
    """Gain per second of search; of the paper's there is the best search's, if it took all the time that it had."""
    limit_s, _ = CURIE23_SEARCHES["time_limit_per_day", ""]
    least, most = (round(gain / limit_s, 2) for gain in CURIE23_SEARCHES["gain_per_day", ""])
    if best is not None:
        ours = best["gain_eur_per_search_s"]
        yield Beside(TABLE_3, "best search over best rule", "EUR/s", best["label"], ours, (least, most), derived=True)
    for row in searches:
        label = row["label"]
        yield Beside(TABLE_3, f"{label} over best rule", "EUR/s", label, row["gain_eur_per_search_s"])
    for row in searches:
        label = row["label"]
        yield Beside(TABLE_3, f"{label} over default search", "EUR/s", label, row["gain_over_cp_eur_per_search_s"])


def _over_default_search(searches: Sequence[Row], best: Row | None) -> Iterator[Beside]:
    if best is not None and best["over_cp_percent"] is not None:
        said = CURIE23_SEARCHES["best_search_over", "cp"]
        yield Beside(
            SEARCH_FIGURES, "best search over default search", "%", best["label"], best["over_cp_percent"], said
        )
    for row in searches:
        if row["gain_over_cp_eur_per_search_s"] is not None:
            label = row["label"]
            yield Beside(SEARCH_FIGURES, f"{label} over default search", "%", label, row["over_cp_percent"])


def _searches(searches: Sequence[Row]) -> Iterator[Beside]:
    """Time of searches and to their plans, and days on which they are of use; the paper's is of methods as they are."""
    for figure, words, unit, value in (
        ("search_time_per_day", "search time a day", "s", lambda row: row["search_s_per_day"]),
        ("time_to_best_plan", "time to its plan, a day", "s", lambda row: row["found_s_per_day"]),
        ("days_improved", "days on which it improves its seed", "%", _improved_percent),
    ):
        for row in searches:
            said = CURIE23_SEARCHES.get((figure, row["run"]))
            yield Beside(SEARCHES, f"{row['label']}: {words}", unit, row["label"], value(row), said)
    for row in searches:
        if row["days_without_solution"]:
            figure = f"{row['label']}: days without a plan of the engine"
            yield Beside(SEARCHES, figure, "days", row["label"], row["days_without_solution"])


def _improved_percent(row: Row) -> float | None:
    return None if row["days_improved"] is None else round(100 * row["days_improved"] / row["days"], 1)
