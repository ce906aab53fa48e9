"""The page of a comparison: runs side by side, curves over the days, money against CO2, and every day in small."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from planner.pages.charts import bars, run_colour, run_dash, strip
from planner.pages.compare_tables import (
    PARTS,
    easy_table,
    energy_table,
    is_easy,
    key_of,
    members_table,
    names_of,
    pairs_table,
    runs_table,
)
from planner.pages.day import tile, zoom_bar
from planner.pages.markup import (
    COLOURS,
    SIGNS,
    Html,
    Part,
    counted,
    document,
    el,
    good_or_bad,
    money,
    page_head,
    percent,
    plain,
    signed_money,
    signed_percent,
)
from planner.pages.scatter import Axis, Point, Series, scatter
from planner.pages.time_axis import Panel, days_between, days_payload, layer
from planner.units import SECONDS_PER_HOUR

MULTIPLES = 62
"""Days in small on the page; all are in days.csv."""

Row = dict[str, Any]


def compare_page(about: Row) -> str:
    """The page of what compare.json says: ``runs`` with their sums, ``days`` with those of each day."""
    runs, currency = list(about["runs"]), about["currency"]
    names = names_of(runs)
    by_day: dict[str, dict[str, Row]] = {}
    for row in about["days"]:
        by_day.setdefault(row["day"], {})[key_of(row)] = row
    keys = [key_of(row) for row in runs]
    span = about["from"] if about["from"] == about["to"] else f"{about['from']} to {about['to']}"
    words = f"Plans and policies on the same jobs, days, weather and prices. Money is in {currency}."
    told = {name: " ".join(text.split()) for name, text in about["scenarios"].items() if text}
    scenarios = el("ul", [el("li", el("b", name), f": {text}") for name, text in told.items()])
    header = page_head(f"Comparison, {span}", words, index="../../../index.html", also=scenarios)
    bases, against = _bases(runs, about["baseline"], names)
    pairs = list(about["pairs"])
    days = sorted(by_day)
    panels = _curves(keys, names, by_day, about, bases, against) if len(days) > 1 else []
    main = el(
        "main",
        [el("p", sentence, class_="answer") for sentence in about["answer"]],
        [pairs_table(pairs, currency), el("p", PARTS, class_="soft")] if pairs else None,
        _tiles(runs, names, currency),
        el("h2", "Against EASY"),
        easy_table(runs, currency),
        [el("p", note, class_="soft") for note in about["notes"]],
        el("h2", "Side by side"),
        runs_table(runs, bases, names, against, currency),
        [el("h2", "Over the days"), zoom_bar(), [panel.html() for panel in panels]] if panels else None,
        [el("h2", "By member of the forecast"), members_table(about["members"], names, currency)]
        if about.get("members")
        else None,
        el("h2", "Energy"),
        energy_table(runs, names),
        [el("h2", "Money against CO2"), carbon_figure(runs, currency)] if carbon_curves(runs) else None,
        [el("h2", "Money and waits"), waiting_figure(runs, currency)] if waiting_curves(runs) else None,
        el("h2", "PUE"),
        _pue(keys, names, by_day, days),
        el("h2", "Profit day by day"),
        _multiples(keys, names, by_day, days, currency),
        id="main",
    )
    more = [name for name in ("pairs", "members") if about.get(name)]
    files = [
        el("a", name, href=name) for name in (*(f"{name}.csv" for name in more), "runs.csv", "days.csv", "compare.json")
    ]
    foot = el("footer", el("p", "All digits: ", [[file, " "] for file in files]))
    title = f"Comparison, {span}"
    if not panels:
        return document(title, header, main, foot)
    payload = days_payload(_span(about), panels)
    return document(title, header, main, foot, scripts=("view.js", "panels.js"), payload=payload)


def _bases(runs: list[Row], baseline: str, names: dict[str, str]) -> tuple[dict[str, Row | None], str]:
    """What each run is held against, by its key: the baseline, or its like in that scenario; in words, too."""
    scenario, _, method = baseline.partition(":")
    kinds = {row["kind"] for row in runs if (row["scenario"], row["method"]) == (scenario, method)}
    kind = "plan" if "plan" in kinds else "policy"

    def base_of(row: Row) -> Row | None:
        own = (method, kind) if method else (row["method"], row["kind"])
        likes = (each for each in runs if each["scenario"] == scenario and (each["method"], each["kind"]) == own)
        return next(likes, None)

    words = names.get(f"{baseline}:{kind}", baseline) if method else f"the same in {scenario}"
    return {key_of(row): base_of(row) for row in runs}, words


def _span(about: Row) -> list[str]:
    """Every day between the first and the last that any run has."""
    found = sorted(row["day"] for row in about["days"])
    return days_between(dt.date.fromisoformat(found[0]), dt.date.fromisoformat(found[-1]))


def _tiles(runs: list[Row], names: dict[str, str], currency: str) -> Html:
    shown = []
    for row in runs:
        note: Part = "what a site has today" if is_easy(row) else None
        if note is None and row["saved_eur"] is not None:
            saved = row["saved_percent"]
            part = "" if saved is None else f" ({signed_percent(saved / 100)})"
            good = good_or_bad(row["saved_eur"])
            note = [el("span", signed_money(row["saved_eur"], currency) + part, class_=good), " against EASY"]
        left = counted(row["deferred"], "job") + " still waiting"
        profit = row["profit_eur"]
        shown.append(
            tile(names[key_of(row)], profit, money(profit, currency, 0 if abs(profit) >= 1e6 else 2), note, left)
        )
    return el("dl", shown, class_="tiles")


def _curves(
    keys: list[str],
    names: dict[str, str],
    by_day: dict[str, dict[str, Row]],
    about: Row,
    bases: dict[str, Row | None],
    against: str,
) -> list[Panel]:
    span, currency = _span(about), about["currency"]
    sign = SIGNS.get(currency, "")

    def running(key: str) -> list[float]:
        daily = [by_day.get(day, {}).get(key, {}).get("profit_eur", 0.0) for day in span]
        return [round(value, 6) for value in accumulate(daily)]

    sums = {key: running(key) for key in keys}
    nothing = [0.0] * len(span)

    def base(key: str) -> list[float]:
        row = bases[key]
        return nothing if row is None else sums[key_of(row)]

    def lines(values: dict[str, list[float]]) -> list[dict[str, Any]]:
        unit = "" if sign else currency
        return [
            layer("line", "days", names[key], run_colour(k), values[key], unit, 2, before=sign, dash=run_dash(k))
            for k, key in enumerate(keys)
        ]

    more = {key: [round(a - b, 6) for a, b in zip(sums[key], base(key), strict=True)] for key in keys}
    return [
        Panel("profit", f"Profit since the first day, {currency}", "One line per run.", lines(sums), 260),
        Panel(
            "more",
            f"Profit more than {against}, since the first day, {currency}",
            "One line per run.",
            lines(more),
            200,
        ),
    ]


def _pue(keys: list[str], names: dict[str, str], by_day: dict[str, dict[str, Row]], days: list[str]) -> Html:
    rows = [
        (names[key], run_colour(k), [(day, by_day[day][key]["pue"]) for day in days if key in by_day[day]])
        for k, key in enumerate(keys)
    ]
    return strip("PUE of each day, with the median", rows, name="pue")


def _multiples(
    keys: list[str], names: dict[str, str], by_day: dict[str, dict[str, Row]], days: list[str], currency: str
) -> list[Html]:
    profits = [row["profit_eur"] for day in days for row in by_day[day].values()]
    low, high = min(0.0, *profits), max(0.0, *profits)
    marks = [
        el("span", el("i", style=f"--c:var(--{run_colour(k)})"), f"{k + 1} " if len(keys) > COLOURS else None, name)
        for k, name in enumerate(names[key] for key in keys)
    ]
    legend = el("p", marks, class_="legend")
    minis = []
    for day in days[:MULTIPLES]:
        rows = [
            (names[key], run_colour(k), by_day[day][key]["profit_eur"], money(by_day[day][key]["profit_eur"], currency))
            for k, key in enumerate(keys)
            if key in by_day[day]
        ]
        minis.append(bars(f"{day}  {max(rows, key=lambda each: each[2])[3]}", rows, low, high))
    more = (
        el("p", f"The first {MULTIPLES} of {len(days)} days; all are in days.csv.") if len(days) > MULTIPLES else None
    )
    note = el("p", "All on one scale from zero; the number is the best of the day.", class_="soft")
    return [legend, note, el("div", minis, class_="small-multiples", id="multiples"), *([more] if more else [])]


@dataclass(frozen=True)
class CurvePoint:
    """A plan of a scenario that counts CO2 or waiting with a price, or EASY, which is no plan.

    ``eur_per_tonne`` is what a tonne of CO2 less has cost since the price before.
    """

    label: str
    price: float
    profit_eur: float
    carbon_kg: float
    mean_wait_s: float
    eur_per_tonne: float | None = None


Curves = dict[str, list[CurvePoint]]
"""By scenario and method, the points by increasing price."""


def _curves_of(runs: Sequence[Mapping[str, Any]], sign: str) -> tuple[Curves, dict[str, CurvePoint]]:
    """Plans of scenarios that differ in one price alone, which stands behind a sign in their names; EASY of each.

    A run in which nobody has waited counts as one without a wait.
    """
    curves: Curves = {}
    easy: dict[str, CurvePoint] = {}
    for row in runs:
        named = re.fullmatch(rf"(?P<name>.*){sign}(?P<price>[0-9.eE+-]+)", str(row["scenario"]))
        if named is None:
            continue
        label = "EASY" if is_easy(dict(row)) else named["price"]
        point = CurvePoint(label, float(named["price"]), row["profit_eur"], row["carbon_kg"], row["mean_wait_s"] or 0.0)
        if label == "EASY":
            easy[named["name"]] = point
        elif row["kind"] == "plan":
            curves.setdefault(f"{named['name']}, {row['method']}", []).append(point)
    for points in curves.values():
        points.sort(key=lambda each: each.price)
    return curves, easy


def carbon_curves(runs: Sequence[Mapping[str, Any]]) -> Curves:
    """Money and CO2 of plans that differ in their weight of CO2 alone."""
    curves, _ = _curves_of(runs, "@")
    return {name: [points[0], *map(_with_cost, points, points[1:])] for name, points in curves.items() if points[1:]}


def _with_cost(before: CurvePoint, after: CurvePoint) -> CurvePoint:
    less_t = (before.carbon_kg - after.carbon_kg) / 1000
    return replace(after, eur_per_tonne=(before.profit_eur - after.profit_eur) / less_t if less_t > 0 else None)


def waiting_curves(runs: Sequence[Mapping[str, Any]]) -> Curves:
    """Money and waits of plans that differ in what waiting counts alone; EASY's point last."""
    curves, easy = _curves_of([row for row in runs if row["mean_wait_s"] is not None], "~")
    return {
        name: [*points, *(point for scenario, point in easy.items() if name.startswith(f"{scenario}, "))]
        for name, points in curves.items()
    }


