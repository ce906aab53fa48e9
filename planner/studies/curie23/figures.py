"""The pictures of the study: figures 1 to 8 of the paper, and what each run is ahead of the best rule."""

from __future__ import annotations

from collections.abc import Sequence

from planner.pages.charts import Line, lines
from planner.pages.markup import Html, el
from planner.runs.figures import Row
from planner.studies.curie23.cells import SCENARIOS

COLOURS = ("a0", "a5", "a2", "a3", "a4", "a1", "a7", "a6", "a8")
WIDTH = 660
"""Narrower than other figures: two stand side by side where there is room."""


def profit_figures(curves: Sequence[Row], days: int) -> Html:
    """Figures 1 to 4: profit since the first day, one per scenario, rules dashed."""
    return _pair(
        [
            _figure(
                f"Figure {_place(scenario) + 1}: profit, {scenario}",
                rows,
                "cumulative_profit_eur",
                "thousand EUR",
                days,
            )
            for scenario, rows in _by_scenario(curves)
        ]
    )


def search_figures(curves: Sequence[Row], days: int) -> Html | None:
    """Figures 5 to 8: profit of each search over that of the engine's default search; None where that was not run."""
    searches = [row for row in curves if row["kind"] == "search" and row["over_cp_percent"] is not None]
    if not searches:
        return None
    return _pair(
        [
            _figure(
                f"Figure {_place(scenario) + 5}: over the engine's default search, {scenario}",
                rows,
                "over_cp_percent",
                "% of its profit",
                days,
            )
            for scenario, rows in _by_scenario(searches)
        ]
    )


def ahead_figures(curves: Sequence[Row], days: int) -> Html | None:
    """What each run has earned more than the best rule; None without rules."""
    known = [row for row in curves if row["over_best_rule_eur"] is not None]
    if not known:
        return None
    return _pair(
        [
            _figure(f"Ahead of the best rule, {scenario}", rows, "over_best_rule_eur", "thousand EUR", days)
            for scenario, rows in _by_scenario(known)
        ]
    )


def _figure(title: str, rows: Sequence[Row], key: str, up: str, days: int) -> Html:
    """A curve per run, with a mark at the last day of submissions."""
    scale = 1000.0 if up.startswith("thousand") else 1.0
    by_run: dict[str, list[Row]] = {}
    for row in rows:
        by_run.setdefault(row["label"], []).append(row)
    places = {"rule": 0, "search": 0}
    curves = []
    for label, own in by_run.items():
        kind = own[0]["kind"]
        colour = COLOURS[places[kind] % len(COLOURS)]
        places[kind] += 1
        points = [(row["number"], row[key] / scale) for row in own if row[key] is not None]
        if points:
            curves.append(Line(label, colour, points, dashed=kind == "rule"))
    return lines(title, curves, across="day", up=up, width=WIDTH, mark=days, at_end=True)


def _pair(figures: Sequence[Html]) -> Html:
    return el("div", figures, class_="pair")


def _by_scenario(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["scenario"], []).append(row)
    return list(found.items())


def _place(scenario: str) -> int:
    return SCENARIOS.index(scenario)
