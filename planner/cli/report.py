"""``plan report``: what accounts, users, partitions and jobs earned and cost over written days."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import complete
from planner.cli.day import FirstOption, LastOption, QuietOption, parse_day, require_days
from planner.cli.terminal import say, say_json
from planner.errors import InputError
from planner.places import is_folder
from planner.printable import printable

if TYPE_CHECKING:
    from planner.store.cost_files import CostReport, PlannedAgainstReal, PlannedLine

SKIPPED = 7
"""Exit code when a folder was skipped; everything else is reported."""

SHOWN = 40
"""Lines on the terminal; all are in the files."""


def report(
    date: Annotated[
        str | None,
        typer.Option("--day", metavar="YYYY-MM-DD", help="One day, also yesterday.", autocompletion=complete.days),
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
            autocompletion=complete.scenarios,
            help="Whose days; not needed where there is one.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of results, as for plan --day.")] = Path(
        "reports"
    ),
    planned: Annotated[
        bool, typer.Option("--planned", help="The days that are only planned, where others are booked.")
    ] = False,
    also: Annotated[list[str] | None, typer.Option(metavar="FORMAT", help="Also write parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Report revenue, energy, CO2, costs and profit over written days, by account, user, class, partition, QOS or job.

    Writes CSV and HTML to OUT/SCENARIO/costs. The lines, with that of the site, are the days' totals exactly.
    Where days are booked they alone count, as they happened, and are set beside their plans; --planned is for the rest.
    Exit code 7: a damaged or foreign folder was named and skipped, the rest is reported.

    Example: plan report --month 2024-06 --by account
    """
    require_days(date, first, last)

    from planner.store.costs import FOLDER, WAYS, read_days
    from planner.store.write import require_formats

    if by not in WAYS:
        raise InputError(f"cannot report by {by!r}; choose {', '.join(WAYS)}")
    _one_range(date, first, last, month)
    formats = tuple(also or ())
    require_formats(formats, ("parquet",))
    name = _scenario(out, scenario)
    low, high, asked = _range(date, first, last, month, _zone(out / name))
    days, skipped = read_days(out / name, low, high)
    for path, why in skipped:
        say(f"skipped {path}: {why}", err=True)
    if not days:
        raise InputError(f"{out / name}: no day of {asked} can be reported; plan one with plan --day")
    booked = not planned and any(day.is_booked for day in days)
    if not booked and all(day.is_booked for day in days):
        raise InputError(f"{out / name}: no day of {asked} is only planned; leave --planned out")
    currencies = sorted({day.currency for day in days})
    if len(currencies) > 1:
        raise InputError(f"the days count in {' and '.join(currencies)}; report those of one currency")

    from planner.pages.costs import costs_page
    from planner.pages.index import write_index
    from planner.store.cost_files import make_report, planned_rows, report_rows, write_report

    wanted = (high - low).days + 1 if low is not None and high is not None else len(days)
    made = make_report(name, asked, by, days, skipped, wanted - len(days), booked=booked)  # type: ignore[arg-type]
    stem = f"{asked.replace(' to ', '_').replace(' ', '-')}{'-only-planned' if planned else ''}-by-{by}"
    written = write_report(made, costs_page(made, f"{stem}.csv"), out / name / FOLDER, stem, formats)
    write_index(out)
    if as_json:
        rows = [{key: _plain(value) for key, value in row.items()} for row in report_rows(made)]
        content = {"scenario": name, "range": asked, "currency": made.currency, "lines": rows}
        content |= {"status": made.status, "days": [day.day.isoformat() for day in made.days]}
        if made.planned is not None:
            compared = planned_rows(made.planned, made.by)
            content["planned"] = [{key: _plain(value) for key, value in row.items()} for row in compared]
        say_json(content)
    elif not quiet:
        say(report_text(made))
        if made.planned is not None:
            say("\n" + planned_text(made, made.planned))
        say("\n" + "\n".join(f"  {path}" for path in written))
    if made.left_out and not quiet:
        say(left_out_text(made), err=True)
    if made.missing and not quiet:
        say(f"{made.missing} of {wanted} days have no result", err=True)
    if skipped:
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
    heads += ["revenue", "IT", "cooling", "other", "profit", "wait h"]

    def cells(label: str, jobs: str, sums: dict[str, Any], wait: float | None) -> list[str]:
        other = sums["carbon_cost_eur"] + sums["demand_cost_eur"]
        money = [sums["revenue_eur"], sums["it_cost_eur"], sums["cooling_cost_eur"], other, sums["profit_eur"]]
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
    return "\n".join([title, "", *_aligned([heads, *lines])])


