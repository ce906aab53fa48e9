"""The tables of a comparison: what each run saves against EASY, sums with differences to the baseline, energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.pages.markup import (
    Column,
    Html,
    Part,
    counted,
    el,
    good_or_bad,
    grid,
    hours,
    legend,
    number,
    plain,
    signed_percent,
)

Row = dict[str, Any]


def key_of(row: Row) -> str:
    """What a run is known by: its scenario, and its method or policy."""
    return f"{row['scenario']}:{row['method']}:{row.get('kind', 'plan')}"


def is_easy(row: Row) -> bool:
    """Whether a run is what EASY makes of the jobs."""
    return (row["kind"], row["method"]) == ("policy", "easy")


def name_of(row: Row) -> str:
    """A method or policy as people call it."""
    return "EASY" if is_easy(row) else str(row["method"])


def names_of(runs: list[Row]) -> dict[str, str]:
    """What to call each run: by its method or policy where there is one scenario, else by both."""
    several = len({row["scenario"] for row in runs}) > 1
    policies = {row["method"] for row in runs if row["kind"] == "policy"}

    def own(row: Row) -> str:
        return f"{row['method']} plans" if row["kind"] == "plan" and row["method"] in policies else name_of(row)

    return {key_of(row): f"{row['scenario']}, {own(row)}" if several else own(row) for row in runs}


def pairs_table(pairs: list[Row], currency: str) -> Html:
    """What each run earns more than its like: the parts that this is made of, and its range over the days."""
    alone = all(pair["scenario"] == pair["against_scenario"] for pair in pairs)
    money = [("more_eur", "more profit"), ("same_schedule_eur", "same schedule")]
    money += [("start_times_eur", "start times"), ("volume_eur", "volume")]
    if alone:
        money.pop(1)
    money += [("lowest_day_eur", "lowest day"), ("median_day_eur", "median day"), ("highest_day_eur", "highest day")]
    if pairs[0]["days"] == 1:
        money = money[:-3]
    money += [("lowest_member_eur", "lowest member"), ("highest_member_eur", "highest member")]
    money += [("year_eur", "a year like this")]
    kept = [(key, title) for key, title in money if any(pair.get(key) is not None for pair in pairs)]

    def cell(pair: Row, key: str) -> Part:
        value = pair.get(key)
        if value is None:
            return "–"
        text = number(value, text=("+" if value > 0 else "") + plain(value, 2))
        name = key.removesuffix("_eur")
        beside = el("small", pair[name], class_="beside") if name in ("lowest_day", "highest_day") else None
        return [el("span", text, class_=good_or_bad(value)), beside]

    paid = "payback_years" in pairs[0]
    rows: list[list[Part]] = []
    for pair in pairs:
        base = "less EASY" if alone else f"less {pair['against_scenario']}: {pair['differs_in']}"
        name = name_of(pair) if alone else f"{pair['scenario']}, {name_of(pair)}"
        cells: list[Part] = [[name, el("small", base, class_="beside")], *(cell(pair, key) for key, _ in kept)]
        years = pair.get("payback_years")
        rows.append([*cells, *(["never" if years is None else plain(years, 1)] if paid else [])])
    columns = [Column("run", number=False)]
    columns += [Column(title, currency) for _, title in kept]
    columns += [Column("payback", "years")] if paid else []
    return grid("What is earned more, like with like, and what that is made of", columns, rows, name="pairs")


PARTS = (
    "Same schedule: the jobs as the other scenario runs them, under the rules of this one. Volume: more or less work"
    " within the days, at what its core-hours earn and cost. Start times: the rest, work moved to other hours or nodes."
    " The three add up."
)


def easy_table(runs: list[Row], currency: str) -> Html:
    """What each run saves against EASY of the same scenario, and who waits how long for it."""
    saved: list[tuple[str, str, str, int]] = [
        ("saved_eur", "more profit", currency, 2),
        ("saved_percent", "", "%", 2),
        ("saved_volume_eur", "of it volume", currency, 2),
        ("saved_energy_cost_eur", "energy and charges", f"{currency} saved", 2),
        ("saved_kwh", "energy", "kWh saved", 0),
        ("saved_carbon_kg", "CO₂", "kg saved", 0),
    ]
    if not any(row["carbon_kg"] for row in runs):
        saved.pop()
    easy = {row["scenario"]: row for row in runs if is_easy(row)}

    def saving(row: Row, key: str, digits: int) -> Part:
        value = row[key]
        if value is None or is_easy(row):
            return "–"
        text = plain(value, digits)
        good = good_or_bad(value, digits)
        shown = number(value, text=f"+{text}" if good == "good" else text)
        return el("span", shown, class_=good)

    def worse(row: Row, key: str, text: Callable[[float], str]) -> Part:
        """A number that should not be above EASY's."""
        value, base = row[key], easy.get(row["scenario"], row)[key]
        if value is None:
            return "–"
        shown = number(value, text=text(value))
        return el("span", shown, class_="bad") if base is not None and value > base else shown

    promises = any(row["delayed"] is not None for row in runs)
    rows = []
    for row in runs:
        cells: list[Part] = [row["scenario"], name_of(row), number(row["profit_eur"], 2)]
        cells += [saving(row, key, digits) for key, _, _, digits in saved]
        cells += [plain(row["started"]), worse(row, "deferred", plain)]
        cells += [worse(row, "mean_wait_s", hours), worse(row, "wait95_s", hours)]
        if promises:
            cells += ["–"] * 3 if row["delayed"] is None else _promise(row)
        rows.append(cells)
    columns = [Column("scenario", number=False), Column("run", number=False), Column("profit", currency)]
    columns += [Column(title, unit) for _, title, unit, _ in saved]
    columns += [Column("jobs", "started"), Column("jobs", "waiting at the end")]
    columns += [Column("wait", "mean"), Column("wait", "95 % at most")]
    if promises:
        columns += [Column("jobs", "delayed"), Column("delay", "longest"), Column("promises", "broken")]
    caption = f"Saved against EASY over {counted(runs[0]['days'], 'day')}; who still waits has waited to the end"
    return grid(caption, columns, rows, name="against")


