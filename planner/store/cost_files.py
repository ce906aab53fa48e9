"""A cost report as files: CSV for the spreadsheet, Parquet for programs, HTML to read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from planner.csv_text import csv_text
from planner.store.costs import QUANTITIES, By, CostDay, CostLine, Sums, cost_lines, summed
from planner.store.files import put
from planner.store.folder import PATIENCE_S, held, renewed
from planner.store.planned_costs import PlannedAgainstReal, planned_against_real, planned_rows
from planner.store.write_tables import encoded

SITE = "site"
"""The kind of the line with what no job carries; the others are of the kind that the report is by."""


@dataclass(frozen=True)
class CostReport:
    """Lines over days: ``asked`` is the range in words, ``missing`` how many of its days are not planned."""

    scenario: str
    asked: str
    by: By
    currency: str
    days: tuple[CostDay, ...]
    lines: tuple[CostLine, ...]
    skipped: tuple[tuple[Path, str], ...]
    missing: int

    @cached_property
    def planned(self) -> PlannedAgainstReal | None:
        """Planned against real, over the days that are booked and were planned; None where there are none."""
        return planned_against_real(self.days, self.by)

    @property
    def booked_days(self) -> int:
        """How many of the days are booked; the others are only planned."""
        return sum(day.is_booked for day in self.days)

    @property
    def totals(self) -> Sums:
        """Sums of the days' totals."""
        return summed([day.totals for day in self.days])

    @property
    def mean_wait_h(self) -> float | None:
        """Mean time from when they could first start to start of all jobs that start in these days [h]."""
        waits = [wait for line in self.lines for wait in line.waits_s]
        return sum(waits) / len(waits) / 3600 if waits else None

    @property
    def site(self) -> Sums:
        """Sums of what no job carries."""
        return summed([day.site for day in self.days])


def make_report(
    scenario: str, asked: str, by: By, days: list[CostDay], skipped: list[tuple[Path, str]], missing: int
) -> CostReport:
    """Put a report together from days that were read, all in one currency."""
    lines = tuple(cost_lines(days, by))
    return CostReport(scenario, asked, by, days[0].currency, tuple(days), lines, tuple(skipped), missing)


def report_rows(report: CostReport) -> list[dict[str, Any]]:
    """The lines as rows, the site's own last; together they are the totals of the days, to the last digit."""
    rows = [_row(report.by, line) for line in report.lines]
    blank = dict.fromkeys(rows[0] if rows else _row(report.by, CostLine("")), "")
    zero: dict[str, Any] = {"jobs": 0, "days": len(report.days), "mean_wait_h": None}
    return [*rows, blank | zero | {"kind": SITE} | dict(report.site)]


def _row(by: By, line: CostLine) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": by}
    if by == "job":
        about |= {"job_id": line.key, "name": _all(line.names)}
    others = {"account": line.accounts, "user": line.users}
    others |= {"class": line.classes, "partition": line.partitions, "qos": line.qos}
    told = {"job": others.keys(), "account-user": {"account", "user"}}.get(by, {by})
    about |= {name: _all(values) for name, values in others.items() if name in told}
    about |= {"jobs": len(line.job_ids), "days": len(line.days)}
    wait = line.mean_wait_h
    return (
        about
        | {"mean_wait_h": None if wait is None else round(wait, 4)}
        | {name: line.sums[name] for name in QUANTITIES}
    )


def write_report(report: CostReport, page: str, folder: Path, stem: str) -> list[Path]:
    """Write CSV, Parquet and HTML, and planned against real where some days have both; all in one step."""
    rows = report_rows(report)
    contents = {f"{stem}.csv": _csv(rows), f"{stem}.parquet": _parquet(rows), f"{stem}.html": encoded(page)}
    if report.planned is not None:
        compared = planned_rows(report.planned, report.by)
        contents |= {planned_name(stem): _csv(compared), planned_name(stem, "parquet"): _parquet(compared)}
    with held(folder, PATIENCE_S), renewed(folder) as fresh:
        for kind in ("csv", "parquet"):  # those of an earlier report need not hold any more
            (fresh / planned_name(stem, kind)).unlink(missing_ok=True)
        for name, content in contents.items():
            put(fresh / name, content)
    return [folder / name for name in contents]


def planned_name(stem: str, kind: str = "csv") -> str:
    """The name of a file with planned against real."""
    return f"{stem}-planned.{kind}"


def _csv(rows: list[dict[str, Any]]) -> bytes:
    cells = [
        [f"{cell:.6f}" if isinstance(cell, Decimal) else "" if cell is None else cell for cell in row.values()]
        for row in rows
    ]
    return encoded(csv_text([list(rows[0]), *cells]))


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    def column(name: str) -> Any:
        if any(isinstance(row[name], Decimal) for row in rows):
            return pa.array([row[name] for row in rows], type=pa.decimal128(28, 6))
        counts = dict.fromkeys(("jobs", "days", "planned_jobs", "real_jobs"), pa.int64())
        kind = (counts | {"mean_wait_h": pa.float64()}).get(name, pa.string())
        cells = [row[name] for row in rows]
        return pa.array([encoded(c).decode() if isinstance(c, str) else c for c in cells], type=kind)

    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.table({name: column(name) for name in rows[0]}), sink)
    return bytes(sink.getvalue().to_pybytes())


def _all(names: set[str]) -> str:
    return " ".join(sorted(names))
