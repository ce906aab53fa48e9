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
from planner.pages.markup import (
    Column,
    Html,
    Part,
    counted,
    document,
    el,
    gap_distance,
    grid,
    money,
    number,
    page_head,
    percent,
    plain,
)
from planner.store.folder import alone_in, put
from planner.store.read_json import read_summary
from planner.text_files import encoded
from planner.units import is_share

NAME = "index.html"


@dataclass(frozen=True)
class IndexEntry:
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

    @property
    def gap(self) -> float | None:
        """How far the profit is at most from the best possible, as a share; None on a nearly idle day too."""
        gap = self.summary.profit_gap_fraction
        return gap if gap is not None and is_share(gap) else None

    @property
    def distance(self) -> str:
        """The same in words: on a nearly idle day in money."""
        limit_eur, gap = self.summary.profit_bound_eur, self.summary.profit_gap_fraction
        if limit_eur is None or gap is None:
            return ""
        return gap_distance(limit_eur, gap, self.summary.currency)


def write_index(reports: Path) -> Path:
    """Write the index of a reports folder anew, in one step; one run at a time, so that the last one sees all days."""
    target = reports / NAME
    try:
        with alone_in(reports):
            put(target, encoded(index_page(list(entries(reports)), comparisons(reports))))
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; the day itself is written") from error
    return target


def entries(reports: Path) -> Iterator[IndexEntry]:
    """Every day that can be read; others are left to ``plan report``, which names them."""
    for path in sorted(reports.glob("*/[0-9]*/summary.json")):
        try:
            yield IndexEntry(path.parent.relative_to(reports), read_summary(path.parent))
        except FileFormatError:
            continue


def comparisons(reports: Path) -> list[str]:
    """Pages of comparisons and cost reports, as paths below the folder."""
    found = [*reports.glob("compare/*/*/compare.html"), *reports.glob("*/costs/*.html")]
    return sorted((path.relative_to(reports).as_posix() for path in found), reverse=True)


def index_page(days: list[IndexEntry], others: list[str]) -> str:
    """The page: every scenario in a sentence and a line, months at a glance, then every day, newest first."""
    newest = sorted(days, key=lambda each: each.scenario)
    newest.sort(key=lambda each: each.summary.day, reverse=True)
    scenarios = sorted({each.scenario for each in days})
    of_scenario = {name: [each for each in newest if each.scenario == name] for name in scenarios}
    words = f"{counted(len(days), 'day')} of {counted(len(scenarios), 'scenario')}, newest first"
    header = page_head("Planned days", words)
    months = [
        _month(list(group), year_month, scenario)
        for scenario in scenarios
        for year_month, group in groupby(
            of_scenario[scenario], key=lambda each: (each.summary.day.year, each.summary.day.month)
        )
    ]
    months.sort(key=lambda pair: pair[0], reverse=True)
    links = el("ul", [el("li", el("a", words_of(path), href=quote(path))) for path in others])
    main = el(
        "main",
        _filters(newest, scenarios) if newest else None,
        el("section", [_card(of_scenario[name]) for name in scenarios], class_="cards", aria_label="Scenarios"),
        [el("h2", "Months at a glance"), _colouring()] if newest else None,
        el("section", [html for _, html in months], class_="months", data_shown="profit", aria_label="Months"),
        [el("h2", "Comparisons and cost reports"), links] if others else None,
        el("h2", "All days"),
        _table(newest) if newest else el("p", "No day is planned yet."),
        id="main",
    )
    return document("Planned days", header, main, scripts=("index.js",) if newest else ())


def words_of(path: str) -> str:
    """What a page of several days is called: its path in words."""
    parts = path.removesuffix(".html").split("/")
    if parts[0] == "compare":
        first, _, last = parts[2].partition("_")
        span = first if last in ("", first) else f"{first} to {last}"
        return f"Comparison of {', '.join(parts[1].split('+'))}: {span}"
    asked, _, by = parts[2].partition("-by-")
    return f"Costs of {parts[0]} by {by}: {asked.replace('_', ' to ')}"


def _filters(newest: list[IndexEntry], scenarios: list[str]) -> Html:
    """Boxes that show some of the days only; choices of one are left out."""
    months = sorted({each.summary.day.isoformat()[:7] for each in newest}, reverse=True)

    def choice(name: str, label: str, all_of: str, values: list[str]) -> Html | None:
        options = [el("option", all_of, value=""), *(el("option", each, value=each) for each in values)]
        return el("select", options, id=f"filter-{name}", aria_label=label) if len(values) > 1 else None

    return el(
        "div",
        choice("scenario", "Scenario", "All scenarios", scenarios),
        choice("month", "Month", "All months", months),
        el("input", id="filter-words", type="search", placeholder="Find days", aria_label="Find days by any words"),
        el("output", id="filter-count", aria_live="polite"),
        class_="bar",
    )


def _card(days: list[IndexEntry]) -> Html:
    """A scenario in a sentence, its newest day, and its profit from day to day."""
    first, last = days[-1].summary.day, days[0].summary.day
    currency = days[0].summary.currency
    profits = [each.summary.totals.profit_eur for each in days]
    worst = max((each for each in days if each.gap is not None), key=lambda each: each.gap or 0.0, default=None)
    span = f"{first}" if first == last else f"{first} to {last}"
    text = f"{counted(len(days), 'day')}, {span}: profit {_profit(days)}"
    text += f", {money(sum(profits) / len(profits), currency)} a day" if len(days) > 1 and not _is_mixed(days) else ""
    text += f"; at most {worst.distance} below the best possible" if worst is not None else ""
    idle = sum(each.gap is None and bool(each.distance) for each in days)
    text += f", but for {counted(idle, 'nearly idle day')}" if idle and worst is not None else ""
    return el(
        "div",
        el("h2", days[0].scenario),
        el("p", text, "."),
        _spark(days) if len(days) > 1 else None,
        el("p", el("a", f"Newest day: {last}", href=days[0].page)),
        class_="card",
        data_scenario=days[0].scenario,
    )


