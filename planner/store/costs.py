"""Costs over written days by account, user or job: every sum exact, and equal to the totals of the days."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

from planner.domain.day_summary import DayTotals
from planner.errors import FileFormatError, PlannerError
from planner.printable import one_line
from planner.store.cells import amount, choice, moment
from planner.store.read_tables import read_rows, read_table
from planner.store.results import REMEDY, read_run, read_summary
from planner.store.seals import changed
from planner.store.versions import VERSIONS
from planner.store.write_tables import COLUMNS, STATES

By = Literal["account", "user", "account-user", "job"]
WAYS: tuple[str, ...] = get_args(By)

FOLDER = "costs"
"""Where reports stand, beside the days of a scenario."""

QUANTITIES = (
    "core_hours",
    "gpu_hours",
    "work_kwh",
    "idle_kwh",
    "it_kwh",
    "cooling_kwh",
    "kwh",
    "revenue_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "cost_eur",
    "profit_eur",
)
"""What is summed; ``kwh`` is IT and cooling, ``cost_eur`` the four costs, ``gpu_hours`` those that jobs asked for."""

_IN_ROWS = tuple(name for name in QUANTITIES if name not in ("gpu_hours", "it_kwh", "kwh", "cost_eur"))
_COSTS = ("it_cost_eur", "cooling_cost_eur", "carbon_cost_eur", "demand_cost_eur")
_CENT = Decimal("0.005")
_DIGIT = Decimal("0.000001")

_GPUS = re.compile(r"(?P<count>\d+)x [^;]*?\bgpus=(?P<gpus>[\d.]+)")

Sums = dict[str, Decimal]


@dataclass(frozen=True)
class JobDay:
    """One job on one day: what the row of schedule.csv says."""

    job: str
    name: str
    account: str
    user: str
    day: dt.date
    wait_s: float | None
    sums: Sums


@dataclass(frozen=True)
class CostDay:
    """A written day: its jobs, its totals, and ``site``, the part that no job carries (with what rounding leaves).

    ``is_booked``: it is what happened, not a plan. ``planned`` is then the plan of it, None where none is kept.
    """

    day: dt.date
    currency: str
    jobs: tuple[JobDay, ...]
    totals: Sums
    site: Sums
    is_booked: bool = False
    planned: CostDay | None = None


@dataclass
class CostLine:
    """The sums of an account, a user or a job over all days."""

    key: str
    job_ids: set[str] = field(default_factory=set)
    days: set[dt.date] = field(default_factory=set)
    accounts: set[str] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    waits_s: list[float] = field(default_factory=list)
    sums: Sums = field(default_factory=lambda: dict.fromkeys(QUANTITIES, Decimal(0)))

    def add(self, job: JobDay) -> None:
        """Take in one day of a job; it waited once, before it started."""
        self.job_ids.add(job.job)
        self.days.add(job.day)
        self.accounts.add(job.account)
        self.users.add(job.user)
        self.names.add(job.name)
        if job.wait_s is not None:
            self.waits_s.append(job.wait_s)
        for name in QUANTITIES:
            self.sums[name] += job.sums[name]

    @property
    def mean_wait_h(self) -> float | None:
        """Mean time from submission to start of the jobs that start in these days [h]."""
        return sum(self.waits_s) / len(self.waits_s) / 3600 if self.waits_s else None


def read_days(
    folder: Path, first: dt.date | None, last: dt.date | None
) -> tuple[list[CostDay], list[tuple[Path, str]]]:
    """The days of a scenario's folder that lie in the range, and what was skipped there with its reason."""
    days, skipped = [], []
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith(".") or path.name == FOLDER:
            continue
        try:
            day = dt.date.fromisoformat(path.name)
        except ValueError:
            skipped.append((path, "not the folder of a day"))
            continue
        if (first is not None and day < first) or (last is not None and day > last):
            continue
        try:
            found = read_cost_day(path, day, path.resolve().parent.name)
        except PlannerError as error:
            skipped.append((path, str(error)))
            continue
        version = plan_of(path)
        if version is not None:
            try:
                found = replace(found, planned=read_cost_day(version, day, path.resolve().parent.name))
            except PlannerError as error:
                skipped.append((version, str(error)))
        days.append(found)
    return days, skipped


