"""The page of a cost report: who used what, what it earned and cost, and the days it is made of."""

from __future__ import annotations

from typing import Any

from planner.pages.booked import mark, planned_table, split_table
from planner.pages.day import SHARES, tile, zoom_bar
from planner.pages.markup import (
    SIGNS,
    Column,
    Html,
    Part,
    counted,
    days_from,
    document,
    el,
    grid,
    money,
    number,
    page_head,
    percent,
    plain,
    unit,
)
from planner.pages.time_axis import Panel, days_between, days_payload, layer
from planner.store.cost_files import CostReport, report_rows
from planner.store.costs import WHERE_USED, CostDay, Sums

ROWS = 1000
"""Lines on the page; all are in the CSV."""
LINE_QUANTITIES = (
    *("core_hours", "gpu_hours", "it_kwh", "cooling_kwh", "carbon_kg", "revenue_eur", "it_cost_eur"),
    *("cooling_cost_eur", "carbon_cost_eur", "demand_cost_eur", "credit_eur", "profit_eur"),
)
DAY_QUANTITIES = (
    *("core_hours", "gpu_hours", "it_kwh", "cooling_kwh", "carbon_kg", "revenue_eur", "cost_eur"),
    *("credit_eur", "profit_eur"),
)


def costs_page(report: CostReport, csv_name: str) -> str:
    """The page of a report whose CSV stands beside it."""
    totals, currency = report.totals, report.currency
    first, last = report.days[0].day, report.days[-1].day
    kinds = "booked as it happened" if report.is_booked else "only planned"
    words = f"{days_from(len(report.days), first, last)}, {kinds}"
    header = page_head(f"{report.scenario}: costs by {report.by}, {report.asked}", words, index="../../index.html")
    panels = _panels(report) if len(report.days) > 1 else []
    main = el(
        "main",
        _tiles(report, totals),
        _remarks(report),
        [zoom_bar(), [panel.html() for panel in panels]] if panels else None,
        el("h2", f"By {report.by}"),
        el("p", SHARES),
        _lines(report, totals, csv_name),
        *_budgets(report),
        *_planned(report, csv_name),
        el("h2", "By day"),
        _days(report, totals),
        id="main",
    )
    foot = el("footer", el("p", "All digits: ", el("a", csv_name, href=csv_name), f". Money is in {currency}."))
    title = f"{report.scenario}, costs by {report.by}, {report.asked}"
    if not panels:
        return document(title, header, main, foot)
    payload = days_payload(days_between(first, last), panels)
    return document(title, header, main, foot, scripts=("view.js", "panels.js"), payload=payload)


def _planned(report: CostReport, csv_name: str) -> list[Part]:
    """Planned against real and what made the difference, where some days have both."""
    if report.planned is None or report.split is None:
        return []

    def words(text: str, end: str) -> Html:
        name = csv_name.replace(".csv", f"{end}.csv")
        return el("p", f"{text} In full in ", el("a", name, href=name), ".")

    days = report.planned.days
    both = f"{counted(days, 'day')} that {'is' if days == 1 else 'are'} booked and had been planned"
    return [
        el("h2", "Planned against real"),
        words(f"On {both}: what happened, and how far it is from the first plan of the day.", "-planned"),
        planned_table(report.planned, report.by, report.currency),
        el("h2", "Why real is not as planned"),
        words("The plan is turned into what happened step by step, and each step is settled.", "-split"),
        *split_table(report.split, report.by, report.currency),
    ]


def _budgets(report: CostReport) -> list[Part]:
    """How much of their budgets accounts have used, the marked ones first."""
    if not report.budgets:
        return []
    columns = [
        Column("account", number=False, wrap=True),
        *(Column(name, report.currency) for name in ("budget", "used", "here", "left")),
        Column("used", "%"),
        Column("", number=False),
    ]
    rows: list[list[Part]] = []
    for each in sorted(report.budgets, key=lambda each: (-each.used_percent, each.account)):
        amounts = (each.eur, each.used_eur, each.here_eur, each.eur - each.used_eur)
        word = {"100 %": "used up", "80 %": "80 % used"}.get(each.mark)
        marked = None if word is None else el("span", word, class_="mark bad" if each.mark == "100 %" else "mark")
        rows.append(
            [
                each.account,
                *(number(value, 2) for value in amounts),
                number(each.used_percent, 1),
                marked,
            ]
        )
    first, until = report.budgets[0].first, report.budgets[0].until
    what = "billed" if report.is_booked else "planned, not billed,"
    caption = f"What was {what} from {first} to {until}, beside the budget of that time; here: in this report"
    return [el("h2", "Budgets"), grid(caption, columns, rows, name="budgets")]