def planned_text(made: CostReport, found: PlannedAgainstReal) -> str:
    """Planned against real as a table of at most 40 lines."""
    from planner.store.costs import WHERE_USED

    every = {"core_hours": "core-hours", "gpu_hours": "GPU-hours", "carbon_kg": "kg CO2"}
    every |= {"revenue_eur": "revenue", "cost_eur": "energy cost", "profit_eur": "profit"}
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
    return "\n".join([title, "", *_aligned([heads, *map(cells, shown)])])


def _aligned(rows: list[list[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [f"{row[0]:<{widths[0]}}" + "".join(f"  {row[k]:>{widths[k]}}" for k in range(1, len(row))) for row in rows]


def _shown(value: Decimal, digits: int) -> str:
    """An amount for the eye; never a negative zero."""
    return f"{value if round(value, digits) else 0:,.{digits}f}"


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else float(value)


def _one_range(date: str | None, first: str | None, last: str | None, month: str | None) -> None:
    """InputError unless the options say one range, or none."""
    ways = [date is not None, first is not None or last is not None, month is not None]
    if sum(ways) > 1:
        raise InputError("give --day, or --from and --to, or --month; not several of them")
    if month is not None and not re.fullmatch(r"\d{4}-\d{2}", month, re.ASCII):
        raise InputError(f"cannot read {month!r} as a month; write it as 2024-06")
    if (first is None) != (last is None):
        raise InputError("give both --from and --to")


def _zone(folder: Path) -> str:
    """The zone of the last day in a folder of days that can be read; UTC where there is none."""
    from planner.store.results import read_summary

    for path in sorted(folder.glob("????-??-??"), reverse=True):
        with suppress(InputError):
            return read_summary(path).zone
    return "UTC"


def _range(
    date: str | None, first: str | None, last: str | None, month: str | None, zone: str
) -> tuple[dt.date | None, dt.date | None, str]:
    """First and last day, and the range in words; ``zone`` says which day is today."""
    if date is not None:
        day = parse_day(date, zone)
        return day, day, day.isoformat()
    if month is not None:
        low = parse_day(f"{month}-01")
        return low, low.replace(day=calendar.monthrange(low.year, low.month)[1]), month
    if first is None and last is None:
        return None, None, "all days"
    assert first is not None
    assert last is not None
    low, high = parse_day(first, zone), parse_day(last, zone)
    if high < low:
        raise InputError(f"the range ends on {high}, before it begins on {low}; swap --from and --to")
    return low, high, f"{low} to {high}"


def _scenario(out: Path, given: str | None) -> str:
    """The scenario whose days are meant: as given, or the only one, or the one that plan --day takes."""
    known = []
    if is_folder(out):
        known = sorted(path.name for path in out.iterdir() if path.is_dir() and _has_days(path))
    name = given
    if name is None:
        name = known[0] if len(known) == 1 else next((each for each in ("site", "sample") if each in known), None)
    if name is None or not is_folder(out / name):
        there = f"there are {', '.join(known)}" if known else "there are none; plan a day first"
        what = "say which scenario" if name is None else f"no days of scenario {name!r}"
        raise InputError(f"{out}: {what}; {there}")
    return name


def _has_days(folder: Path) -> bool:
    return any(re.fullmatch(r"\d{4}-\d{2}-\d{2}", path.name) for path in folder.iterdir())
