"""Why real money is not what was planned: volume, runtime, power, start times, price and weather, exact to the digit.

A booked day is reached from its plan in steps, and each step is settled: the jobs that really ran, as long as they
really ran, with the power that they really drew, when and where they really ran, at the real prices, in the real
weather. What a step changes is its part. What is left is `other`: the month's peak and the battery as the day found
them, and changes of the site's own rates, nodes or cooling. So the parts are the whole difference, whatever happened.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from planner.accounting.settle import settle
from planner.domain.job import Job
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Running
from planner.domain.segment import Segment, split_segments
from planner.errors import InputError
from planner.store.costs import KEYS, SITE, WHERE_USED, CostDay, CostLine, Sums, cost_lines, exact, jobs_of, summed
from planner.store.read_day import WrittenDay, read_day

CAUSES = {
    "volume": "other jobs ran than were planned, or of another size",
    "runtime": "jobs ran shorter or longer",
    "power": "jobs drew more or less than was expected",
    "start_times": "jobs ran at other hours, or on other nodes",
    "price": "prices, fees and carbon intensity were others",
    "weather": "temperature and sun were others",
    "other": "the month's peak and the battery at midnight, and changes of the site's rates, nodes or cooling",
}
"""What may make the difference, in the order of the steps."""

MONEY = {"revenue_eur": "revenue", "cost_eur": "energy cost", "credit_eur": "credit", "profit_eur": "profit"}
"""What is split, as people are told it; the credit is what the battery and feeding in bring, and is in the profit."""

_Line = tuple[str, str]
"""Whether it is the site's own, and the account, user or job."""
_Step = Mapping[tuple[_Line, str], Decimal]
"""What each line comes to, by quantity."""


@dataclass(frozen=True)
class SplitLine:
    """What was planned for an account, a user or a job, or for the site itself, what it became, and why."""

    kind: str
    key: str
    quantity: str
    planned: Decimal
    parts: Mapping[str, Decimal]

    @property
    def real(self) -> Decimal:
        """What was planned, with all that changed it."""
        return self.planned + sum(self.parts.values(), Decimal(0))

    def in_cents(self) -> dict[str, Decimal]:
        """Planned, parts and real in cents that add up: each part goes from one rounded sum to the next."""
        shown, total = {"planned": _cents(self.planned)}, self.planned
        for name, part in self.parts.items():
            shown[name] = _cents(total + part) - _cents(total)
            total += part
        return shown | {"real": _cents(total)}

    def row(self) -> dict[str, Any]:
        """The line as a row of a table, without its first columns."""
        parts = {f"{name}_eur": part for name, part in self.parts.items()}
        return {"quantity": self.quantity, "planned_eur": self.planned} | parts | {"real_eur": self.real}


@dataclass(frozen=True)
class Split:
    """The lines of all, the site's own last; ``unsplit`` are days of which everything stands under `other`, and why."""

    lines: tuple[SplitLine, ...]
    unsplit: tuple[tuple[dt.date, str], ...] = ()

    def total(self, quantity: str) -> SplitLine:
        """All lines of a quantity together."""
        own = [line for line in self.lines if line.quantity == quantity]
        parts = {name: sum((line.parts[name] for line in own), Decimal(0)) for name in CAUSES}
        return SplitLine("all", "all", quantity, sum((line.planned for line in own), Decimal(0)), parts)

    @property
    def shown(self) -> tuple[str, ...]:
        """The quantities that people are shown: a credit only where there is one."""
        credit = self.total("credit_eur")
        is_used = bool(credit.planned or any(credit.parts.values()))
        return tuple(name for name in MONEY if name not in WHERE_USED or is_used)


