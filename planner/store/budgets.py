"""What accounts may be billed in a month or a year, and how much of it is used: marked from 80 and from 100 % on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from planner.store.costs import CostDay

Period = Literal["month", "year"]

MARKS = (100, 80)
"""Percent of a budget from which on it is marked."""


@dataclass(frozen=True)
class AccountBudget:
    """What an account may be billed in a period, and what it was billed from its start until a day, in that included.

    ``here_eur`` is the part that the days of the report have.
    """

    account: str
    eur: Decimal
    first: dt.date
    until: dt.date
    used_eur: Decimal
    here_eur: Decimal

    @property
    def used_percent(self) -> float:
        """How much is used; more than a whole budget is used at once where there is none."""
        return float(100 * self.used_eur / self.eur) if self.eur else (100.0 if self.used_eur > 0 else 0.0)

    @property
    def mark(self) -> str:
        """The highest of the marks that is reached, or nothing."""
        return next((f"{mark} %" for mark in MARKS if self.used_eur * 100 >= mark * self.eur and self.used_eur > 0), "")


def period_start(day: dt.date, period: Period) -> dt.date:
    """The first day of the month or year of a day."""
    return day.replace(day=1) if period == "month" else day.replace(month=1, day=1)


def budgets_of(
    given: Mapping[str, float], period: Period, days: Iterable[CostDay], here: Iterable[CostDay], until: dt.date
) -> tuple[AccountBudget, ...]:
    """The budgets after the days of their period until a day; ``here`` are those of the report.

    All days are booked, or all only planned: what is billed is never mixed with plans.
    """
    first = period_start(until, period)
    used = _billed(day for day in days if first <= day.day <= until)
    own = _billed(day for day in here if first <= day.day <= until)
    zero = Decimal(0)
    return tuple(
        AccountBudget(account, Decimal(str(eur)), first, until, used.get(account, zero), own.get(account, zero))
        for account, eur in sorted(given.items())
    )


def _billed(days: Iterable[CostDay]) -> dict[str, Decimal]:
    """What each account was billed."""
    found: dict[str, Decimal] = {}
    for day in days:
        for job in day.jobs:
            found[job.account] = found.get(job.account, Decimal(0)) + job.sums["revenue_eur"]
    return found


def budget_rows(budgets: Iterable[AccountBudget], status: str) -> list[dict[str, Any]]:
    """The budgets as rows of a table."""
    return [
        {
            "kind": "budget",
            "status": status,
            "account": each.account,
            "from": each.first.isoformat(),
            "until": each.until.isoformat(),
            "budget_eur": each.eur.quantize(Decimal("0.000001")),
            "used_eur": each.used_eur,
            "here_eur": each.here_eur,
            "left_eur": each.eur.quantize(Decimal("0.000001")) - each.used_eur,
            "used_percent": round(each.used_percent, 2),
            "mark": each.mark,
        }
        for each in budgets
    ]
