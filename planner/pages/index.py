"""The index over all days and scenarios of a reports folder, newest first, kept by every run."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from planner.domain.day_summary import DaySummary
from planner.errors import FileFormatError, OutputError
from planner.pages.booked import mark
from planner.pages.formats import counted, money, percent, plain
from planner.pages.grid import Column, grid
from planner.pages.markup import Html, Part, document, el
from planner.store.files import alone_in, put
from planner.store.results import read_summary
from planner.store.write_tables import encoded

NAME = "index.html"


@dataclass(frozen=True)
class Entry:
    """A written day: where it is, below the reports folder, and its summary."""

    folder: Path
    summary: DaySummary

    @property
    def scenario(self) -> str:
        """The scenario of the folder."""
        return self.folder.parent.name

    @property
    def page(self) -> str:
        """The link to its page."""
        return quote(f"{self.folder.as_posix()}/report.html")


def write_index(reports: Path) -> Path:
    """Write the index of a reports folder anew, in one step; one run at a time, so that the last one sees all days."""
    target = reports / NAME
    try:
        with alone_in(reports):
            put(target, encoded(index_page(list(entries(reports)), comparisons(reports))))
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; the day itself is written") from error
    return target


def entries(reports: Path) -> Iterator[Entry]:
    """Every day that can be read; others are left to ``plan report``, which names them."""
    for path in sorted(reports.glob("*/[0-9]*/summary.json")):
        try:
            yield Entry(path.parent.relative_to(reports), read_summary(path.parent))
        except FileFormatError:
            continue


def comparisons(reports: Path) -> list[str]:
    """Pages of comparisons and cost reports, as paths below the folder."""
    found = [*reports.glob("compare/*/*/compare.html"), *reports.glob("*/costs/*.html")]
    return sorted((path.relative_to(reports).as_posix() for path in found), reverse=True)


def index_page(days: list[Entry], others: list[str]) -> str:
    """The page: months at a glance, then every day, newest first."""
    newest = sorted(days, key=lambda each: each.scenario)
    newest.sort(key=lambda each: each.summary.day, reverse=True)
    scenarios = sorted({each.scenario for each in days})
    header = el(
        "header",
        el("h1", "Planned days"),
        el("p", f"{counted(len(days), 'day')} of {counted(len(scenarios), 'scenario')}, newest first", class_="soft"),
    )
    months = [
        _month(list(group), year_month, scenario)
        for scenario in scenarios
        for year_month, group in groupby(
            [each for each in newest if each.scenario == scenario],
            key=lambda each: (each.summary.day.year, each.summary.day.month),
        )
    ]
    months.sort(key=lambda pair: pair[0], reverse=True)
    links = el("ul", [el("li", el("a", path, href=quote(path))) for path in others])
    main = el(
        "main",
        el("section", [html for _, html in months], class_="months", aria_label="Months at a glance"),
        [el("h2", "Comparisons and cost reports"), links] if others else None,
        el("h2", "All days"),
        _table(newest) if newest else el("p", "No day is planned yet."),
        id="main",
    )
    return document("Planned days", header, main)


def _month(days: list[Entry], year_month: tuple[int, int], scenario: str) -> tuple[tuple[int, int], Html]:
    year, month = year_month
    by_day = {each.summary.day.day: each for each in days}
    profits = [each.summary.totals.profit_eur for each in days]
    low, high = min(profits), max(profits)
    weeks = [
        el("tr", [el("td", _cell(by_day.get(number), number, low, high)) for number in week])
        for week in calendar.Calendar().monthdayscalendar(year, month)
    ]
    total = money(sum(profits), days[0].summary.currency)
    heads = el("tr", [el("th", name, scope="col") for name in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")])
    caption = el("caption", f"Profit {total} on {counted(len(days), 'day')}; darker earns more")
    title = f"{scenario}, {calendar.month_name[month]} {year}"
    table = el("table", caption, el("thead", heads), el("tbody", weeks))
    return year_month, el("div", el("h2", title), table, class_="month")


def _cell(entry: Entry | None, number: int, low: float, high: float) -> Part:
    if not number:
        return ""
    if entry is None:
        return el("small", str(number))
    profit, currency = entry.summary.totals.profit_eur, entry.summary.currency
    strength = 12 + round(48 * (profit - low) / (high - low)) if high > low else 30
    label = f"{entry.summary.day}: profit {money(profit, currency)}{', booked' if entry.summary.booked else ''}"
    style = f"background:color-mix(in srgb, var(--revenue) {strength}%, var(--ground))"
    short = money(profit, currency, 0) if abs(profit) < 1e5 else f"{plain(profit / 1000)}k"
    return el("a", str(number), el("small", short), href=entry.page, style=style, aria_label=label)


def _table(days: list[Entry]) -> Html:
    columns = [
        *(Column(title, number=False) for title in ("day", "scenario", "method")),
        Column("profit"),
        Column("gap", "at most"),
        Column("revenue"),
        Column("IT", "kWh"),
        Column("cooling", "kWh"),
        Column("PUE"),
        Column("utilisation"),
        Column("jobs", "started"),
        Column("jobs", "deferred"),
    ]
    return grid("Every day with its page", columns, [_row(each) for each in days], name="days")


def _row(entry: Entry) -> list[Part]:
    summary, totals, gap = entry.summary, entry.summary.totals, entry.summary.profit_gap_fraction
    return [
        el("a", summary.day.isoformat(), href=entry.page),
        entry.scenario,
        mark(booked=True) if summary.booked else summary.method,
        el("data", money(totals.profit_eur, summary.currency), value=repr(totals.profit_eur)),
        "–" if gap is None else percent(gap, 2),
        money(totals.revenue_eur, summary.currency),
        plain(totals.it_kwh),
        plain(totals.cooling_kwh),
        f"{totals.pue:.3f}",
        percent(summary.utilisation_fraction),
        f"{summary.jobs.started:,}",
        f"{summary.jobs.deferred:,}",
    ]