def waiting_figure(runs: Sequence[Mapping[str, Any]], currency: str) -> Html:
    """The frontier of money and waits against EASY, which stands at zero: more profit, and more of the mean wait."""
    series, most = [], 1.0
    for number, (name, points) in enumerate(waiting_curves(runs).items()):
        colour = run_colour(number)
        told, easy = f"{name}, an hour of waiting counts", points[-1]
        shown = [
            Point(
                each.label,
                (each.mean_wait_s - easy.mean_wait_s) / SECONDS_PER_HOUR,
                each.profit_eur - easy.profit_eur,
                f"{'EASY' if each.label == 'EASY' else f'{told} {each.label} {currency}'}:"
                f" {money(each.profit_eur, currency)}, mean wait {each.mean_wait_s / SECONDS_PER_HOUR:.2f} h",
                colour,
            )
            for each in points
        ]
        plans = sum(each.label != "EASY" for each in points)
        series.append(Series(name, colour, shown[:plans], joined=True))
        series += [Series(f"{name}: EASY", colour, shown[plans:], joined=False)] if shown[plans:] else []
        most = max(most, abs(easy.profit_eur))
    return scatter(
        f"More profit and more waiting than under EASY, by what an hour of waiting counts [{currency}]",
        series,
        Axis("mean wait, h more than under EASY", lambda value: plain(value, 2)),
        Axis(f"profit, {currency} more than under EASY", lambda value: plain(value, 2)),
        beside=Axis("in percent of EASY's", lambda value: percent(value / most, 2), most / 100),
        name="waiting",
    )


def carbon_figure(runs: Sequence[Mapping[str, Any]], currency: str) -> Html:
    """CO2 that is saved against the first weight, and what it costs."""
    series = []
    curves = carbon_curves(runs)
    for number, (name, plans) in enumerate(curves.items()):
        first, colour = plans[0], run_colour(number)
        points = [
            Point(
                f"{each.price:g}",
                first.carbon_kg - each.carbon_kg,
                first.profit_eur - each.profit_eur,
                f"{name}, a tonne counts {each.price:g} {currency}: {money(each.profit_eur, currency)},"
                f" {plain(each.carbon_kg, 1)} kg",
                colour,
            )
            for each in plans
        ]
        series.append(Series(name, colour, points, joined=True))
    most = max(abs(plans[0].profit_eur) for plans in curves.values()) or 1.0
    return scatter(
        f"What CO2 less costs, by what a tonne counts in the plan [{currency}]",
        series,
        Axis("CO2 saved, kg", lambda value: plain(value, 0)),
        Axis(f"profit given up, {currency}", lambda value: plain(value, 2)),
        beside=Axis("in percent of the profit", lambda value: percent(value / most, 2), most / 100),
        name="carbon",
    )