def _is_mixed(days: list[IndexEntry]) -> bool:
    """Whether some days are booked and others only planned: their money does not stand in one sum."""
    return len({each.summary.booked is None for each in days}) > 1


def _profit(days: list[IndexEntry]) -> str:
    """The profit of days; where some are booked, theirs and that of the others."""
    if not _is_mixed(days):
        return money(sum(each.summary.totals.profit_eur for each in days), days[0].summary.currency)
    booked = [each for each in days if each.summary.booked]
    planned = [each for each in days if not each.summary.booked]
    of_plans = f"{_profit(planned)} on {len(planned)} only planned"
    return f"{_profit(booked)} on {counted(len(booked), 'booked day')} and {of_plans}"


def _spark(days: list[IndexEntry]) -> Html:
    """Profit from day to day as a line without axes, its lowest and highest day named below."""
    first, currency = days[-1].summary.day, days[0].summary.currency
    points = [((each.summary.day - first).days, each.summary.totals.profit_eur) for each in reversed(days)]
    low, high = min(value for _, value in points), max(value for _, value in points)
    wide, tall = points[-1][0], (high - low) or 1.0
    path = " ".join(f"{1 + 98 * at / wide:.2f},{36 - 32 * (value - low) / tall:.2f}" for at, value in points)
    aloud = f"Profit from day to day, between {money(low, currency)} and {money(high, currency)}"
    line = el("polyline", points=path, vector_effect="non-scaling-stroke")
    drawing = el("svg", line, viewBox="0 0 100 40", preserveAspectRatio="none", role="img", aria_label=aloud)
    return el(
        "div", drawing, el("small", f"{money(low, currency, 0)} to {money(high, currency, 0)} a day"), class_="spark"
    )


def _colouring() -> Html:
    """Buttons that choose what the colour of a day tells."""
    choices = [
        el("button", word, type="button", data_by=word, aria_pressed="true" if word == "profit" else "false")
        for word in ("profit", "gap")
    ]
    hint = el("span", "a fuller colour: earns more, or is farther from the best possible")
    return el("p", "coloured by ", choices, " ", hint, class_="choice")


def _month(days: list[IndexEntry], year_month: tuple[int, int], scenario: str) -> tuple[tuple[int, int], Html]:
    year, month = year_month
    by_day = {each.summary.day.day: each for each in days}
    profits = [each.summary.totals.profit_eur for each in days]
    gaps = [each.gap or 0.0 for each in days]
    weeks = [
        el("tr", [el("td", _cell(by_day.get(number), number, profits, gaps)) for number in week])
        for week in calendar.Calendar().monthdayscalendar(year, month)
    ]
    heads = el("tr", [el("th", name, scope="col") for name in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")])
    caption = el("caption", f"Profit {_profit(days)}" + ("" if _is_mixed(days) else f" on {counted(len(days), 'day')}"))
    title = f"{scenario}, {calendar.month_name[month]} {year}"
    table = el("table", caption, el("thead", heads), el("tbody", weeks))
    whole = el("div", el("h3", title), table, class_="month", data_scenario=scenario, data_month=f"{year}-{month:02}")
    return year_month, whole


def _cell(entry: IndexEntry | None, number: int, profits: list[float], gaps: list[float]) -> Part:
    if not number:
        return ""
    if entry is None:
        return el("small", str(number))
    summary, gap, far = entry.summary, entry.gap, entry.distance
    profit, currency = summary.totals.profit_eur, summary.currency
    near = f", at most {far} below the best possible" if far else ""
    label = f"{summary.day}: profit {money(profit, currency)}{near}{', booked' if summary.booked else ''}"
    short = money(profit, currency, 0) if abs(profit) < 1e5 else f"{plain(profit / 1000)}k"
    style = f"--profit-part:{_strength(profit, profits)}%;--gap-part:{0 if gap is None else _strength(gap, gaps)}%"
    return el(
        "a",
        str(number),
        el("small", short, class_="of-profit"),
        el("small", percent(gap) if gap is not None else far or "–", class_="of-gap"),
        href=entry.page,
        style=style,
        aria_label=label,
    )


def _strength(value: float, among: list[float]) -> int:
    """How strong the colour of a value is among others, in percent."""
    low, high = min(among), max(among)
    return 12 + round(48 * (value - low) / (high - low)) if high > low else 30


def _table(days: list[IndexEntry]) -> Html:
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


def _row(entry: IndexEntry) -> list[Part]:
    summary, totals = entry.summary, entry.summary.totals
    return [
        el("a", summary.day.isoformat(), href=entry.page),
        entry.scenario,
        mark(booked=True) if summary.booked else summary.method,
        number(totals.profit_eur, text=money(totals.profit_eur, summary.currency)),
        number(summary.profit_gap_fraction, text=entry.distance) if entry.distance else "–",
        money(totals.revenue_eur, summary.currency),
        plain(totals.it_kwh),
        plain(totals.cooling_kwh),
        f"{totals.pue:.3f}",
        percent(summary.utilisation_fraction),
        f"{summary.jobs.started:,}",
        f"{summary.jobs.deferred:,}",
    ]
