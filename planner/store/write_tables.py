"""The tables that a day leaves: its schedule, the deferred jobs and the segments, as rows of text.

Every column is described in docs/outputs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from planner.domain.columns import Floats
from planner.domain.horizon import Horizon
from planner.domain.job import Job, format_dependencies
from planner.domain.ledger import Ledger
from planner.domain.node_lists import format_unit_nodes
from planner.domain.plan import Deferral, Plan
from planner.domain.problem import Problem, Running
from planner.inputs.jobs.unit_groups import format_unit_groups
from planner.text_files import csv_text, encoded


@dataclass(frozen=True)
class Table:
    """Column names and rows, every cell as it stands in the CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, name: str, rows: Sequence[tuple[str, ...]]) -> Table:
        """A table of a day from rows with all of its columns; the optional ones that are empty go."""
        columns, optional = COLUMNS[name], OPTIONAL[name]
        kept = [at for at, each in enumerate(columns) if each not in optional or any(row[at] for row in rows)]
        return cls(tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows))

    def column(self, name: str) -> list[str]:
        """The cells of a column; none where there is no such column."""
        if name not in self.columns:
            return []
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV."""
        path.write_bytes(encoded(csv_text([self.columns, *self.rows])))

    def like(self, other: Table) -> Table:
        """The same table with empty columns where the other has some of `RULES` that none of its own jobs has."""
        if not set(other.columns) - set(self.columns) <= set(RULES):
            return self
        places = [self.columns.index(name) if name in self.columns else None for name in other.columns]
        return Table(other.columns, tuple(tuple("" if at is None else row[at] for at in places) for row in self.rows))


def _time(horizon: Horizon, unix: int | None) -> str:
    return "" if unix is None else local_time(horizon, horizon.to_s(unix))


Cell = Callable[[Job, Horizon], str]

REQUEST: dict[str, Cell] = {
    "job_id": lambda job, horizon: job.id,
    "account": lambda job, horizon: job.account,
    "user": lambda job, horizon: job.user,
    "name": lambda job, horizon: job.name,
    "submit_time": lambda job, horizon: _time(horizon, job.submit_unix),
    "requested_s": lambda job, horizon: str(job.requested_s),
    "units": lambda job, horizon: str(job.unit_count),
    "unit_groups": lambda job, horizon: format_unit_groups(job.units),
    "power_w": lambda job, horizon: exact(job.power_w),
    "deadline": lambda job, horizon: _time(horizon, job.deadline_unix),
    "revenue_weight": lambda job, horizon: exact(job.revenue_weight),
    "runtime_s": lambda job, horizon: "" if job.runtime_s is None else str(job.runtime_s),
    "estimate_s": lambda job, horizon: "" if job.estimate_s is None else str(job.estimate_s),
    "reference_start": lambda job, horizon: "" if job.promise is None else _time(horizon, job.promise.reference_unix),
    "latest_start": lambda job, horizon: "" if job.promise is None else _time(horizon, job.promise.latest_unix),
}
"""What a job asked, and what it was promised: enough to read it back, with `RULES`."""

RULES: dict[str, Cell] = {
    "node_class": lambda job, horizon: ",".join(job.classes),
    "exclusive": lambda job, horizon: "yes" if job.exclusive else "",
    "priority": lambda job, horizon: "" if job.priority == 1 else exact(job.priority),
    "begin_time": lambda job, horizon: _time(horizon, job.begin_unix),
    "easy_start": lambda job, horizon: _time(horizon, job.easy_unix),
    "dependency": lambda job, horizon: format_dependencies(job.after),
    "qos": lambda job, horizon: job.qos,
    "partition": lambda job, horizon: job.partition,
}
"""Rules that only some sites have, each with its cell."""

SCHEDULE_COLUMNS = (
    *REQUEST,
    *RULES,
    "state",
    "start_time",
    "end_time",
    "start_s",
    "end_s",
    "nodes",
    "unit_nodes",
    "core_equivalents",
    "core_hours",
    "work_kwh",
    "idle_kwh",
    "cooling_kwh",
    "revenue_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "profit_eur",
    "deadline_met",
    "carbon_kg",
)
_OF_LEDGER = SCHEDULE_COLUMNS[SCHEDULE_COLUMNS.index("core_hours") : SCHEDULE_COLUMNS.index("deadline_met")]
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
    "work_kwh",
    "idle_kwh",
    "it_kwh",
    "cooling_kwh",
    "solar_kwh",
    "bought_kwh",
    "pue",
    "carbon_kg",
    "revenue_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "profit_eur",
    "fee_eur_per_kwh",
    "feed_in_eur_per_kwh",
    "asleep_h",
    "fed_kwh",
    "curtailed_kwh",
    "charged_kwh",
    "discharged_kwh",
    "battery_kwh",
    "fees_eur",
    "feed_in_eur",
    "battery_eur",
)
_OF_SITE = SEGMENT_COLUMNS[SEGMENT_COLUMNS.index("fee_eur_per_kwh") :]
_OF_SEGMENTS = ("temperature_c", "price_eur_per_kwh", "solar_w", "carbon_g_per_kwh", *_OF_SITE[:2])
"""What a segment says itself, written to the last bit."""

COLUMNS = {
    "schedule": SCHEDULE_COLUMNS,
    "deferred": (*REQUEST, *RULES, "times_deferred", "planned_start", "kind", "reason"),
    "segments": SEGMENT_COLUMNS,
}
"""Columns of each table, by the name of its file."""
OPTIONAL = {"schedule": (*RULES, "carbon_kg"), "deferred": tuple(RULES), "segments": _OF_SITE}
"""Those that it has only where there is such a thing: a rule of one of its jobs, or what is not zero all day."""

State = Literal["planned", "carried", "running", "done", "cancelled"]
"""What the ``state`` of a row of schedule.csv may be.