def _promise(row: Row) -> list[Part]:
    broken = row["broken_promises"]
    kept = el("span", plain(broken), class_="bad" if broken else "good")
    return [plain(row["delayed"]), hours(row["longest_delay_s"]), kept]


def runs_table(
    runs: list[Row], bases: dict[str, Row | None], names: dict[str, str], against: str, currency: str
) -> Html:
    """Sums of all runs, with differences to what each is held against."""
    quantities: list[tuple[str, str, str, int]] = [
        ("profit_eur", "profit", currency, 2),
        ("revenue_eur", "revenue", currency, 2),
        ("energy_cost_eur", "energy and charges", currency, 2),
        ("cooling_cost_eur", "of which cooling", currency, 2),
        ("fees_eur", "of which fees", currency, 2),
        ("feed_in_eur", "fed in", currency, 2),
        ("battery_eur", "battery", currency, 2),
        ("it_kwh", "IT", "kWh", 0),
        ("cooling_kwh", "cooling", "kWh", 0),
        ("solar_kwh", "own solar", "kWh", 0),
        ("curtailed_kwh", "curtailed", "kWh", 0),
        ("carbon_kg", "carbon", "kg", 0),
        ("pue", "PUE", "", 3),
        ("makespan_h", "makespan", "h", 1),
        ("missed_deadlines", "deadlines missed", "", 0),
    ]
    rare = ("fees_eur", "feed_in_eur", "battery_eur", "solar_kwh", "curtailed_kwh", "carbon_kg", "missed_deadlines")
    kept = [
        each for each in quantities if each[0] in runs[0] and (each[0] not in rare or any(row[each[0]] for row in runs))
    ]

    def cell(row: Row, key: str, digits: int) -> Part:
        base = bases[key_of(row)]
        value = row[key]
        shown = number(value, digits)
        if base is None or row is base or value is None or base[key] is None:
            return shown
        more = value - base[key]
        if not round(more, digits):
            return [shown, el("small", "the same", class_="beside")]
        text = ("+" if more > 0 else "") + plain(more, digits)
        part = el("small", signed_percent(more / abs(base[key])), class_="beside") if base[key] else None
        return [shown, el("small", text, class_="beside"), part]

    rows: list[list[Part]] = [
        [names[key_of(row)], *(cell(row, key, digits) for key, _, _, digits in kept)] for row in runs
    ]
    columns = [Column("run", number=False), *(Column(title, unit) for _, title, unit, _ in kept)]
    return grid(
        f"Sums over {counted(runs[0]['days'], 'day')}, with differences to {against}",
        columns,
        rows,
        name="runs",
    )


def energy_table(runs: list[Row], names: dict[str, str]) -> Html:
    """Energy of IT and cooling of each run, as bars and in numbers."""
    top = max(row["it_kwh"] + row["cooling_kwh"] for row in runs) or 1.0

    def bar(value: float, colour: str) -> Html:
        return el("span", class_="share", style=f"width:{100 * value / top:.2f}%;--c:var(--{colour})")

    rows: list[list[Part]] = [
        [
            names[key_of(row)],
            el("div", bar(row["it_kwh"], "it"), bar(row["cooling_kwh"], "cooling"), class_="stack", aria_hidden="true"),
            plain(row["it_kwh"]),
            plain(row["cooling_kwh"]),
            plain(row["it_kwh"] + row["cooling_kwh"]),
        ]
        for row in runs
    ]
    marks = legend([("it", "IT", None), ("cooling", "cooling", None)])
    columns = [Column("run", number=False), Column("", number=False)]
    columns += [Column(name, "kWh") for name in ("IT", "cooling", "both")]
    return el("figure", marks, grid("Energy of IT and of cooling", columns, rows, name="energy"))


def members_table(members: list[Row], names: dict[str, str], currency: str) -> Html:
    """What the same plans come to under each member of the forecasts that they were made for."""
    shown: list[tuple[str, Column, int]] = [
        ("profit_eur", Column("profit", currency), 2),
        ("profit_difference_eur", Column("more than under the mean", currency), 2),
        ("energy_cost_eur", Column("energy and charges", currency), 2),
        ("cooling_cost_eur", Column("of which cooling", currency), 2),
        ("cooling_kwh", Column("cooling", "kWh"), 0),
        ("pue", Column("PUE"), 3),
    ]
    rows: list[list[Part]] = [
        [
            names[key_of(row)],
            row["forecast"],
            row["member"],
            *(number(row[key], digits) for key, _, digits in shown),
        ]
        for row in members
    ]
    columns = [Column("run", number=False), Column("forecast", number=False), Column("member", number=False)]
    caption = "Planned once on the mean of the forecast, and settled under each of its members"
    return grid(caption, [*columns, *(each[1] for each in shown)], rows, name="members")
