"""A cost report as files: CSV and workbooks for spreadsheets, Parquet for programs, HTML; and planned against real."""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from planner.parquet import arrow
from planner.printable import printable
from planner.store.budgets import AccountBudget, budget_rows
from planner.store.costs import QUANTITIES, SITE, CostDay, CostLine, Sums, cost_lines, jobs_of, mean_hours, summed
from planner.store.folder import PATIENCE_S, held, put, remove, renewed
from planner.store.planned_to_real import (
    PlannedAgainstReal,
    Split,
    key_column,
    planned_against_real,
    planned_rows,
    split,
)
from planner.text_files import csv_text, encoded


@dataclass(frozen=True)
class CostReport:
    """Lines over days that are all booked or all only planned: money that was billed is never mixed with plans.

    ``asked`` is the range in words; ``left_out`` counts its days of the other kind, ``missing`` those without a result.
    """

    scenario: str
    asked: str
    by: str
    days: tuple[CostDay, ...]
    skipped: tuple[tuple[Path, str], ...]
    missing: int
    left_out: int
    budgets: tuple[AccountBudget, ...]

    @property
    def currency(self) -> str:
        """The currency of all its days."""
        return self.days[0].currency

    @cached_property
    def lines(self) -> list[CostLine]:
        """The sums of each account, user, job or what else it is by, the largest revenue first."""
        return cost_lines(jobs_of(self.days), self.by)

    @cached_property
    def split(self) -> Split | None:
        """Why real money is not what was planned, over the days that have both; None where there are none."""
        return split(self.days, self.by)

    @cached_property
    def planned(self) -> PlannedAgainstReal | None:
        """Planned against real, over the days that are booked and were planned; None where there are none."""
        return planned_against_real(self.days, self.by)

    @property
    def is_booked(self) -> bool:
        """Whether the days are what happened; else they are plans."""
        return self.days[0].is_booked

    @property
    def status(self) -> str:
        """The same in a word, as every line of the files has it."""
        return "booked" if self.is_booked else "planned"

    @property
    def totals(self) -> Sums:
        """Sums of the days' totals."""
        return summed([day.totals for day in self.days])

    @property
    def mean_wait_h(self) -> float | None:
        """Mean time from when they could first start to start of all jobs that start in these days [h]."""
        return mean_hours([wait for line in self.lines for wait in line.waits_s])

    @property
    def site(self) -> Sums:
        """Sums of what no job carries."""
        return summed([day.site for day in self.days])


def report_rows(report: CostReport) -> list[dict[str, Any]]:
    """The lines as rows, the site's own last; together they are the totals of the days, to the last digit."""
    rows = [_row(report, line) for line in report.lines]
    blank = dict.fromkeys(rows[0] if rows else _row(report, CostLine("")), "")
    zero: dict[str, Any] = {"status": report.status, "jobs": 0, "days": len(report.days), "mean_wait_h": None}
    return [*rows, blank | zero | {"kind": SITE} | dict(report.site)]


def _row(report: CostReport, line: CostLine) -> dict[str, Any]:
    by = report.by
    about: dict[str, Any] = {"kind": by, "status": report.status} | ({"job_id": line.key} if by == "job" else {})
    named = {name.removeprefix("node_"): " ".join(sorted(values)) for name, values in line.about.items()}
    shown = {"job": named.keys(), "account-user": {"account", "user"}}.get(by, {by})
    about |= {name: text for name, text in named.items() if name in shown}
    about |= {"jobs": len(line.job_ids), "days": len(line.days)}
    wait = line.mean_wait_h
    return (
        about
        | {"mean_wait_h": None if wait is None else round(wait, 4)}
        | {name: line.sums[name] for name in QUANTITIES}
    )


PARTS = {
    "": "costs",
    "-planned": "planned against real",
    "-split": "why",
    "-budgets": "budgets",
}
"""The tables of a report: what the names of their files end in, and the names of their sheets."""


def report_tables(report: CostReport) -> dict[str, list[dict[str, Any]]]:
    """The tables that a report has, by the ends of their names."""
    tables = {"": report_rows(report)}
    if report.planned is not None:
        tables["-planned"] = planned_rows(report.planned, report.by)
    if report.split is not None:
        name = key_column(report.by)
        tables["-split"] = [{"kind": line.kind, name: line.key} | line.row() for line in report.split.lines]
    if report.budgets:
        tables["-budgets"] = budget_rows(report.budgets, report.status)
    return tables


FORMATS = ("parquet", "xlsx")
"""What a report can be besides CSV and HTML, on request."""