The job is planned to start today, or ran at midnight. In a day planned from a later moment: it runs then, has ended, or
was cancelled while it ran.
"""

STATES: tuple[State, ...] = get_args(State)

Kind = Literal["text", "time", "whole", "number", "flag"]

_KINDS: dict[Kind, tuple[str, ...]] = {
    "text": (
        *("job_id", "account", "user", "name", "unit_groups", "node_class", "dependency", "qos", "partition"),
        *("state", "nodes", "unit_nodes", "kind", "reason"),
    ),
    "time": (
        *("submit_time", "deadline", "start_time", "end_time", "planned_start", "reference_start", "latest_start"),
        *("begin_time", "easy_start"),
    ),
    "whole": ("requested_s", "units", "runtime_s", "estimate_s", "start_s", "end_s", "times_deferred"),
    "flag": ("deadline_met", "exclusive"),
}


def kind_of(column: str) -> Kind:
    """What the cells of a column are; an empty cell is an unknown of that kind."""
    return next((kind for kind, columns in _KINDS.items() if column in columns), "number")


def schedule_table(problem: Problem, plan: Plan, ledger: Ledger, happened: Problem | None = None) -> Table:
    """Every job that runs today, by start and id; ``state`` says which have started and which are planned.

    Energy, money and hours are those of this day alone; start and end are the job's own. ``happened`` is the day as it
    was carried out, whose ledger it is and which says when jobs end; the problem itself unless given.
    """
    lines, ran = ledger.jobs, happened or problem
    work: list[tuple[Job, State, int, int, tuple[int, ...]]] = [
        (each.job, state_of(each, problem.now_s), each.start_s, real.end_s, each.nodes)
        for each, real in zip(problem.running, ran.running, strict=True)
    ]
    jobs = {job.id: (job, real.planned_s) for job, real in zip(problem.jobs, ran.jobs, strict=True)}
    for placed in plan.placements(problem):
        job, ran_s = jobs[placed.job_id]
        work.append((job, "planned", placed.start_s, placed.start_s + ran_s, placed.nodes))
    rows = [
        (
            *_request(job, problem.horizon),
            state,
            local_time(problem.horizon, start_s),
            local_time(problem.horizon, end_s),
            str(start_s),
            str(end_s),
            problem.cluster.node_list(nodes),
            format_unit_nodes(nodes),
            number(equivalents, 3),
            *map(number, figures),
            _deadline_met(problem, job, end_s),
            carbon,
        )
        for (job, state, start_s, end_s, nodes), equivalents, figures, carbon in zip(
            work,
            lines.core_equivalents.tolist(),
            np.column_stack([getattr(lines, name) for name in _OF_LEDGER]).tolist(),
            _unless_zero(lines.carbon_kg),
            strict=True,
        )
    ]
    start = SCHEDULE_COLUMNS.index("start_s")
    return Table.of("schedule", sorted(rows, key=lambda row: (int(row[start]), row[0])))


def state_of(work: Running, now_s: int) -> State:
    """The state of a job that has started."""
    if work.is_cancelled:
        return "cancelled"
    if work.end_s <= now_s:
        return "done"
    return "running" if now_s else "carried"


def deferred_table(horizon: Horizon, deferrals: Iterable[tuple[Job, Deferral]]) -> Table:
    """Every known job that does not start today, with its reason."""
    rows = [
        (
            *_request(job, horizon),
            str(why.times),
            "" if why.planned_start_s is None else local_time(horizon, why.planned_start_s),
            why.kind,
            why.reason,
        )
        for job, why in deferrals
    ]
    return Table.of("deferred", sorted(rows, key=lambda row: (row[-2], row[0])))


def segment_table(problem: Problem, ledger: Ledger) -> Table:
    """Every segment of the day with its energy and money."""
    lines, horizon = ledger.segments, problem.horizon
    pue = 1 + np.divide(lines.cooling_kwh, lines.it_kwh, out=np.zeros_like(lines.it_kwh), where=lines.it_kwh > 0)

    def cells(name: str) -> list[str]:
        if name in ("start_time", "end_time"):
            return [local_time(horizon, getattr(each, f"{name[:-5]}_s")) for each in problem.segments]
        if name in ("start_s", "end_s"):
            return [str(getattr(each, name)) for each in problem.segments]
        if name in _OF_SEGMENTS:
            values = [float(getattr(each, name)) for each in problem.segments]
            return [exact(value) if name not in _OF_SITE or any(values) else "" for value in values]
        figures = pue if name == "pue" else getattr(lines, name)
        return _unless_zero(figures) if name in _OF_SITE else [number(value) for value in figures.tolist()]

    return Table.of("segments", list(zip(*map(cells, SEGMENT_COLUMNS), strict=True)))


def _request(job: Job, horizon: Horizon) -> tuple[str, ...]:
    """What a job asked, in the order of `REQUEST` and then of `RULES`."""
    return tuple(cell(job, horizon) for cell in (*REQUEST.values(), *RULES.values()))


def _unless_zero(values: Floats) -> list[str]:
    """Numbers, or nothing where all are zero."""
    return [number(value) if values.any() else "" for value in values.tolist()]


def local_time(horizon: Horizon, offset_s: int) -> str:
    """ISO 8601 wall-clock time with its offset."""
    return horizon.to_datetime(offset_s).isoformat()


def number(value: float, digits: int = 6) -> str:
    """A number with a fixed count of digits; never a negative zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-0") and not float(text) else text


def exact(value: float) -> str:
    """The shortest text that reads back as the same number; whole ones without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _deadline_met(problem: Problem, job: Job, end_s: int) -> str:
    if job.deadline_unix is None:
        return ""
    return "yes" if end_s <= problem.horizon.to_s(job.deadline_unix) else "no"
