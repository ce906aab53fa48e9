"""Planned against real: what accounts, users, partitions or jobs were planned to use and earn, and what they did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from planner.store.costs import By, CostDay, CostLine, Sums, cost_lines, summed

COMPARED = ("core_hours", "gpu_hours", "kwh", "carbon_kg", "revenue_eur", "cost_eur", "profit_eur")
"""Quantities that are set side by side; ``kwh`` is IT and cooling, ``cost_eur`` energy with all charges."""
SITE = "site"


@dataclass(frozen=True)
class PlannedLine:
    """An account, a user or a job; ``kind`` is what it is, or the site's own part, which no job carries."""

    kind: str
    key: str
    planned: Sums
    real: Sums
    planned_jobs: int = 0
    real_jobs: int = 0

    def difference(self, name: str) -> Decimal:
        """What is real less what was planned."""
        return self.real[name] - self.planned[name]


@dataclass(frozen=True)
class PlannedAgainstReal:
    """Lines over the days that are booked and were planned, the site's own last, and the sum of all of them."""

    days: int
    lines: tuple[PlannedLine, ...] = field(default_factory=tuple)

    def has(self, name: str) -> bool:
        """Whether anything of a quantity was planned or is real."""
        total = self.total
        return bool(total.planned[name] or total.real[name])

    @property
    def total(self) -> PlannedLine:
        """All lines together."""
        return PlannedLine(
            "all",
            "all",
            summed([line.planned for line in self.lines]),
            summed([line.real for line in self.lines]),
            sum(line.planned_jobs for line in self.lines),
            sum(line.real_jobs for line in self.lines),
        )


def planned_against_real(days: Iterable[CostDay], by: By) -> PlannedAgainstReal | None:
    """The comparison over the days that have both; None where no day has."""
    both = [(day.planned, day) for day in days if day.planned is not None]
    if not both:
        return None
    planned = {line.key: line for line in cost_lines([was for was, _ in both], by)}
    real = {line.key: line for line in cost_lines([now for _, now in both], by)}
    lines = [_line(by, key, planned.get(key), real.get(key)) for key in {**real, **planned}]
    lines.sort(key=lambda line: (-max(line.real["revenue_eur"], line.planned["revenue_eur"]), line.key))
    site = PlannedLine(SITE, "", summed([was.site for was, _ in both]), summed([now.site for _, now in both]))
    return PlannedAgainstReal(len(both), (*lines, site))


def _line(by: By, key: str, planned: CostLine | None, real: CostLine | None) -> PlannedLine:
    was, now = planned or CostLine(key), real or CostLine(key)
    return PlannedLine(by, key, was.sums, now.sums, len(was.job_ids), len(now.job_ids))


def planned_rows(found: PlannedAgainstReal, by: By) -> list[dict[str, Any]]:
    """The lines as rows of a table; every column is the sum of the days' totals, planned and real."""
    name = {"job": "job_id", "account-user": "account_user"}.get(by, by)
    return [
        {"kind": line.kind, name: line.key, "planned_jobs": line.planned_jobs, "real_jobs": line.real_jobs}
        | {
            f"{side}_{each}": value
            for each in COMPARED
            for side, value in (
                ("planned", line.planned[each]),
                ("real", line.real[each]),
                ("difference", line.difference(each)),
            )
        }
        for line in found.lines
    ]