def split(days: Iterable[CostDay], by: str) -> Split | None:
    """The differences of the days that are booked and were planned, by cause; None where there is no such day."""
    planned: _Step = {}
    parts: dict[str, _Step] = {name: {} for name in CAUSES}
    both = [(day.planned, day) for day in days if day.planned is not None]
    unsplit = []
    for plan, day in both:
        was, now = _written(plan, by), _written(day, by)
        planned, left = _plus(planned, was), _less(now, was)
        try:
            steps = _steps(plan, day, by)
        except InputError as error:
            unsplit.append((day.day, str(error)))
            steps = []
        for name, before, after in zip(CAUSES, steps, steps[1:], strict=False):
            changed = _less(after, before)
            parts[name], left = _plus(parts[name], changed), _less(left, changed)
        parts["other"] = _plus(parts["other"], left)
    if not both:
        return None
    keys = {line for step in (planned, *parts.values()) for line, _ in step}
    nothing = Decimal(0)

    def order(line: _Line) -> tuple[Any, ...]:
        return line[0] == SITE, -planned.get((line, "revenue_eur"), nothing), line[1]

    lines = [
        SplitLine(
            *line,
            quantity,
            planned.get((line, quantity), nothing),
            {name: step.get((line, quantity), nothing) for name, step in parts.items()},
        )
        for line in sorted(keys, key=order)
        for quantity in MONEY
    ]
    return Split(tuple(lines), tuple(unsplit))


def _plus(one: _Step, other: _Step) -> _Step:
    return {key: one.get(key, Decimal(0)) + other.get(key, Decimal(0)) for key in {**one, **other}}


def _less(one: _Step, other: _Step) -> _Step:
    return {key: one.get(key, Decimal(0)) - other.get(key, Decimal(0)) for key in {**one, **other}}


def _written(day: CostDay, by: str) -> _Step:
    """What the files of a day say."""
    step: defaultdict[tuple[_Line, str], Decimal] = defaultdict(Decimal)
    for line, sums in [*(((by, KEYS[by](job)), job.sums) for job in day.jobs), ((SITE, ""), day.site)]:
        for name in MONEY:
            step[line, name] += sums[name]
    return step


def _steps(plan: CostDay, day: CostDay, by: str) -> list[_Step]:
    """The day as planned, and after each of the changes but the last, settled under the plan's own rates."""
    was, now = read_day(plan.folder), read_day(day.folder)
    if was.problem.cluster != now.problem.cluster:
        raise InputError("its nodes are others than those that it was planned on")
    planned, real = _work(was), _work(now)
    sized = {job: planned[job].as_large_as(each) if job in planned else each for job, each in real.items()}
    as_long = {job: sized[job].as_long_as(each) if job in planned else each for job, each in real.items()}
    as_strong = {job: replace(as_long[job], job=each.job) for job, each in real.items()}
    old, new = was.problem.segments, now.problem.segments
    priced = _with_prices(old, new)
    keys_then, keys_now = ({job.job: KEYS[by](job) for job in each.jobs} for each in (plan, day))

    def settled(work: Mapping[str, _Ran], segments: tuple[Segment, ...], keys: Mapping[str, str]) -> _Step:
        return _settled(was.problem, work.values(), segments, lambda job: (by, keys[job]))

    return [
        settled(planned, old, keys_then),
        *(settled(work, old, keys_now) for work in (sized, as_long, as_strong, real)),
        settled(real, priced, keys_now),
        settled(real, new, keys_now),
    ]


@dataclass(frozen=True)
class _Ran:
    """A job with its start, end and nodes: as planned, as it happened, or between the two."""

    job: Job
    start_s: int
    end_s: int
    nodes: tuple[int, ...]

    def as_large_as(self, real: _Ran) -> _Ran:
        """The job that really ran, with the start, the length and the power per core of this one."""
        cores = self.job.total("cores")
        power_w = self.job.power_w * (real.job.total("cores") / cores if cores else 1.0)
        nodes = self.nodes if self.job.units == real.job.units else real.nodes
        return replace(self, job=replace(real.job, power_w=power_w), nodes=nodes)

    def as_long_as(self, real: _Ran) -> _Ran:
        """The same for as long as it really ran."""
        return replace(self, end_s=self.start_s + real.end_s - real.start_s)


def _work(written: WrittenDay) -> dict[str, _Ran]:
    """All that ran on a day, or was planned to, by its id."""
    happened = written.happened
    found = {each.job.id: _Ran(each.job, each.start_s, each.end_s, each.nodes) for each in happened.running}
    jobs = dict(zip((job.id for job in happened.jobs), happened.jobs, strict=True))
    lengths = dict(zip(jobs, happened.columns.duration_s.tolist(), strict=True))
    for each in written.plan.placements(happened):
        end_s = each.start_s + lengths[each.job_id]
        found[each.job_id] = _Ran(jobs[each.job_id], each.start_s, end_s, each.nodes)
    return found


