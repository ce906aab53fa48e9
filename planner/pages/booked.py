"""Parts of pages about booked days: what was planned beside what happened."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from planner.domain.day_summary import Booked, DaySummary, PlannedFigures
from planner.pages.markup import (
    Column,
    Html,
    Part,
    counted,
    el,
    good_or_bad,
    grid,
    money,
    number,
    plain,
    signed_money,
    signed_percent,
    unit,
)
from planner.store.costs import SITE, WHERE_USED
from planner.store.planned_to_real import CAUSES, MONEY, PlannedAgainstReal, PlannedLine, Split, SplitLine


def mark(*, booked: bool) -> Html:
    """A word that says whether a day is as it happened or only planned."""
    return el("span", "booked" if booked else "planned only", class_="mark booked" if booked else "mark")


def planned_words(summary: DaySummary, booked: Booked) -> Part:
    """What stands below the profit of a booked day: the profit that was planned."""
    if booked.planned is None:
        return "as it happened; it was not planned"
    more = summary.totals.profit_eur - booked.planned.profit_eur
    difference = el("span", signed_money(more, summary.currency), class_=good_or_bad(more))
    return el("span", f"as it happened; planned {money(booked.planned.profit_eur, summary.currency)}, ", difference)


def books_note(summary: DaySummary, booked: Booked) -> Html:
    """Where the day was booked from, and whose energy was measured."""
    sentences = [
        f"Booked from {booked.source}: starts, ends and nodes are those of {counted(booked.jobs, 'job')} that ran,"
        f" {plain(booked.cpu_hours, 1)} CPU-hours as the source counts them."
    ]
    if booked.measured.jobs:
        estimate = unit(booked.measured.estimated_kwh, "kWh", 1)
        sentences.append(
            f"The energy of {counted(booked.measured.jobs, 'job')}, {unit(booked.measured.kwh, 'kWh', 1)} of the day,"
            f" was measured (estimated: {estimate}); that of the others is estimated."
        )
    else:
        sentences.append("Energy is estimated; no measurement could be used.")
    if booked.elsewhere.jobs:
        hours = plain(booked.elsewhere.cpu_hours, 1)
        sentences.append(f"{counted(booked.elsewhere.jobs, 'job')} with {hours} CPU-hours ran on other nodes.")
    return el("p", " ".join(sentences), class_="note")


def against_plan(summary: DaySummary, planned: PlannedFigures) -> Html:
    """The day beside its plan, figure by figure."""
    totals, currency = summary.totals, summary.currency

    def row(name: str, real: float, was: float, show: Callable[[float], str], *, better: int) -> list[Part]:
        more = real - was
        sign = "+" if more > 0 and show(more).strip("0.,") != "" else ""
        class_ = None if not more or not better else "good" if more * better > 0 else "bad"
        part = signed_percent(more / abs(was)) if was else "–"
        return [name, show(was), show(real), el("span", f"{sign}{show(more)}", class_=class_), part]

    def amount(value: float) -> str:
        return money(value, currency)

    def tenths(value: float) -> str:
        return plain(value, 1)

    rows = [
        row("profit", totals.profit_eur, planned.profit_eur, amount, better=1),
        row("revenue", totals.revenue_eur, planned.revenue_eur, amount, better=1),
        row("energy and charges", totals.energy_cost_eur, planned.energy_cost_eur, amount, better=-1),
        row("core-hours", totals.core_hours, planned.core_hours, tenths, better=1),
        row("IT and cooling, kWh", totals.it_kwh + totals.cooling_kwh, planned.kwh, tenths, better=-1),
        row("jobs started", summary.jobs.started, planned.started, plain, better=0),
    ]
    columns = [Column("", number=False), Column("planned"), Column("real"), Column("difference"), Column("", "%")]
    caption = f"Planned against real; the plan is in versions/{planned.version}"
    return grid(caption, columns, rows, name="against-plan", sort=False)


COMPARED = {
    "core_hours": "core\u2011hours",
    "gpu_hours": "GPU\u2011hours",
    "carbon_kg": "kg\u00a0CO₂",
    "revenue_eur": "revenue",
    "cost_eur": "energy\u00a0cost",
    "credit_eur": "credit",
    "profit_eur": "profit",
}
"""Quantities of the table of planned against real, with their headings, which do not break."""
LESS_IS_BETTER = ("cost_eur", "carbon_kg")
ROWS = 1000


def planned_table(found: PlannedAgainstReal, by: str, currency: str) -> Html:
    """What was planned for every account, user or job, what happened, and the difference."""
    names = {name: title for name, title in COMPARED.items() if name not in WHERE_USED or found.has(name)}
    columns = [Column(by, number=False)]
    for title in names.values():
        columns += [Column("", "planned"), Column(title, "real"), Column("", "difference")]

    def cells(line: PlannedLine) -> list[Part]:
        label = {"site": "site, no job's", "all": "all"}.get(line.kind, line.key or "–")
        shown: list[Part] = [label]
        for name in names:
            more = line.difference(name)
            digits = 2 if name.endswith("_eur") else 1
            is_good = (more > 0) == (name not in LESS_IS_BETTER)
            text = plain(float(more), digits)
            difference = el("span", f"{'+' if more > 0 else ''}{text}", class_="good" if is_good else "bad")
            shown += [
                el("data", plain(float(line.planned[name]), digits), value=str(line.planned[name]), class_="soft"),
                number(line.real[name], digits),
                number(more, text=difference if text.strip("0.,") else "–"),
            ]
        return shown

    lines = [*found.lines[:-1][:ROWS], found.lines[-1]]
    caption = f"Planned, real and the difference, by {by}; money in {currency}"
    return grid(caption, columns, map(cells, lines), foot=[cells(found.total)], name="planned", tall=len(lines) > 20)


def split_table(found: Split, by: str, currency: str) -> list[Part]:
    """Why real money is not what was planned: the whole first, then the profit of each line."""
    heads = [name.replace("_", " ") for name in CAUSES]
    columns = [Column("", number=False), *(Column(name) for name in ("planned", *heads, "real"))]

    def cells(label: str, line: SplitLine) -> list[Part]:
        shown = line.in_cents()
        parts = [number(line.parts[name], text=signed(shown[name]) if shown[name] else "–") for name in CAUSES]
        planned = number(line.planned, text=plain(float(shown["planned"]), 2))
        return [label, planned, *parts, number(line.real, text=plain(float(shown["real"]), 2))]

    def signed(cents: Decimal) -> str:
        return f"{'+' if cents > 0 else ''}{plain(float(cents), 2)}"

    whole = grid(
        f"From planned to real in {currency}: each line adds up to the cent",
        columns,
        [cells(MONEY[name], found.total(name)) for name in found.shown],
        name="split",
        sort=False,
    )
    profits = [line for line in found.lines if line.quantity == "profit_eur"][:ROWS]
    labels = {SITE: "site, no job's"}
    rows = [cells(labels.get(line.kind, line.key or "–"), line) for line in profits]
    lines = grid(f"The profit by {by}, in {currency}", columns, rows, name="split-lines", tall=len(rows) > 20)
    words = [el("li", el("b", name.replace("_", " ")), f": {meaning}") for name, meaning in CAUSES.items()]
    return [whole, el("ul", words, class_="soft"), lines]
