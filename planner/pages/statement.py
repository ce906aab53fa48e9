"""The page of a statement: what an account was billed, for whom and for which jobs."""

from __future__ import annotations

from typing import Any

from planner.pages.day import tile
from planner.pages.markup import (
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
from planner.store.budgets import AccountBudget
from planner.store.statements import Statement

ROWS = 1000
"""Jobs on the page; all are in the CSV."""

_TITLES = {
    "core_hours": ("core-hours", ""),
    "gpu_hours": ("GPU-hours", ""),
    "kwh": ("energy", "kWh"),
    "carbon_kg": ("CO₂", "kg"),
    "billed_eur": ("billed", ""),
    "energy_cost_eur": ("energy cost", ""),
}


def statement_page(statement: Statement, stem: str) -> str:
    """The page of a statement whose CSV and workbook stand beside it under the same name."""
    report = statement.report
    first, last = report.days[0].day, report.days[-1].day
    account = statement.account or "no account"
    which = "as it happened" if report.is_booked else "only planned: this is no bill"
    title = f"Statement of {account}, {report.asked}"
    words = f"{report.scenario}: {days_from(len(report.days), first, last)}, {which}"
    header = page_head(title, words, index="../../../index.html")
    total = statement.rows()[-1]
    used = [name for name in _TITLES if name not in ("gpu_hours", "carbon_kg") or total[name]]
    main = el(
        "main",
        _tiles(statement, total),
        _remarks(statement),
        el("h2", "By user"),
        _users(statement, used),
        el("h2", "By job"),
        _jobs(statement, used),
        id="main",
    )
    links = [el("a", f"{stem}.{end}", href=f"{stem}.{end}") for end in ("csv", "xlsx")]
    foot = el("footer", el("p", "All digits: ", links[0], " and ", links[1], f". Money is in {report.currency}."))
    return document(title, header, main, foot)


def _tiles(statement: Statement, total: dict[str, Any]) -> Html:
    currency, jobs = statement.report.currency, len(statement.jobs)
    billed, hours, kwh, carbon = (float(total[name]) for name in ("billed_eur", "core_hours", "kwh", "carbon_kg"))
    shown = [
        tile("Billed", billed, money(billed, currency), counted(jobs, "job"), main=True, key="billed_eur"),
        tile("Core-hours", hours, plain(hours, 1)),
        tile("Energy", kwh, unit(kwh, "kWh", 1), "IT and cooling"),
    ]
    if carbon:
        shown.append(tile("Carbon", carbon, unit(carbon, "kg CO₂", 1)))
    if statement.budget is not None:
        budget = statement.budget
        words = (
            f"{money(float(budget.used_eur), currency)} of {money(float(budget.eur), currency)} since {budget.first}"
        )
        shown.append(tile("Budget used", budget.used_percent, percent(budget.used_percent / 100), words))
    return el("dl", shown, class_="tiles")


def _remarks(statement: Statement) -> list[Html]:
    report, notes = statement.report, []
    if statement.budget is not None and statement.budget.mark:
        notes.append(el("p", budget_words(statement.budget), class_="note"))
    if report.missing:
        notes.append(el("p", f"{counted(report.missing, 'day')} of {report.asked} without a result.", class_="note"))
    if report.left_out:
        which = "only planned" if report.is_booked else "booked"
        notes.append(el("p", f"{counted(report.left_out, 'day')} {which}: not in any sum here.", class_="note"))
    if report.skipped:
        notes.append(el("p", f"{counted(len(report.skipped), 'folder')} skipped: not in any sum here.", class_="note"))
    return notes


def budget_words(budget: AccountBudget) -> str:
    """What a mark on a budget says."""
    if budget.mark == "100 %":
        return f"The budget since {budget.first} is used up: {budget.used_percent:,.1f} % until {budget.until}."
    return (
        f"More than 80 % of the budget since {budget.first} is used: {budget.used_percent:,.1f} % until {budget.until}."
    )


def _users(statement: Statement, used: list[str]) -> Html:
    columns = [Column("user", number=False, wrap=True), Column("jobs"), *_columns(statement, used)]
    rows = [[row["user"] or "–", f"{row['jobs']:,}", *_cells(row, used)] for row in statement.user_rows()]
    total = statement.rows()[-1]
    foot = [["all", f"{len(statement.jobs):,}", *_cells(total, used)]]
    return grid(
        "Users of the account, by what is billed. Rows are rounded for the eye, the last row is exact",
        columns,
        rows,
        foot=foot,
        name="users",
    )


def _jobs(statement: Statement, used: list[str]) -> Html:
    names = ("job_id", "name", "user", "first_day", "last_day")
    rows = statement.rows()
    titles = ("job", "name", "user", "from", "to")
    columns = [*(Column(each, number=False, wrap=True) for each in titles), *_columns(statement, used)]
    shown = rows[:-1][:ROWS]
    more = f"; the first {ROWS:,} of {len(rows) - 1:,}, all in the CSV" if len(rows) - 1 > ROWS else ""
    cells = [[*(row[name] or "–" for name in names), *_cells(row, used)] for row in shown]
    foot = [["all", "", "", "", "", *_cells(rows[-1], used)]]
    caption = f"Jobs, the most expensive first{more}. Rows are rounded for the eye, the last row is exact"
    return grid(caption, columns, cells, foot=foot, name="jobs", tall=len(shown) > 20)


def _columns(statement: Statement, used: list[str]) -> list[Column]:
    currency = statement.report.currency
    return [Column(_TITLES[name][0], currency if name.endswith("_eur") else _TITLES[name][1]) for name in used]


def _cells(row: dict[str, Any], used: list[str]) -> list[Part]:
    return [number(row[name], 2 if name.endswith("_eur") else 1) for name in used]