def plan_of(folder: Path) -> Path | None:
    """The folder with the plan of a booked day; None where the day is not booked, or no plan of it is kept."""
    booked = read_summary(folder).booked
    if booked is None or booked.planned is None:
        return None
    version = folder / VERSIONS / Path(booked.planned.version).name
    return version if version.is_dir() else None


def read_cost_day(folder: Path, day: dt.date, scenario: str) -> CostDay:
    """A written day; FileFormatError when a file is missing or damaged, is of another day, or its sums do not hold."""
    run, summary = read_run(folder), read_summary(folder)
    if (summary.day, summary.scenario) != (day, scenario):
        problem = f"it is {summary.day} of {one_line(summary.scenario, 40)}; the folder is another day's"
        raise FileFormatError(folder / "summary.json", problem, remedy="move it where it belongs")
    tables = {"schedule": read_table(folder / "schedule.csv", COLUMNS["schedule"])}
    jobs = tuple(read_rows(folder, tables, "schedule", lambda row: _job_day(row, day, summary.horizon.length_s)))
    totals = _totals(summary.totals) | {"gpu_hours": sum((job.sums["gpu_hours"] for job in jobs), Decimal(0))}
    site = {name: totals[name] - sum((job.sums[name] for job in jobs), Decimal(0)) for name in QUANTITIES}
    site_cost = _exact(summary.site_cost_eur)
    wrong = next(changed(folder, run), None)
    if wrong is not None:
        raise FileFormatError(*wrong, remedy=REMEDY)
    if abs(site["profit_eur"] + site_cost) > _CENT or abs(site["revenue_eur"]) > _CENT:
        raise FileFormatError(folder, "its jobs do not sum to its totals", remedy=REMEDY)
    return CostDay(day, summary.currency, jobs, totals, site, summary.booked is not None)


def _job_day(row: dict[str, str], day: dt.date, length_s: int) -> JobDay:
    sums = {name: amount(row, name) for name in _IN_ROWS} | {"gpu_hours": _gpu_hours(row, length_s)}
    wait_s = None
    if choice(row, "state", *STATES) != "carried" and not row["start_s"].startswith("-"):
        wait_s = (moment(row, "start_time") - moment(row, "submit_time")).total_seconds()
    return JobDay(row["job_id"], row["name"], row["account"], row["user"], day, wait_s, _with_sums(sums))


def _gpu_hours(row: dict[str, str], length_s: int) -> Decimal:
    """GPUs that a job asked for, times the hours that it ran within the day."""
    gpus = sum(int(group["count"]) * Decimal(group["gpus"]) for group in _GPUS.finditer(row["unit_groups"]))
    ran_s = max(0, min(int(row["end_s"]), length_s) - max(int(row["start_s"]), 0))
    return (Decimal(gpus) * ran_s / 3600).quantize(_DIGIT)


def _totals(written: DayTotals) -> Sums:
    sums = {name: _exact(getattr(written, name)) for name in _IN_ROWS}
    it_kwh, cost = _exact(written.it_kwh), _exact(written.energy_cost_eur)
    return sums | {"it_kwh": it_kwh, "kwh": it_kwh + sums["cooling_kwh"], "cost_eur": cost}


def _exact(value: float) -> Decimal:
    """A number of a summary with the six digits that were written."""
    return Decimal(str(value)).quantize(_DIGIT)


def _with_sums(sums: Sums) -> Sums:
    it_kwh = sums["work_kwh"] + sums["idle_kwh"]
    cost = sum((sums[name] for name in _COSTS), Decimal(0))
    return sums | {"it_kwh": it_kwh, "kwh": it_kwh + sums["cooling_kwh"], "cost_eur": cost}


def cost_lines(days: Iterable[CostDay], by: By) -> list[CostLine]:
    """One line an account, user, account with user, or job, the largest revenue first."""
    lines: dict[str, CostLine] = {}
    for day in days:
        for job in day.jobs:
            both = f"{job.account or '-'} / {job.user or '-'}"
            key = {"account": job.account, "user": job.user, "account-user": both, "job": job.job}[by]
            lines.setdefault(key, CostLine(key)).add(job)
    return sorted(lines.values(), key=lambda line: (-line.sums["revenue_eur"], line.key))


def summed(parts: Sequence[Sums]) -> Sums:
    """The exact sum of several."""
    return {name: sum((part[name] for part in parts), Decimal(0)) for name in QUANTITIES}
