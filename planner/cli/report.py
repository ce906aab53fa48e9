"""``plan report``: what accounts, users, partitions and jobs earned and cost over written days."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import tab_key
from planner.cli.options import FirstOption, JsonOption, LastOption, QuietOption, require_days
from planner.cli.terminal import aligned, say, say_json
from planner.errors import InputError
from planner.printable import printable
from planner.runs.check_request import parse_day

if TYPE_CHECKING:
    from planner.store.cost_files import CostReport
    from planner.store.planned_to_real import PlannedAgainstReal, PlannedLine, Split

SKIPPED = 7
"""Exit code when a folder was skipped; everything else is reported."""

SHOWN = 40
"""Lines on the terminal; all are in the files."""


def report(
    date: Annotated[
        str | None,
        typer.Option("--day", metavar="YYYY-MM-DD", help="One day, also yesterday.", autocompletion=tab_key.days),
    ] = None,
    first: FirstOption = None,
    last: LastOption = None,
    month: Annotated[str | None, typer.Option(metavar="YYYY-MM", help="A whole month.")] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="account|user|account-user|class|partition|qos|job",
            help="What a line is; class is that of the nodes that jobs ran on.",
        ),
    ] = "account",
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="NAME",
            autocompletion=tab_key.scenarios,
            help="Whose days, by name or file; not needed where there is one.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of results, as for plan --day.")] = Path(
        "reports"
    ),
    planned: Annotated[
        bool, typer.Option("--planned", help="The days that are only planned, where others are booked.")
    ] = False,
    also: Annotated[
        list[str] | None, typer.Option(metavar="FORMAT", help="Also write xlsx or parquet; may be repeated.")
    ] = None,
    statements: Annotated[
        bool, typer.Option("--statements", help="A statement for each account, too: page, CSV and XLSX.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report revenue, energy, CO2, costs and profit over written days, by account, user, class, partition, QOS or job.

    Writes CSV and HTML to OUT/SCENARIO/costs. The lines, with that of the site, are the days' totals exactly.
    Where days are booked they alone count, as they happened, and are set beside their plans, with what made the
    difference; --planned is for the rest. Budgets of the site's file are marked from 80 and from 100 % on.
    Exit code 7: a damaged or foreign folder was named and skipped, the rest is reported.

    Example: plan report --month 2024-06 --by account
    """
    require_days(date, first, last)
    ways = [date is not None, first is not None or last is not None, month is not None]
    if sum(ways) > 1:
        raise InputError("give --day, or --from and --to, or --month; not several of them")
    if (first is None) != (last is None):
        raise InputError("give both --from and --to")

    from planner.runs.report import days_range, month_range, report_on, reported_scenario, require_asked, zone_of
    from planner.store.cost_files import PARTS, report_rows, report_tables

    require_asked(by, also or ())
    asked = (None, None, "all days") if month is None else month_range(month)
    name = reported_scenario(out, scenario)
    if first is not None or date is not None:
        zone = zone_of(out / name)
        asked = days_range(parse_day(first or date or "", zone), parse_day(last or date or "", zone))

    def remark(line: str) -> None:
        say(line, err=True)

    done = report_on(
        name, asked, by, out, planned=planned, also=also or (), with_statements=statements, on_remark=remark
    )
    made = done.report
    if as_json:
        content = {"scenario": name, "range": made.asked, "currency": made.currency, "lines": _plain(report_rows(made))}
        content |= {"status": made.status, "days": [day.day.isoformat() for day in made.days]}
        content |= {end[1:]: _plain(rows) for end, rows in report_tables(made).items() if end in PARTS and end}
        say_json(content)
    elif not quiet:
        say(report_text(made))
        if made.budgets:
            say("\n" + budgets_text(made))
        if made.planned is not None:
            say("\n" + planned_text(made, made.planned))
        if made.split is not None:
            say("\n" + split_text(made.split))
        say("\n" + "\n".join(f"  {path}" for path in done.files))
    if made.left_out and not quiet:
        say(left_out_text(made), err=True)
    if made.missing and not quiet:
        say(f"{made.missing} of {done.asked_days} days have no result", err=True)
    if made.skipped:
        raise typer.Exit(SKIPPED)


def left_out_text(made: CostReport) -> str:
    """How many days of the other kind are not in a report, and how to have them."""
    verb = "is" if made.left_out == 1 else "are"
    which = "only planned left out; --planned reports them" if made.is_booked else "booked left out"
    return f"{_days(made.left_out)} that {verb} {which}"


def _days(count: int) -> str:
    return f"{count:,} day{'' if count == 1 else 's'}"