def _settled(
    problem: Problem, work: Iterable[_Ran], segments: tuple[Segment, ...], line_of: Callable[[str], _Line]
) -> _Step:
    """What a step comes to. Jobs may be where others are, and draw more than the table of cooling has: it goes on."""
    day_s = problem.horizon.length_s
    running = tuple(
        Running(each.job, each.start_s, each.end_s, each.nodes)
        for each in work
        if each.end_s > max(0, each.start_s) and each.start_s < day_s
    )
    table = replace(problem.table, clamp=True)
    whole = replace(problem, jobs=(), running=running, now_s=day_s, segments=segments, table=table)
    ledger = settle(whole, Plan.of(whole, {}))
    lines, totals = ledger.jobs, ledger.totals
    revenue, profit = lines.revenue_eur.tolist(), lines.profit_eur.tolist()
    if not np.isfinite([*revenue, *profit, totals.profit_eur]).all():
        raise InputError("a step between plan and books cannot be settled")
    step: defaultdict[tuple[_Line, str], Decimal] = defaultdict(Decimal)
    credit = totals.feed_in_eur + totals.battery_eur
    left = [exact(each) for each in (totals.revenue_eur, totals.energy_cost_eur, credit, totals.profit_eur)]
    for job, earned, kept in zip(lines.job_ids, revenue, profit, strict=True):
        cost = exact(earned - kept)
        carried = (exact(earned), cost, Decimal(0), exact(earned) - cost)
        for at, (name, value) in enumerate(zip(MONEY, carried, strict=True)):
            step[line_of(job), name] += value
            left[at] -= value
    return step | {((SITE, ""), name): value for name, value in zip(MONEY, left, strict=True)}


def _with_prices(old: tuple[Segment, ...], new: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """The weather of the old segments with the prices of the new ones, cut wherever one of them changes."""
    weather = split_segments(old, [each.start_s for each in new])
    prices = split_segments(new, [each.start_s for each in old])
    return tuple(
        replace(one, temperature_c=other.temperature_c, solar_w=other.solar_w)
        for one, other in zip(prices, weather, strict=True)
    )


def _cents(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"))


COMPARED = ("core_hours", "gpu_hours", "kwh", "carbon_kg", "revenue_eur", "cost_eur", "credit_eur", "profit_eur")
"""Quantities that are set side by side; ``kwh`` is IT and cooling, ``cost_eur`` energy with all charges."""


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
    lines: tuple[PlannedLine, ...]

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


def planned_against_real(days: Iterable[CostDay], by: str) -> PlannedAgainstReal | None:
    """The comparison over the days that have both; None where no day has."""
    both = [(day.planned, day) for day in days if day.planned is not None]
    if not both:
        return None
    planned = {line.key: line for line in cost_lines(jobs_of(was for was, _ in both), by)}
    real = {line.key: line for line in cost_lines(jobs_of(now for _, now in both), by)}
    lines = [_line(by, key, planned.get(key), real.get(key)) for key in {**real, **planned}]
    lines.sort(key=lambda line: (-max(line.real["revenue_eur"], line.planned["revenue_eur"]), line.key))
    site = PlannedLine(SITE, "", summed([was.site for was, _ in both]), summed([now.site for _, now in both]))
    return PlannedAgainstReal(len(both), (*lines, site))


def _line(by: str, key: str, planned: CostLine | None, real: CostLine | None) -> PlannedLine:
    was, now = planned or CostLine(key), real or CostLine(key)
    return PlannedLine(by, key, was.sums, now.sums, len(was.job_ids), len(now.job_ids))


def planned_rows(found: PlannedAgainstReal, by: str) -> list[dict[str, Any]]:
    """The lines as rows of a table; every column is the sum of the days' totals, planned and real."""
    name = key_column(by)
    rows = []
    for line in found.lines:
        row: dict[str, Any] = {"kind": line.kind, name: line.key}
        row |= {"planned_jobs": line.planned_jobs, "real_jobs": line.real_jobs}
        for each in COMPARED:
            row |= {f"planned_{each}": line.planned[each], f"real_{each}": line.real[each]}
            row[f"difference_{each}"] = line.difference(each)
        rows.append(row)
    return rows


def key_column(by: str) -> str:
    return {"job": "job_id", "account-user": "account_user"}.get(by, by)
