"""Rows beside plans in a comparison: policies on the same days, and the same plans under members of a forecast."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from planner.accounting.settle import settle
from planner.domain.columns import Ints
from planner.domain.day_summary import DaySummary, DayTotals
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.ledger import Totals
from planner.domain.plan import DEFERRED
from planner.domain.waits import Waits
from planner.errors import InputError, TableError
from planner.inputs.build import frame
from planner.inputs.prices import price_members
from planner.inputs.traces import NEVER_FITS, Source, read_known
from planner.inputs.weather.read import weather_of
from planner.metrics import METRICS
from planner.online.audit_replay import require_sound
from planner.online.estimates import estimate_named
from planner.online.holding import NO_HOLDING
from planner.online.objectives import NO_PROFIT
from planner.online.policies import Policy
from planner.online.replay import Replay, replay
from planner.planning.energy_costs import profit_terms_of
from planner.planning.hold_settings import holding_of_trace
from planner.runs.compare_results import TOTALS, Row, Sums, day_rows, run_row, settled_under, sum_row
from planner.runs.measured_replays import outcome_of
from planner.runs.parallel_calls import Outcome, RunTask
from planner.runs.progress import UNCOUNTED, DayCount
from planner.runs.replay_ledger import days_of_window
from planner.scenario.revenue_tariff_carbon import HourlyTariff
from planner.scenario.schema import Scenario
from planner.scenario.weather_cooling import FileWeather
from planner.store.read_day import read_day
from planner.store.read_tables import Came, read_table, ready_unix, start_unix, take_in
from planner.units import rounded


@dataclass(frozen=True)
class RunFound:
    """A run: its row, the rows of its days, its sums under other scenarios by name, and its rows of members."""

    row: Row
    days: list[Row]
    under: Mapping[str, Sums] = field(default_factory=dict)
    members: Sequence[Row] = ()


def policy_run(
    scenario: Scenario,
    policy: Policy,
    span: tuple[dt.date, dt.date],
    others: Sequence[Scenario] = (),
    count: DayCount = UNCOUNTED,
) -> RunFound | None:
    """A policy on the days from the first to the last of ``span``; None where there is no job to replay.

    The jobs are those that plans of these days know, the first day from nothing: those submitted earlier wait at its
    midnight. With ``execute: requested`` every job runs as long as it asked, as in the plans. ``others`` are scenarios
    under which the same schedule is settled as well.
    """
    began = time.monotonic()
    source = read_known(scenario, *span)
    if source is None:
        return None
    trace = source.trace
    own_s = trace.submit_s
    trace = replace(trace, submit_s=np.maximum(own_s, 0))
    if scenario.rules.execute == "requested":
        trace = replace(trace, runtime_s=trace.requested_s)
    profit = profit_terms_of(scenario, trace) if policy.needs_prices else NO_PROFIT
    holding = holding_of_trace(scenario, trace) if policy.holds else NO_HOLDING
    estimate = estimate_named(scenario.rules.estimate).make(trace)
    result = replay(trace, policy, estimate, profit=profit, holding=holding)
    require_sound(result)
    count.add(REPLAYED, time.monotonic() - began)
    names = {"scenario": scenario.name, "method": policy.name, "kind": "policy"}
    row, rows = _rows(names, scenario, source, result, own_s, _settled(scenario, source, result, span, count))
    under = {each.name: _sums_of(_settled(each, source, result, span, count)) for each in others}
    return RunFound(row, rows, under)


REPLAYED, SETTLED = "replayed", "settled"
"""Kinds of work that are counted: a replay, and a day of it that is settled."""


def _settled(
    scenario: Scenario, source: Source, result: Replay, span: tuple[dt.date, dt.date], count: DayCount
) -> list[tuple[dt.date, Totals]]:
    first, last = span
    days = (last - first).days + 1
    each = days_of_window(scenario, source.jobs, result, first_day=first, days=days)
    return list(count.timed(each, lambda day: SETTLED))


def plan_run(task: RunTask, others: Sequence[Scenario] = (), *, by_member: bool = False) -> RunFound:
    """A run of days that are planned, or kept, and what else is asked of it."""
    summaries = task.run()
    names = {"scenario": task.scenario.name, "method": task.params.method, "kind": "plan"}
    row = run_row(names, summaries) | wait_columns(_waits_of(task.folder, summaries)) | NO_PROMISE
    written = [read_day(task.folder / each.day.isoformat()) for each in summaries] if others else []
    under = {each.name: _sums_of(settled_under(each, written)) for each in others}
    members = member_rows(task.scenario, task.params.method, summaries, task.folder) if by_member else []
    return RunFound(row, day_rows(names, summaries), under, members)


def _sums_of(settled: list[tuple[dt.date, Totals]]) -> Sums:
    """What parts of a difference are worked out from."""
    told = [DayTotals.of(totals) for _, totals in settled]
    return {name: math.fsum(getattr(each, name) for each in told) for name in COMPARED}


COMPARED = ("profit_eur", "revenue_eur", "core_hours")


def _waits_of(folder: Path, summaries: Outcome) -> Waits:
    """How long jobs waited from when they could first start: those that the run leaves waiting, until its end."""
    came = Came()
    ready: list[Ints] = []
    start: list[Ints] = []
    for summary in summaries:
        table = read_table(folder / summary.day.isoformat(), "schedule")
        is_new = np.array([state == "planned" for state in table.column("state")], dtype=np.bool_)
        take_in(came, table, summary.horizon)
        ready.append(ready_unix(table, summary.horizon, came)[is_new])
        start.append(start_unix(table, summary.horizon)[is_new])
    last = summaries[-1]
    table = read_table(folder / last.day.isoformat(), "deferred")
    waits = np.array([kind == "deferred" for kind in table.column("kind")], dtype=np.bool_)
    ready.append(ready_unix(table, last.horizon, came)[waits])
    start.append(np.full(len(ready[-1]), DEFERRED, dtype=np.int64))
    return Waits.of(np.concatenate(ready), np.concatenate(start), last.horizon.end_unix)


def _rows(
    names: Mapping[str, str],
    scenario: Scenario,
    source: Source,
    result: Replay,
    own_s: Ints,
    settled: Sequence[tuple[dt.date, Totals]],
) -> tuple[Row, list[Row]]:
    """The row of a replay and those of its days; ``own_s`` is when jobs were really submitted [s of the trace]."""
    horizons = [Horizon(day, scenario.zone) for day, _ in settled]
    begin_unix = horizons[0].start_unix
    rejected = source.intake.dropped.get(NEVER_FITS, 0)
    rows: list[Row] = []
    for (_, totals), horizon in zip(settled, horizons, strict=True):
        span = (horizon.start_unix - begin_unix, horizon.end_unix - begin_unix)
        rows.append(
            {**names, "day": horizon.day.isoformat()}
            | _money(totals)
            | _jobs(source.jobs, result, own_s, begin_unix, span)
            | {"rejected": 0 if rows else rejected, "bound_eur": None, "gap_fraction": None, "status": None}
        )
    end_s = horizons[-1].end_unix - begin_unix
    last_end_s = int(result.end_s[result.start_s < end_s].max(initial=0))
    depends = np.array([bool(job.after) for job in source.jobs], dtype=np.bool_)
    waits = Waits.of(np.where(depends, result.ready_s, own_s), result.start_s, end_s)
    return sum_row(names, rows, horizons, begin_unix + last_end_s) | wait_columns(waits) | promise(result), rows


def _money(totals: Totals) -> Row:
    plain = DayTotals.of(totals)
    return {name: getattr(plain, name) for name in (*TOTALS, "pue")}


def _jobs(jobs: tuple[Job, ...], result: Replay, own_s: Ints, begin_unix: int, span: tuple[int, int]) -> Row:
    """What became of jobs on a day; ``span`` is that of the day [s of the trace]."""
    first_s, end_s = span
    start, end, trace = result.start_s, result.end_s, result.trace
    held_s = np.clip(np.minimum(end, end_s) - np.maximum(start, first_s), 0, None)
    room = trace.machine.processors * (end_s - first_s)
    due = np.array([math.inf if job.deadline_unix is None else job.deadline_unix - begin_unix for job in jobs])
    return {
        "utilisation_fraction": rounded(float(np.sum(trace.processors_of * held_s)) / room),
        "started": int(np.sum((start >= first_s) & (start < end_s))),
        "finished": int(np.sum((end > first_s) & (end <= end_s))),
        "missed_deadlines": int(np.sum((end > due) & (due >= first_s) & (due < end_s))),
        "running": int(np.sum((start < end_s) & (end > end_s))),
        "deferred": int(np.sum((own_s < end_s) & (start >= end_s))),
    }


def wait_columns(waits: Waits) -> Row:
    """Waits as columns of a run."""
    return {"mean_wait_s": waits.mean_s, "wait95_s": waits.p95_s, "still_waiting": waits.still_waiting}


NO_PROMISE: Row = {"delayed": None, "longest_delay_s": None, "broken_promises": None}
"""Of plans, and of policies that promise nothing."""


def promise(result: Replay) -> Row:
    """How the promise was kept, over all jobs until the last has ended."""
    if not result.policy.holds:
        return NO_PROMISE
    outcome = outcome_of(result)
    delay_s = METRICS["max-hold"].of(outcome)
    return {
        "delayed": int(METRICS["held"].of(outcome)),
        "longest_delay_s": 0 if math.isnan(delay_s) else int(delay_s),
        "broken_promises": int(METRICS["broken"].of(outcome)),
    }


MEAN = "mean"
FIGURES = (
    "profit_eur",
    "revenue_eur",
    "energy_cost_eur",
    "cooling_cost_eur",
    "it_kwh",
    "cooling_kwh",
    "bought_kwh",
    "solar_kwh",
    "carbon_kg",
)
"""Figures of a member, which add up over days."""


@dataclass(frozen=True)
class Member:
    """A member of the forecast of weather or prices: a column of its file."""

    forecast: Literal["weather", "price"]
    name: str

    def scenario(self, whole: Scenario) -> Scenario:
        """The scenario with this member for certain, and the other forecast at its mean."""
        section = "weather" if self.forecast == "weather" else "tariff"
        alone = getattr(whole, section).model_copy(update={"members": (self.name,)})
        return whole.model_copy(update={section: alone})


def forecast_members(scenario: Scenario, horizon: Horizon) -> list[Member]:
    """The members of a scenario's forecasts; InputError where it has none."""
    found: list[Member] = []
    if isinstance(scenario.weather, FileWeather) and scenario.weather.members:
        weather, _ = weather_of(scenario.weather, horizon)
        found += [Member("weather", name) for name in weather.members]
    if isinstance(scenario.tariff, HourlyTariff):
        found += [Member("price", name) for name in price_members(scenario.tariff)]
    if not found:
        raise InputError(
            f"scenario {scenario.name} has no members of a forecast; give weather.members, or tariff.members with"
            " kind: hourly, or leave --members out"
        )
    return found