def report_text(made: CostReport) -> str:
    """The report as a table of at most 40 lines, with the site's own line and the sum."""
    from planner.store.costs import WHERE_USED

    quantities = {"core_hours": ("core-hours", 0), "gpu_hours": ("GPU-hours", 0), "kwh": ("kWh", 1)}
    quantities |= {"carbon_kg": ("kg CO2", 1)}
    used = {name: shown for name, shown in quantities.items() if name not in WHERE_USED or made.totals[name]}
    heads = [made.by, "jobs", *(title for title, _ in used.values())]
    credit = ["credit"] if made.totals["credit_eur"] else []
    heads += ["revenue", "IT", "cooling", "other", *credit, "profit", "wait h"]

    def cells(label: str, jobs: str, sums: dict[str, Any], wait: float | None) -> list[str]:
        other = sums["carbon_cost_eur"] + sums["demand_cost_eur"]
        money = [sums["revenue_eur"], sums["it_cost_eur"], sums["cooling_cost_eur"], other]
        money += [*(sums["credit_eur"] for _ in credit), sums["profit_eur"]]
        waited = "-" if wait is None else f"{wait:,.1f}"
        amounts = [_shown(each, 2) for each in money]
        return [label, jobs, *(_shown(sums[name], digits) for name, (_, digits) in used.items()), *amounts, waited]

    lines = [
        cells(printable(line.key) or "-", f"{len(line.job_ids):,}", line.sums, line.mean_wait_h)
        for line in made.lines[:SHOWN]
    ]
    if len(made.lines) > SHOWN:
        lines.append([f"... and {len(made.lines) - SHOWN:,} more", *([""] * (len(heads) - 1))])
    lines.append(cells("site, no job's", "", made.site, None))
    jobs = len({job for line in made.lines for job in line.job_ids})
    lines.append(cells("all", f"{jobs:,}", made.totals, made.mean_wait_h))
    which = "booked" if made.is_booked else "only planned"
    title = f"{made.scenario}, {made.asked}, {_days(len(made.days))}, {which}, money in {made.currency}"
    return "\n".join([title, "", *aligned([heads, *lines])])


def planned_text(made: CostReport, found: PlannedAgainstReal) -> str:
    """Planned against real as a table of at most 40 lines."""
    from planner.store.costs import WHERE_USED
    from planner.store.planned_to_real import MONEY

    every = {"core_hours": "core-hours", "gpu_hours": "GPU-hours", "carbon_kg": "kg CO2"} | MONEY
    names = {name: title for name, title in every.items() if name not in WHERE_USED or found.has(name)}
    heads = [made.by, *(f"{name}{part}" for name in names.values() for part in ("", " diff"))]

    def cells(line: PlannedLine) -> list[str]:
        label = {"site": "site, no job's", "all": "all"}.get(line.kind, printable(line.key) or "-")
        found = [label]
        for name in names:
            digits = 2 if name.endswith("_eur") else 0
            more = line.difference(name)
            found += [_shown(line.real[name], digits), ("+" if round(more, digits) > 0 else "") + _shown(more, digits)]
        return found

    shown = [*found.lines[:-1][:SHOWN], found.lines[-1], found.total]
    title = f"real, and its difference to what was planned, on {found.days} days that are booked and were planned"
    return "\n".join([title, "", *aligned([heads, *map(cells, shown)])])


def split_text(found: Split) -> str:
    """From planned to real, in cents that add up."""
    from planner.store.planned_to_real import CAUSES, MONEY

    rows = [["", "planned", *(name.replace("_", " ") for name in CAUSES), "real"]]
    for quantity in found.shown:
        cents = found.total(quantity).in_cents()
        parts = [f"{'+' if cents[name] > 0 else ''}{_shown(cents[name], 2)}" for name in CAUSES]
        rows.append([MONEY[quantity], _shown(cents["planned"], 2), *parts, _shown(cents["real"], 2)])
    meanings = [f"  {name.replace('_', ' ')}: {meaning}" for name, meaning in CAUSES.items()]
    return "\n".join(["why real is not as planned", "", *aligned(rows), "", *meanings])


def budgets_text(made: CostReport) -> str:
    """How much of their budgets accounts have used."""
    rows = [["budget", "of", "used", "left", "%", ""]]
    for each in made.budgets:
        amounts = [_shown(value, 2) for value in (each.eur, each.used_eur, each.eur - each.used_eur)]
        mark = {"100 %": "used up", "80 %": "80 % used"}.get(each.mark, "")
        rows.append([printable(each.account), *amounts, f"{each.used_percent:,.1f}", mark])
    title = f"budgets from {made.budgets[0].first} to {made.budgets[0].until}"
    return "\n".join([title, "", *aligned(rows)])


def _shown(value: Decimal, digits: int) -> str:
    """An amount for the eye; never a negative zero."""
    return f"{value if round(value, digits) else 0:,.{digits}f}"


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows for JSON, amounts as numbers."""
    return [
        {name: float(value) if isinstance(value, Decimal) else value for name, value in row.items()} for row in rows
    ]
