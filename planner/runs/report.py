"""A cost report over written days, read, put together and written: the one way of `plan report` and of scripts."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from planner.errors import InputError
from planner.pages.costs import costs_page
from planner.pages.index import write_index
from planner.pages.statement import statement_page
from planner.places import is_folder, scenario_folders, shipped_folder
from planner.scenario.load import is_path, load_scenario
from planner.store.budgets import AccountBudget, budgets_of, period_start
from planner.store.cost_files import FORMATS, CostReport, write_report
from planner.store.costs import FOLDER, KEYS, CostDay, day_of, read_days
from planner.store.month_peak import charge_remark, wrongly_charged
from planner.store.read_json import read_run, read_summary
from planner.store.statements import file_names, statements
from planner.store.write_day import require_formats
from planner.text_files import encoded

Range = tuple[dt.date | None, dt.date | None, str]
"""First and last day, None for all there are, and the range in words."""


@dataclass(frozen=True)
class DoneReport:
    """A written report: its files, and how many days were asked for."""

    report: CostReport
    files: tuple[Path, ...]
    asked_days: int


def report_on(
    name: str,
    asked: Range,
    by: str,
    out: Path,
    *,
    planned: bool = False,
    also: Sequence[str] = (),
    with_statements: bool = False,
    on_remark: Callable[[str], None] = lambda line: None,
) -> DoneReport:
    """Report the days of a scenario in a range and write the files; InputError where there is nothing to report.

    ``on_remark`` is told what is odd, a line each.
    """
    low, high, words = asked
    folder = out / name
    days, skipped = read_days(folder, low, high)
    for path, why in skipped:
        on_remark(f"skipped {path}: {why}")
    if not days:
        raise InputError(f"{folder}: no day of {words} can be reported; plan one with plan --day")
    booked = not planned and any(day.is_booked for day in days)
    if not booked and all(day.is_booked for day in days):
        raise InputError(f"{folder}: no day of {words} is only planned; leave --planned out")
    currencies = sorted({day.currency for day in days})
    if len(currencies) > 1:
        raise InputError(f"the days count in {' and '.join(currencies)}; report those of one currency")
    there = len(days) + sum(path.parent == folder and day_of(path) is not None for path, _ in skipped)
    wanted = (high - low).days + 1 if low is not None and high is not None else there
    budgets = _budgets(folder, days, low, high, on_remark, booked=booked)
    kept = tuple(day for day in days if day.is_booked == booked)
    for month in sorted({day.day.replace(day=1) for day in kept}):
        wrong = {day.day for day in kept}.intersection(wrongly_charged(folder, month))
        if wrong:
            on_remark(charge_remark(sorted(wrong)))
    missing, left_out = wanted - there, len(days) - len(kept)
    made = CostReport(name, words, by, kept, tuple(skipped), missing, left_out, budgets)
    for day, why in made.split.unsplit if made.split is not None else ():
        on_remark(f"{day}: real less planned stands under other, as it cannot be split: {why}")
    stem = f"{words.replace(' to ', '_').replace(' ', '-')}{'-only-planned' if planned else ''}-by-{by}"
    own = _statements(made) if with_statements else None
    files = write_report(made, costs_page(made, f"{stem}.csv"), folder / FOLDER, stem, tuple(also), own)
    write_index(out)
    return DoneReport(made, tuple(files), wanted)


def require_asked(by: str, also: Sequence[str]) -> None:
    """InputError for a way to report, or a format, that there is not."""
    if by not in KEYS:
        raise InputError(f"cannot report by {by!r}; choose {', '.join(KEYS)}")
    require_formats(tuple(also), FORMATS)


def _statements(made: CostReport) -> dict[str, bytes]:
    """The files of all statements by name: page, CSV and workbook of each account."""
    each_account = statements(made)
    names = file_names(statement.account for statement in each_account)
    contents: dict[str, bytes] = {}
    for statement in each_account:
        stem = names[statement.account]
        contents[f"{stem}.html"] = encoded(statement_page(statement, stem))
        contents[f"{stem}.csv"] = statement.as_csv()
        contents[f"{stem}.xlsx"] = statement.as_workbook()
    return contents


def _budgets(
    folder: Path,
    days: list[CostDay],
    low: dt.date | None,
    high: dt.date | None,
    on_remark: Callable[[str], None],
    *,
    booked: bool,
) -> tuple[AccountBudget, ...]:
    """The budgets of the site's file as it stands, with what is used of them."""
    source = Path(read_run(days[-1].folder)["scenario"]["sources"][0])
    try:
        section = load_scenario(source, folders=[source.parent, shipped_folder() / "scenarios"]).budgets
    except InputError as error:
        on_remark(f"no budgets: {error}")
        return ()
    if not section.accounts:
        return ()
    until = high or days[-1].day
    first = period_start(until, section.period)
    of_period = days
    if low is not None and first < low:
        of_period = [*read_days(folder, first, low - dt.timedelta(days=1))[0], *days]
    same = [day for day in of_period if day.is_booked == booked]
    here = [day for day in days if day.is_booked == booked]
    return budgets_of(section.accounts, section.period, same, here, until)


def month_range(month: str) -> Range:
    """The days of a month such as 2024-06."""
    if not re.fullmatch(r"\d{4}-\d{2}", month, re.ASCII):
        raise InputError(f"cannot read {month!r} as a month; write it as 2024-06")
    try:
        low = dt.date.fromisoformat(f"{month}-01")
    except ValueError:
        raise InputError(f"cannot read {month!r} as a month; write it as 2024-06") from None
    return low, low.replace(day=calendar.monthrange(low.year, low.month)[1]), month


def days_range(low: dt.date, high: dt.date) -> Range:
    """The days from one to another, in words as well."""
    if high < low:
        raise InputError(f"the range ends on {high}, before it begins on {low}; swap --from and --to")
    return low, high, low.isoformat() if low == high else f"{low} to {high}"


def zone_of(folder: Path) -> str:
    """The zone of the last day in a folder of days that can be read; UTC where there is none."""
    for path in sorted(folder.glob("????-??-??"), reverse=True):
        with suppress(InputError):
            return read_summary(path).zone
    return "UTC"


def reported_scenario(out: Path, given: str | None) -> str:
    """The scenario whose days are meant: given by name or file, or the only one, or the one that plan --day takes."""
    known = []
    if is_folder(out):
        known = sorted(path.name for path in out.iterdir() if path.is_dir() and _has_days(path))
    if given is not None and is_path(given):
        given = load_scenario(given, folders=scenario_folders(Path.cwd())).name
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
