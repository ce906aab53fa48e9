"""The page of what a month would have saved: the answer, a row for each promise, waits, what is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.pages.markup import (
    Column,
    Html,
    Part,
    counted,
    document,
    el,
    grid,
    hours,
    number,
    page_head,
    percent,
    plain,
)
from planner.pages.scatter import Axis, Point, Series, scatter

Row = Mapping[str, Any]


def savings_page(about: Row) -> str:
    """The page of what savings.json says."""
    rows = list(about["runs"])
    title = f"What would have been saved: {about['source'].rpartition('/')[2]}"
    size = f"{counted(about['jobs'], 'job')} over {counted(about['days'], 'day')} on {about['cores']:,} cores."
    header = page_head(title, f"{size} Money is in EUR.")
    main = el(
        "main",
        el("p", about["answer"], class_="answer"),
        _table(rows),
        el("p", READING, class_="soft"),
        el("h2", "Money and waits"),
        _figure(rows),
        el("h2", "What is assumed"),
        el("ul", [el("li", f"{each}.") for each in about["assumed"]]),
        el("h2", "What next"),
        el(
            "p",
            el("code", "plan init --from-sacct FILE DIR"),
            " writes a site with these nodes and jobs to go on from.",
        ),
        id="main",
    )
    files = [[el("a", name, href=name), " "] for name in ("savings.csv", "savings.json", "pue.csv")]
    return document(title, header, main, el("footer", el("p", "All digits: ", files)))


NEXT = " writes a site with these nodes and jobs to go on from."
READING = (
    "Held up to 6 h: no job is kept back for longer than that, from the moment at which EASY would have started it."
    " At most: what no schedule saves more of in which every job starts within so many hours of its start under EASY,"
    " with all jobs, runtimes and prices known ahead. Waits are of every job, from its submission to its start."
)


def _table(rows: list[Row]) -> Html:
    has_carbon = any(row["carbon_kg"] for row in rows)
    columns = [Column("run", number=False), Column("energy cost", "EUR"), Column("saved", "EUR"), Column("", "%")]
    columns += [Column("at most", "EUR"), Column("", "%"), Column("energy", "kWh")]
    columns += [Column("CO₂", "kg"), Column("CO₂", "kg saved")] if has_carbon else []
    columns += [
        Column("wait", "mean"),
        Column("wait", "95 % at most"),
        Column("wait", "longest"),
        Column("jobs", "held"),
    ]

    lines = []
    for row in rows:
        own: list[Part] = [row["run"], number(row["energy_cost_eur"], 2)]
        is_held = bool(row["max_delay_h"])
        own += [number(row["saved_eur"], 2), number(row["saved_percent"], 2)] if is_held else ["–", "–"]
        own += [number(row["limit_eur"], 2), number(row["limit_percent"], 2)]
        own.append(number(row["it_kwh"] + row["cooling_kwh"]))
        if has_carbon:
            own += [number(row["carbon_kg"]), number(row["saved_carbon_kg"]) if is_held else "–"]
        waits = (row[key] for key in ("mean_wait_s", "wait95_s", "longest_wait_s"))
        own += [number(each, text=None if each is None else hours(each)) for each in waits]
        lines.append([*own, number(row["held_jobs"])])
    return grid("The same jobs as they ran, under EASY, and held for cheaper hours", columns, lines, name="savings")


def _figure(rows: list[Row]) -> Html:
    base = next(row for row in rows if row["max_delay_h"] == 0)
    held = [row for row in rows if row["max_delay_h"] is not None]
    cost = abs(base["energy_cost_eur"]) or 1.0
    points = [
        Point(
            f"{row['max_delay_h']} h",
            row["wait_more_s"] / 3600,
            row["saved_eur"],
            f"held up to {row['max_delay_h']} h: {plain(row['saved_eur'], 2)} EUR saved, mean wait"
            f" {hours(row['mean_wait_s'])}",
            "a0",
        )
        for row in held
    ]
    digits = 0 if max(abs(row["saved_eur"]) for row in held) >= 10 else 2
    return scatter(
        "Saved against EASY, by how long jobs may be held",
        [Series("held", "a0", points, joined=True)],
        Axis("mean wait added to EASY's", lambda value: hours(value * 3600)),
        Axis("saved, EUR", lambda value: plain(value, digits)),
        beside=Axis("of EASY's energy cost", lambda value: percent(value / cost, 1), cost / 100),
        name="waits",
    )
