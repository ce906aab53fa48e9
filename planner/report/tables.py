"""The tables that a day leaves: its schedule, the deferred jobs and the segments, as rows of text."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.problem import Problem
from planner.pipeline.day import PlannedDay
from planner.readers.jobs.unit_groups import format_unit_groups
from planner.report.node_text import format_unit_nodes


@dataclass(frozen=True)
class Table:
    """Column names and rows, every cell as it stands in the CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.rows)


REQUEST_COLUMNS = (
    "job_id",
    "account",
    "user",
    "name",
    "submit_time",
    "requested_s",
    "units",
    "unit_groups",
    "power_w",
    "deadline",
    "revenue_weight",
    "runtime_s",
)
"""What a job asked: enough to read it back."""

SCHEDULE_COLUMNS = (
    *REQUEST_COLUMNS,
    "state",
    "start_time",
    "end_time",
    "start_s",
    "end_s",
    "nodes",
    "unit_nodes",
    "core_equivalents",
    "core_hours",
    "it_kwh",
    "idle_kwh",
    "cooling_kwh",
    "revenue_eur",
    "energy_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "profit_eur",
    "deadline_met",
)
DEFERRED_COLUMNS = (*REQUEST_COLUMNS, "kind", "reason")
SEGMENT_COLUMNS = (
    "start_time",
    "end_time",
    "start_s",
    "end_s",
    "temperature_c",
    "price_eur_per_kwh",
    "solar_w",
    "carbon_g_per_kwh",
    "core_hours",
    "it_kwh",
    "idle_kwh",
    "cooling_kwh",
    "solar_kwh",
    "bought_kwh",
    "pue",
    "carbon_kg",
    "revenue_eur",
    "energy_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "profit_eur",
)


def schedule_table(planned: PlannedDay) -> Table:
    """Every job that runs today, by start and id; ``state`` tells the carried ones from the planned.

    Energy, money and hours are those of this day alone; start and end are the job's own.
    """
    problem, plan, lines = planned.day.problem, planned.result.plan, planned.result.ledger.jobs
    work = [(r.job, "carried", r.start_s, r.end_s, r.nodes) for r in problem.running]
    jobs = {job.id: job for job in problem.jobs}
    for placed in plan.placements(problem):
        job = jobs[placed.job_id]
        work.append((job, "planned", placed.start_s, placed.start_s + job.requested_s, placed.nodes))
    rows = []
    for index, (job, state, start_s, end_s, nodes) in enumerate(work):
        rows.append(
            (
                *request_row(job, problem.horizon),
                state,
                local_time(problem.horizon, start_s),
                local_time(problem.horizon, end_s),
                str(start_s),
                str(end_s),
                problem.cluster.node_list(nodes),
                format_unit_nodes(nodes),
                number(lines.core_equivalents[index], 3),
                number(lines.core_hours[index]),
                number(lines.work_kwh[index]),
                number(lines.idle_kwh[index]),
                number(lines.cooling_kwh[index]),
                number(lines.revenue_eur[index]),
                number(lines.it_cost_eur[index]),
                number(lines.cooling_cost_eur[index]),
                number(lines.carbon_cost_eur[index]),
                number(lines.demand_cost_eur[index]),
                number(lines.profit_eur[index]),
                _deadline_met(problem, job, end_s),
            )
        )
    start, name = SCHEDULE_COLUMNS.index("start_s"), 0
    return Table(SCHEDULE_COLUMNS, tuple(sorted(rows, key=lambda row: (int(row[start]), row[name]))))


def deferred_table(planned: PlannedDay) -> Table:
    """Every known job that does not start today, with its reason."""
    horizon = planned.day.problem.horizon
    rows = ((*request_row(job, horizon), why.kind, why.reason) for job, why in planned.deferrals)
    return Table(DEFERRED_COLUMNS, tuple(sorted(rows, key=lambda row: (row[-2], row[0]))))


def segment_table(planned: PlannedDay) -> Table:
    """Every segment of the day with its energy and money."""
    problem, lines = planned.day.problem, planned.result.ledger.segments
    it_kwh = lines.it_kwh
    pue = 1 + np.divide(lines.cooling_kwh, it_kwh, out=np.zeros_like(it_kwh), where=it_kwh > 0)
    rows = []
    for index, segment in enumerate(problem.segments):
        rows.append(
            (
                local_time(problem.horizon, segment.start_s),
                local_time(problem.horizon, segment.end_s),
                str(segment.start_s),
                str(segment.end_s),
                str(segment.temperature_c),
                repr(segment.price_eur_per_kwh),
                repr(segment.solar_w),
                repr(segment.carbon_g_per_kwh),
                *_numbers(
                    lines.core_hours[index],
                    it_kwh[index],
                    lines.idle_kwh[index],
                    lines.cooling_kwh[index],
                    lines.solar_kwh[index],
                    lines.bought_kwh[index],
                    pue[index],
                    lines.carbon_kg[index],
                    lines.revenue_eur[index],
                    lines.it_cost_eur[index],
                    lines.cooling_cost_eur[index],
                    lines.carbon_cost_eur[index],
                    lines.profit_eur[index],
                ),
            )
        )
    return Table(SEGMENT_COLUMNS, tuple(rows))


def request_row(job: Job, horizon: Horizon) -> tuple[str, ...]:
    """What a job asked, in the order of REQUEST_COLUMNS."""
    return (
        job.id,
        job.account,
        job.user,
        job.name,
        local_time(horizon, horizon.to_s(job.submit_unix)),
        str(job.requested_s),
        str(job.unit_count),
        format_unit_groups(job.units),
        number(job.power_w, 3),
        "" if job.deadline_unix is None else local_time(horizon, horizon.to_s(job.deadline_unix)),
        f"{job.revenue_weight:g}",
        "" if job.runtime_s is None else str(job.runtime_s),
    )


def local_time(horizon: Horizon, offset_s: int) -> str:
    """ISO 8601 wall-clock time with its offset."""
    return horizon.to_datetime(offset_s).isoformat()


def number(value: float, digits: int = 6) -> str:
    """A number with a fixed count of digits; never a negative zero."""
    return f"{value + 0.0:.{digits}f}" if round(value, digits) else f"{0.0:.{digits}f}"


def _numbers(*values: float) -> Sequence[str]:
    return [number(value) for value in values]


def _deadline_met(problem: Problem, job: Job, end_s: int) -> str:
    if job.deadline_unix is None:
        return ""
    return "yes" if end_s <= problem.horizon.to_s(job.deadline_unix) else "no"
