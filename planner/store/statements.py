"""Statements: what each account was billed over the days of a report, job by job, for whoever pays it.

A statement has usage, what is billed, energy and CO2, and the cost of that energy. What the site earns by it is no
part of it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planner.store.budgets import AccountBudget, budget_rows
from planner.store.cost_files import CostReport, csv_bytes, workbook
from planner.store.costs import CostLine, Sums, cost_lines, jobs_of, summed

BILLED = {
    "core_hours": "core_hours",
    "gpu_hours": "gpu_hours",
    "kwh": "kwh",
    "carbon_kg": "carbon_kg",
    "revenue_eur": "billed_eur",
    "cost_eur": "energy_cost_eur",
}
"""Quantities of a statement, by their names in reports."""


@dataclass(frozen=True)
class Statement:
    """What one account was billed: a line for each user and for each job."""

    account: str
    report: CostReport
    users: tuple[CostLine, ...]
    jobs: tuple[CostLine, ...]
    budget: AccountBudget | None

    def rows(self) -> list[dict[str, Any]]:
        """The jobs as rows of a table, with the whole account last."""
        about = {"account": self.account, "status": self.report.status}
        rows = [{"kind": "job", **about, **_about(line), **_amounts(line.sums)} for line in self.jobs]
        blank = dict.fromkeys(_about(CostLine("")), "")
        return [*rows, {"kind": "account", **about, **blank, **_amounts(summed([line.sums for line in self.jobs]))}]

    def user_rows(self) -> list[dict[str, Any]]:
        """The users as rows of a table."""
        return [{"user": line.key, "jobs": len(line.job_ids), **_amounts(line.sums)} for line in self.users]

    def as_csv(self) -> bytes:
        """The jobs as CSV."""
        return csv_bytes(self.rows())

    def as_workbook(self) -> bytes:
        """Jobs, users and the budget as a workbook."""
        sheets = {"jobs": self.rows(), "users": self.user_rows()}
        if self.budget is not None:
            sheets["budget"] = budget_rows([self.budget], self.report.status)
        return workbook(sheets, self.report.currency)


def _about(line: CostLine) -> dict[str, str]:
    """Who a job is of, and where and when it ran."""
    named = {name.removeprefix("node_"): " ".join(sorted(values)) for name, values in line.about.items()}
    days = sorted(line.days) or [dt.date.min]
    ran = {"first_day": days[0].isoformat(), "last_day": days[-1].isoformat()}
    return {"job_id": line.key} | {name: named[name] for name in ("name", "user", "class", "partition", "qos")} | ran


def _amounts(sums: Sums) -> dict[str, Any]:
    return {title: sums[name] for name, title in BILLED.items()}


def statements(report: CostReport) -> list[Statement]:
    """A statement for each account of a report, those with the most to pay first."""
    budgets = {each.account: each for each in report.budgets}
    jobs = jobs_of(report.days)
    found = []
    for line in cost_lines(jobs, "account"):
        own = [job for job in jobs if job.account == line.key]
        users, of_jobs = (tuple(cost_lines(own, by)) for by in ("user", "job"))
        found.append(Statement(line.key, report, users, of_jobs, budgets.get(line.key)))
    return found


def file_names(accounts: Iterable[str]) -> dict[str, str]:
    """A name for the files of each account that any disk takes, and that no two share.

    A name that is not the account's own ends in digits made of it, which are the same in every month. So does the later
    one of two that differ in case alone, in months that have both.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for account in sorted(accounts):
        stem = re.sub(r"[^A-Za-z0-9._-]", "_", account)[:80].lstrip(".") or "no-account"
        is_own = stem == (account or "no-account") and stem.lower() not in taken
        name = stem if is_own else f"{stem}-{hashlib.sha256(account.encode()).hexdigest()[:16]}"
        taken.add(name.lower())
        names[account] = name
    return names