def member_rows(scenario: Scenario, method: str, summaries: Sequence[DaySummary], folder: Path) -> list[Row]:
    """A row for the mean on which the written days of a run were planned, and one for each member of a forecast.

    Each has the sums over the days of the same plans, and the profit more than under the mean.
    """
    written = [read_day(folder / summary.day.isoformat()) for summary in summaries]
    members = forecast_members(scenario, summaries[0].horizon)
    mean = [day.ledger.totals for day in written]
    names: Row = {"scenario": scenario.name, "method": method}
    rows = [names | {"forecast": MEAN, "member": MEAN} | _sums(mean)]
    for member in members:
        alone = member.scenario(scenario)
        totals = []
        for day in written:
            segments = frame(alone, day.happened.horizon)[0].segments
            try:
                totals.append(settle(replace(day.happened, segments=segments), day.plan).totals)
            except TableError as error:
                raise TableError(f"{member.forecast} member {member.name}: {error}") from error
        rows.append(names | {"forecast": member.forecast, "member": member.name} | _sums(totals))
    return [row | {"profit_difference_eur": round(row["profit_eur"] - rows[0]["profit_eur"], 6) + 0.0} for row in rows]


def _sums(days: Sequence[Totals]) -> Row:
    sums = {name: round(math.fsum(getattr(day, name) for day in days), 6) + 0.0 for name in FIGURES}
    return sums | {"pue": round(1 + sums["cooling_kwh"] / sums["it_kwh"], 6) if sums["it_kwh"] else 1.0}