def _tiles(report: CostReport, totals: Sums) -> Html:
    currency = report.currency
    pue = 1 + float(totals["cooling_kwh"] / totals["it_kwh"]) if totals["it_kwh"] else 1.0

    def amount(name: str, key: str, *notes: str, main: bool = False) -> Html:
        value = float(totals[key])
        return tile(name, value, money(value, currency), *notes, main=main, key=key)

    credit = float(totals["credit_eur"])
    with_credit = f", with a credit of {money(credit, currency)}" if credit else ""
    shown = [
        amount(
            "Profit", "profit_eur", f"revenue less {money(float(totals['cost_eur']), currency)}{with_credit}", main=True
        ),
        amount("Revenue", "revenue_eur", f"{plain(float(totals['core_hours']))} core-hours"),
        amount("IT energy", "it_cost_eur", unit(float(totals["it_kwh"]), "kWh")),
        amount("Cooling energy", "cooling_cost_eur", unit(float(totals["cooling_kwh"]), "kWh")),
        tile("PUE", pue, f"{pue:.3f}", "whole site over IT"),
    ]
    if totals["gpu_hours"]:
        shown.append(tile("GPU-hours", float(totals["gpu_hours"]), plain(float(totals["gpu_hours"])), "asked for"))
    if totals["carbon_kg"]:
        emitted = unit(float(totals["carbon_kg"]), "kg CO₂", 1)
        shown.append(amount("Carbon", "carbon_cost_eur", emitted))
    if totals["demand_cost_eur"]:
        shown.append(amount("Demand charge", "demand_cost_eur"))
    if credit:
        shown.append(amount("Credit", "credit_eur", "fed in, battery; no job's"))
    return el("dl", shown, class_="tiles")


def _remarks(report: CostReport) -> list[Html]:
    notes = []
    if report.missing:
        notes.append(el("p", f"{counted(report.missing, 'day')} of {report.asked} not planned.", class_="note"))
    if report.left_out:
        which = "only planned" if report.is_booked else "booked"
        verb = "is" if report.left_out == 1 else "are"
        notes.append(
            el("p", f"{counted(report.left_out, 'day')} that {verb} {which}: not in any sum here.", class_="note")
        )
    if report.skipped:
        lines = [el("li", f"{path}: {why}") for path, why in report.skipped]
        notes.append(el("div", "Skipped, and not in any sum:", el("ul", lines), class_="note", id="skipped"))
    return notes


def _panels(report: CostReport) -> list[Panel]:
    first = report.days[0].day
    by_offset = {(each.day - first).days: each for each in report.days}
    span = max(by_offset) + 1
    sign = SIGNS.get(report.currency, "")
    unit_text = "" if sign else report.currency

    def values(name: str, absent: float | None = 0.0) -> list[Any]:
        return [round(float(by_offset[k].totals[name]), 6) if k in by_offset else absent for k in range(span)]

    def layer_of(kind: str, name: str, colour: str, numbers: list[Any]) -> dict[str, Any]:
        return layer(kind, "days", name, colour, numbers, unit_text, 2, before=sign)

    income = [
        layer_of("stack", "revenue", "revenue", values("revenue_eur")),
        layer_of("line", "profit", "profit", values("profit_eur", absent=None)),
    ]
    costs = [
        layer_of("stack", "IT energy", "it", values("it_cost_eur")),
        layer_of("stack", "cooling energy", "cooling", values("cooling_cost_eur")),
    ]
    for name, colour in (("carbon_cost_eur", "carbon"), ("demand_cost_eur", "other")):
        if report.totals[name]:
            costs.append(layer_of("stack", name.removesuffix("_cost_eur"), colour, values(name)))
    energy = [
        layer("stack", "days", "IT", "it", values("it_kwh"), "kWh", 0),
        layer("stack", "days", "cooling", "cooling", values("cooling_kwh"), "kWh", 0),
    ]
    pue = [round(_pue(by_offset[k]), 6) if k in by_offset else None for k in range(span)]
    bars = {"bars": True}
    return [
        Panel("money", f"Revenue and profit by day, {report.currency}", "One bar per day.", income, 190, extra=bars),
        Panel("costs", f"Costs by day, {report.currency}", "One bar per day.", costs, 150, extra=bars),
        Panel("energy", "Energy by day, kWh", "One bar per day.", energy, 170, extra=bars),
        Panel(
            "pue", "PUE by day", "One point per day.", [layer("line", "days", "PUE", "it", pue, "", 3)], 110, zero=False
        ),
    ]


