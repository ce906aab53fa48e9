"""The tables that a day leaves: its schedule, the deferred jobs and the segments, as rows of text.

Every column is described in docs/outputs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.job import Job, format_dependencies
from planner.domain.ledger import Ledger
from planner.domain.node_text import format_unit_nodes
from planner.domain.plan import Deferral, Plan
from planner.domain.problem import Problem, Running
from planner.inputs.jobs.unit_groups import format_unit_groups
from planner.text_files import csv_text

LONE = "backslashreplace"
"""How halves of characters, which UTF-8 cannot hold, are written: as JSON and Python spell them."""


def encoded(text: str) -> bytes:
    """A text as the bytes of a file, whatever it was made from; JSON reads it back as it was."""
    return text.encode("utf-8", LONE)


@dataclass(frozen=True)
class Table:
    """Column names and rows, every cell as it stands in the CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV."""
        path.write_bytes(encoded(csv_text([self.columns, *self.rows])))

    def like(self, other: Table) -> Table:
        """The same table with empty columns where the other has some of `RULES` that none of its own jobs has."""
        if not set(other.columns) - set(self.columns) <= set(RULES):
            return self
        places = [self.columns.index(name) if name in self.columns else None for name in other.columns]
        return Table(other.columns, tuple(tuple("" if at is None else row[at] for at in places) for row in self.rows))


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
    "estimate_s",
    "reference_start",
    "latest_start",
)
"""What a job asked, and what it was promised: enough to read it back, with `RULES`."""

RULES: dict[str, Callable[[Job, Horizon], str]] = {
    "node_class": lambda job, horizon: ",".join(job.classes),
    "exclusive": lambda job, horizon: "yes" if job.exclusive else "",
    "priority": lambda job, horizon: "" if job.priority == 1 else exact(job.priority),
    "begin_time": lambda job, horizon: (
        "" if job.begin_unix is None else local_time(horizon, horizon.to_s(job.begin_unix))
    ),
    "easy_start": lambda job, horizon: (
        "" if job.easy_unix is None else local_time(horizon, horizon.to_s(job.easy_unix))
    ),
    "dependency": lambda job, horizon: format_dependencies(job.after),
    "qos": lambda job, horizon: job.qos,
    "partition": lambda job, horizon: job.partition,
}
"""Columns after these that a table has only if one of its jobs has such a rule, and the cell of each job."""

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
)
_LEDGER_COLUMNS = SCHEDULE_COLUMNS[SCHEDULE_COLUMNS.index("core_hours") : -1]
JOB_COLUMNS = ("carbon_kg",)
"""Columns after these that a schedule has only if the day has such a thing: one that is not zero for all jobs."""
DEFERRED_COLUMNS = (*REQUEST_COLUMNS, "times_deferred", "planned_start", "kind", "reason")
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
)
_FIRST_FIGURE = SEGMENT_COLUMNS.index("core_hours")

CONTRACT_COLUMNS = (
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
"""Columns after these that segments have only where the site has such a thing: one that is not zero all day."""

COLUMNS = {"schedule": SCHEDULE_COLUMNS, "deferred": DEFERRED_COLUMNS, "segments": SEGMENT_COLUMNS}
"""Columns of each table, by the name of its file."""

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
    rules = _rules_of([job for job, *_ in work], problem.horizon)
    extras = [name for name in JOB_COLUMNS if getattr(lines, name).any()]
    rows = [
        (
            *request_row(job, problem.horizon, rules),
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
            *map(number, more),
        )
        for (job, state, start_s, end_s, nodes), equivalents, figures, more in zip(
            work,
            lines.core_equivalents.tolist(),
            np.column_stack([getattr(lines, name) for name in _LEDGER_COLUMNS]).tolist(),
            [[getattr(lines, name)[k] for name in extras] for k in range(len(work))],
            strict=True,
        )
    ]
    columns = with_rules(SCHEDULE_COLUMNS, [*rules, *extras])
    start, name = columns.index("start_s"), 0
    return Table(columns, tuple(sorted(rows, key=lambda row: (int(row[start]), row[name]))))


def state_of(work: Running, now_s: int) -> State:
    """The state of a job that has started."""
    if work.is_cancelled:
        return "cancelled"
    if work.end_s <= now_s:
        return "done"
    return "running" if now_s else "carried"


def deferred_table(horizon: Horizon, deferrals: Iterable[tuple[Job, Deferral]]) -> Table:
    """Every known job that does not start today, with its reason."""
    waiting = list(deferrals)
    rules = _rules_of([job for job, _ in waiting], horizon)
    rows = (
        (
            *request_row(job, horizon, rules),
            str(why.times),
            "" if why.planned_start_s is None else local_time(horizon, why.planned_start_s),
            why.kind,
            why.reason,
        )
        for job, why in waiting
    )
    return Table(with_rules(DEFERRED_COLUMNS, rules), tuple(sorted(rows, key=lambda row: (row[-2], row[0]))))


def segment_table(problem: Problem, ledger: Ledger) -> Table:
    """Every segment of the day with its energy and money."""
    lines = ledger.segments
    pue = 1 + np.divide(lines.cooling_kwh, lines.it_kwh, out=np.zeros_like(lines.it_kwh), where=lines.it_kwh > 0)
    figures = [pue if name == "pue" else getattr(lines, name) for name in SEGMENT_COLUMNS[_FIRST_FIGURE:]]
    rows = tuple(
        (
            local_time(problem.horizon, segment.start_s),
            local_time(problem.horizon, segment.end_s),
            str(segment.start_s),
            str(segment.end_s),
            exact(float(segment.temperature_c)),
            exact(segment.price_eur_per_kwh),
            exact(segment.solar_w),
            exact(segment.carbon_g_per_kwh),
            *map(number, cells),
        )
        for segment, cells in zip(problem.segments, np.column_stack(figures).tolist(), strict=True)
    )
    prices = problem.segment_columns
    extras = {
        name: [exact(value) for value in getattr(prices, name).tolist()]
        if name in ("fee_eur_per_kwh", "feed_in_eur_per_kwh")
        else [number(value) for value in getattr(lines, name).tolist()]
        for name in CONTRACT_COLUMNS
        if getattr(prices if hasattr(prices, name) else lines, name).any()
    }
    if not extras:
        return Table(SEGMENT_COLUMNS, rows)
    more = zip(*extras.values(), strict=True)
    return Table((*SEGMENT_COLUMNS, *extras), tuple((*row, *cells) for row, cells in zip(rows, more, strict=True)))


def with_rules(columns: tuple[str, ...], rules: Iterable[str]) -> tuple[str, ...]:
    """The columns of a table in which jobs have some of `RULES` and `JOB_COLUMNS`, or segments `CONTRACT_COLUMNS`."""
    names = list(rules)
    if columns == SEGMENT_COLUMNS:
        return (*columns, *(name for name in names if name in CONTRACT_COLUMNS))
    requests, others = columns[: len(REQUEST_COLUMNS)], columns[len(REQUEST_COLUMNS) :]
    if requests != REQUEST_COLUMNS:
        return columns
    last = [name for name in names if name in JOB_COLUMNS] if columns == SCHEDULE_COLUMNS else []
    return (*requests, *(name for name in names if name in RULES), *others, *last)


def _rules_of(jobs: Sequence[Job], horizon: Horizon) -> list[str]:
    """Those of `RULES` that some of the jobs have."""
    return [name for name, cell in RULES.items() if any(cell(job, horizon) for job in jobs)]


def request_row(job: Job, horizon: Horizon, rules: Iterable[str]) -> tuple[str, ...]:
    """What a job asked, in the order of REQUEST_COLUMNS and then of some of `RULES`."""
    return (
        job.id,
        job.account,
        job.user,
        job.name,
        local_time(horizon, horizon.to_s(job.submit_unix)),
        str(job.requested_s),
        str(job.unit_count),
        format_unit_groups(job.units),
        exact(job.power_w),
        "" if job.deadline_unix is None else local_time(horizon, horizon.to_s(job.deadline_unix)),
        exact(job.revenue_weight),
        "" if job.runtime_s is None else str(job.runtime_s),
        "" if job.estimate_s is None else str(job.estimate_s),
        "" if job.promise is None else local_time(horizon, horizon.to_s(job.promise.reference_unix)),
        "" if job.promise is None else local_time(horizon, horizon.to_s(job.promise.latest_unix)),
        *(RULES[name](job, horizon) for name in rules),
    )


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
