"""Money against CO2: the same days planned with several weights of CO2, as a table and as a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from planner.pages.formats import money, plain
from planner.pages.markup import Html
from planner.pages.scatter import Axis, Point, Series, scatter

_WEIGHED = re.compile(r"(?P<name>.*)@(?P<weight>[0-9.eE+-]+)")
"""How a scenario is called that is planned with a weight of CO2."""
COLOURS = 8


@dataclass(frozen=True)
class CurvePoint:
    """A run with a weight; ``eur_per_tonne`` is what a tonne less has cost since the weight before."""

    weight: float
    profit_eur: float
    carbon_kg: float
    eur_per_tonne: float | None


@dataclass(frozen=True)
class Curve:
    """The runs of one scenario and method, by increasing weight."""

    name: str
    points: tuple[CurvePoint, ...]


def carbon_curves(runs: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """The curves among the runs of a comparison: plans of scenarios that differ in their weight of CO2 alone."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in runs:
        weighed = _WEIGHED.fullmatch(str(row["scenario"]))
        if weighed is None or row["kind"] != "plan":
            continue
        key = f"{weighed['name']}, {row['method']}"
        found.setdefault(key, []).append((float(weighed["weight"]), row["profit_eur"], row["carbon_kg"]))
    return [Curve(name, _points(sorted(rows))) for name, rows in found.items() if len(rows) > 1]


def _points(rows: list[tuple[float, float, float]]) -> tuple[CurvePoint, ...]:
    points = [CurvePoint(*rows[0], eur_per_tonne=None)]
    for before, after in pairwise(rows):
        less = (before[2] - after[2]) / 1000
        points.append(CurvePoint(*after, eur_per_tonne=(before[1] - after[1]) / less if less > 0 else None))
    return tuple(points)


def carbon_figure(runs: Sequence[Mapping[str, Any]], currency: str) -> Html:
    """CO2 that is saved against the first weight, and what it costs."""
    series = []
    curves = carbon_curves(runs)
    for number, curve in enumerate(curves):
        first, colour = curve.points[0], f"a{min(number, COLOURS)}"
        points = [
            Point(
                f"{each.weight:g}",
                first.carbon_kg - each.carbon_kg,
                first.profit_eur - each.profit_eur,
                f"{curve.name}, a tonne counts {each.weight:g} {currency}: {money(each.profit_eur, currency)},"
                f" {plain(each.carbon_kg, 1)} kg",
                colour,
            )
            for each in curve.points
        ]
        series.append(Series(curve.name, colour, points, joined=True))
    most = max(abs(curve.points[0].profit_eur) for curve in curves) or 1.0
    return scatter(
        f"What CO2 less costs, by what a tonne counts in the plan [{currency}]",
        series,
        Axis("CO2 saved, kg", lambda value: plain(value, 0)),
        Axis(f"profit given up, {currency}", lambda value: plain(value, 2)),
        beside=Axis("in percent of the profit", lambda value: f"{100 * value / most:.2f} %", most / 100),
        name="carbon",
    )