def write_report(
    report: CostReport,
    page: str,
    folder: Path,
    stem: str,
    formats: tuple[str, ...] = (),
    statements: Mapping[str, bytes] | None = None,
) -> list[Path]:
    """Write the tables as CSV and the page, all in one step; ``formats`` may ask for more (`FORMATS`).

    ``statements`` are files by name for a folder of their own beside them.
    """
    tables = report_tables(report)
    contents = {f"{stem}.html": encoded(page)}
    for end, rows in tables.items():
        contents[f"{stem}{end}.csv"] = csv_bytes(rows)
        if "parquet" in formats:
            contents[f"{stem}{end}.parquet"] = _parquet(rows)
    if "xlsx" in formats:
        contents[f"{stem}.xlsx"] = workbook({PARTS[end]: rows for end, rows in tables.items()}, report.currency)
    own = f"{stem}-statements"
    with held(folder, PATIENCE_S), renewed(folder) as fresh:
        for name in (f"{stem}{end}.{kind}" for end in PARTS for kind in ("csv", *FORMATS)):
            (fresh / name).unlink(missing_ok=True)  # those of an earlier report need not hold any more
        for name, content in contents.items():
            put(fresh / name, content)
        if statements is not None:
            if (fresh / own).exists():
                remove(fresh / own)
            (fresh / own).mkdir()
            for name, content in statements.items():
                put(fresh / own / name, content)
    return [folder / name for name in contents] + ([] if statements is None else [folder / own])


def csv_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Rows as CSV that no spreadsheet takes for formulas."""
    cells = [[_csv_cell(cell) for cell in row.values()] for row in rows]
    return encoded(csv_text([list(rows[0]), *cells]))


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Text that begins so is a formula to some spreadsheet."""
_INNER = re.compile(rf"(?<=[;\t])(?= *['{re.escape(''.join(FORMULAS))}])")


def _csv_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that might be one gets a ``'`` before it.

    So does text that begins with ``'``: without one leading ``'``, all are as they were. A sign alone is no formula.
    What follows a semicolon or a tab is a cell of its own to spreadsheets that part cells by these.
    """
    if isinstance(cell, str):
        bare, inner = cell.lstrip(" "), _INNER.sub("'", cell)
        return f"'{inner}" if cell.startswith("'") or (bare.startswith(FORMULAS) and len(bare) > 1) else inner
    return f"{cell:.6f}" if isinstance(cell, Decimal) else "" if cell is None else cell


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    pa = arrow()

    def column(name: str) -> Any:
        if any(isinstance(row[name], Decimal) for row in rows):
            return pa.array([row[name] for row in rows], type=pa.decimal128(28, 6))
        counts = dict.fromkeys(("jobs", "days", "planned_jobs", "real_jobs"), pa.int64())
        counts |= dict.fromkeys(("mean_wait_h", "used_percent"), pa.float64())
        kind = counts.get(name, pa.string())
        cells = [row[name] for row in rows]
        return pa.array([encoded(c).decode() if isinstance(c, str) else c for c in cells], type=kind)

    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({name: column(name) for name in rows[0]}), sink)
    return bytes(sink.getvalue().to_pybytes())


Rows = Sequence[Mapping[str, Any]]

WIDEST = 40
"""Characters of the widest column."""
LONGEST_CELL = 32_767
"""Characters that a cell may hold in any spreadsheet program."""
MOST_ROWS = 1_048_576
"""Rows of a sheet, its headings included."""


def workbook(sheets: Mapping[str, Rows], currency: str) -> bytes:
    """Tables by the names of their sheets, each with its headings in the first row, as a spreadsheet program has them.

    Numbers are numbers, text is text, and nothing is a formula. The same tables give the same bytes: the workbook
    carries no date of its own.
    """
    import xlsxwriter  # only here: most reports have no workbook

    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"created": dt.datetime(2000, 1, 1), "comments": f"Money is in {currency}."})  # noqa: DTZ001
    formats = {"head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}}
    formats |= {"money": {"num_format": "#,##0.00"}, "amount": {"num_format": "#,##0.0"}}
    formats |= {"count": {"num_format": "#,##0"}, "text": {"num_format": "@"}}
    styles = {name: book.add_format(style) for name, style in formats.items()}
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        columns = list(rows[0]) if rows else []
        for k, column in enumerate(columns):
            sheet.write_string(0, k, column, styles["head"])
            cells = [row[column] for row in rows[: MOST_ROWS - 1]]
            for number, cell in enumerate(cells, start=1):
                if isinstance(cell, str):
                    sheet.write_string(number, k, printable(cell)[:LONGEST_CELL], styles["text"])
                elif cell is not None:
                    sheet.write_number(number, k, float(cell), styles[_style(column, cell)])
            longest = max(
                (len(f"{cell:,.2f}" if isinstance(cell, Decimal) else str(cell)) for cell in cells), default=0
            )
            sheet.set_column(k, k, min(WIDEST, 2 + max(longest, len(column))))
        sheet.freeze_panes(1, 0)
        if columns:
            sheet.autofilter(0, 0, len(rows), len(columns) - 1)
    book.close()
    return made.getvalue()


def _style(column: str, cell: object) -> str:
    if column.endswith("_eur"):
        return "money"
    return "count" if isinstance(cell, int) else "amount"