def _pue(day: CostDay) -> float:
    it_kwh = day.totals["it_kwh"]
    return 1 + float(day.totals["cooling_kwh"] / it_kwh) if it_kwh else 1.0


def _lines(report: CostReport, totals: Sums, csv_name: str) -> Html:
    rows = report_rows(report)
    others = () if report.by == "job" else ("class", "partition", "qos")
    names = [name for name in ("job_id", "name", "account", "user", *others) if name in rows[0]]
    kept = [name for name in LINE_QUANTITIES if name not in WHERE_USED or totals[name]]
    columns = [
        *(Column(name.replace("_id", ""), number=False, wrap=True) for name in names),
        *([Column("jobs")] if report.by != "job" else []),
        Column("mean wait" if report.by != "job" else "waited", "h"),
        *(_column(name, report.currency) for name in kept),
        Column("of profit", "%"),
    ]
    shown, whole = rows[:-1][:ROWS], float(totals["profit_eur"])

    def cells(row: dict[str, Any], label: str | None = None) -> list[Part]:
        heads: list[Part] = (
            [row[name] or "–" for name in names] if label is None else [label, *([""] * (len(names) - 1))]
        )
        return [
            *heads,
            *([f"{row['jobs']:,}"] if report.by != "job" else []),
            number(row["mean_wait_h"], 1),
            *(number(row[name], _digits(name)) for name in kept),
            percent(float(row["profit_eur"]) / whole) if whole else "–",
        ]

    total = {
        "jobs": len({job for line in report.lines for job in line.job_ids}),
        "mean_wait_h": report.mean_wait_h,
    } | dict(totals)
    foot = [cells(rows[-1], "site, no job's"), cells(total, "all days")]
    more = f"; the first {ROWS:,} of {len(rows) - 1:,}, all in {csv_name}" if len(rows) - 1 > ROWS else ""
    caption = f"By revenue, from schedule.csv of each day{more}. Rows are rounded for the eye, the last row is exact"
    return grid(caption, columns, [cells(row) for row in shown], foot=foot, name="lines", tall=len(shown) > 20)


def _days(report: CostReport, totals: Sums) -> Html:
    kept = [name for name in DAY_QUANTITIES if name not in WHERE_USED or totals[name]]
    columns = [
        Column("day", number=False),
        Column("", number=False),
        Column("jobs"),
        *(_column(name, report.currency) for name in kept),
        Column("PUE"),
    ]

    def cells(sums: Sums) -> list[Part]:
        return [number(sums[name], _digits(name)) for name in kept]

    rows: list[list[Part]] = [
        [
            el("a", day.day.isoformat(), href=f"../{day.day}/report.html"),
            mark(booked=day.is_booked),
            f"{len(day.jobs):,}",
            *cells(day.totals),
            f"{_pue(day):.3f}",
        ]
        for day in report.days
    ]
    return grid(
        "Totals of each day, from summary.json",
        columns,
        rows,
        foot=[["all days", "", "", *cells(totals), ""]],
        name="days",
    )


def _column(name: str, currency: str) -> Column:
    titles = {
        "core_hours": "core-hours",
        "gpu_hours": "GPU-hours",
        "carbon_kg": "CO₂",
        "it_kwh": "IT",
        "cooling_kwh": "cooling",
        "revenue_eur": "revenue",
        "it_cost_eur": "IT energy",
        "cooling_cost_eur": "cooling",
        "carbon_cost_eur": "carbon",
        "demand_cost_eur": "demand",
        "cost_eur": "costs",
        "credit_eur": "credit",
        "profit_eur": "profit",
    }
    units = {"hours": "", "kwh": "kWh", "kg": "kg", "eur": currency}
    return Column(titles[name], units[name.rpartition("_")[2]])


def _digits(name: str) -> int:
    return 2 if name.endswith("_eur") else 1
