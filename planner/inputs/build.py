"""From a scenario and a day to the problem of that day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from planner.domain.closed_room import node_outages
from planner.domain.fit import Fit
from planner.domain.handover import Handover
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral
from planner.domain.problem import Problem
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment, cut_segments, join_segments, split_segments, stretch_segments
from planner.domain.series import StepSeries
from planner.domain.site_state import SiteState
from planner.domain.snapshot import Snapshot
from planner.errors import CoverageError
from planner.inputs.jobs.read import known_jobs
from planner.inputs.prices import carbon_of, fee_of, feed_in_of, price_of
from planner.inputs.pue_csv import read_cooling
from planner.inputs.rates import rates_of
from planner.inputs.weather.read import weather_of
from planner.inputs.weather.solar import solar_of
from planner.inputs.weather.wet_bulb import wet_bulb_of
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Day:
    """The problem of a day with what came with it: the refused jobs, and what each reader kept and dropped.

    Attributes
    ----------
    times_deferred
        On how many earlier days each job that waits was deferred.
    withdrawn
        Jobs that were taken back before they started.
    snapshot
        What the day is planned from; None where that is what the day before left.
    ahead
        The same problem over a longer stretch of time, on which the day is decided; None: on the day itself.
    """

    scenario: Scenario
    problem: Problem
    rejected: tuple[tuple[Job, Deferral], ...]
    intakes: tuple[Intake, ...]
    times_deferred: Mapping[str, int] = field(default_factory=dict)
    withdrawn: tuple[tuple[Job, Deferral], ...] = ()
    snapshot: Snapshot | None = None
    ahead: Problem | None = None


def build_day(scenario: Scenario, day: dt.date, handover: Handover | None = None, *, closed: bool = False) -> Day:
    """Read every input of a day and put the problem together.

    With a ``handover`` the day continues from the one before: its running work holds its nodes, its deferred jobs wait
    again, and only jobs submitted since are new. Jobs that it refused and that others wait for are refused again.
    ``closed``: no new jobs come in.
    """
    horizon = Horizon(day, scenario.zone)
    empty, intakes = frame(scenario, horizon, state=None if handover is None else handover.site)
    jobs, jobs_intake = ((), Intake("no new jobs")) if closed else _new_jobs(scenario, horizon, handover)
    handover = handover or Handover()
    new, rejected = sorted_out(scenario, [*jobs, *handover.refused])
    times_deferred = {each.job.id: each.times_deferred for each in handover.waiting}
    problem = replace(
        empty,
        jobs=tuple(sorted([*(each.job for each in handover.waiting), *new], key=lambda job: job.submission_key)),
        running=handover.running,
        overdue=overdue(scenario, times_deferred),
        never=frozenset(job.id for job, _ in rejected),
    )
    return Day(scenario, problem, rejected, (jobs_intake, *intakes), times_deferred)


def _new_jobs(scenario: Scenario, horizon: Horizon, handover: Handover | None) -> tuple[tuple[Job, ...], Intake]:
    if handover is None:
        return known_jobs(scenario, horizon)
    jobs, intake = known_jobs(scenario, horizon, continues=True, since_unix=handover.since_unix)
    return tuple(job for job in jobs if job.id not in handover.known_ids), intake


def sorted_out(scenario: Scenario, jobs: Iterable[Job]) -> tuple[tuple[Job, ...], tuple[tuple[Job, Deferral], ...]]:
    """Jobs that the machine can run, and those that it never can with the reason, each in order of submission."""
    fit, taken, rejected = Fit(scenario.cluster), [], []
    for job in sorted(jobs, key=lambda job: job.submission_key):
        reason = fit.why_never(job)
        if reason is None:
            taken.append(job)
        else:
            rejected.append((job, Deferral(job.id, "rejected", reason)))
    return tuple(taken), tuple(rejected)


def overdue(scenario: Scenario, times_deferred: Mapping[str, int]) -> frozenset[str]:
    """The jobs that were deferred as often as the rules allow."""
    often = scenario.rules.max_deferral_days
    return frozenset(name for name, times in times_deferred.items() if often is not None and times >= often)


def frame(
    scenario: Scenario, horizon: Horizon, *, repeats: bool = False, state: SiteState | None = None
) -> tuple[Problem, list[Intake]]:
    """The problem of a day, or of any stretch of time, without jobs: its cluster, segments, cooling and rates.

    ``repeats``: a later day of which weather or prices are not known yet is like the day before it. ``state`` is what
    the day before left of the site, None on a first day.
    """
    table, table_intake = read_cooling(scenario.cooling.table, scenario.cooling.lookup)
    of_days: list[tuple[Horizon, tuple[Segment, ...]]] = []
    intakes: list[Intake] = []
    outside: list[tuple[int, float]] = []
    for day in horizon.days():
        try:
            segments, intake, temperatures = _segments(scenario, day, table)
            intakes.append(intake)
            outside += [(max(0, unix - horizon.start_unix), value) for unix, value in temperatures]
        except CoverageError:
            if not (repeats and of_days):
                raise
            segments = stretch_segments(of_days[-1][1], day.length_s)
        of_days.append((day, segments))
    segments = join_segments(horizon, of_days)
    if scenario.battery.capacity_kwh:
        # It may charge in one hour what it gives in the next, though nothing changes outside.
        segments = split_segments(segments, range(0, horizon.length_s, SECONDS_PER_HOUR))
    weather_intake = intakes[0]
    problem = Problem(
        horizon=horizon,
        cluster=scenario.cluster,
        jobs=(),
        segments=segments,
        table=table,
        rates=rates_of(scenario, horizon.day, state),
        defer=scenario.rules.defer,
        outages=node_outages(scenario.outages, horizon),
        outside=tuple(outside),
    )
    return problem, [weather_intake, table_intake]


def _segments(
    scenario: Scenario, horizon: Horizon, table: PueTable
) -> tuple[tuple[Segment, ...], Intake, list[tuple[int, float]]]:
    """The segments of a day, what the reader of weather kept, and the temperature as the weather has it."""
    is_wet = scenario.cooling.temperature == "wet-bulb"
    weather, intake = weather_of(scenario.weather, horizon, humidity=is_wet)
    temperature_c = wet_bulb_of(weather) if is_wet else weather.temperature_c
    price = price_of(scenario.tariff, horizon)
    segments = cut_segments(
        horizon,
        table,
        temperature_c,
        solar_w=solar_of(scenario.solar, weather, horizon),
        price_eur_per_kwh=price,
        fee_eur_per_kwh=fee_of(scenario.fees, horizon),
        feed_in_eur_per_kwh=feed_in_of(scenario.feed_in, price, horizon),
        carbon_g_per_kwh=carbon_of(scenario.carbon, horizon),
    )
    return segments, intake, _steps(temperature_c.between(horizon.start_unix, horizon.end_unix))


def _steps(series: StepSeries) -> list[tuple[int, float]]:
    """From when on [Unix seconds] a series has which value, each once."""
    pairs = list(zip(series.edges_unix.tolist(), series.values.tolist(), strict=False))
    return [pairs[0], *(now for before, now in pairwise(pairs) if now[1] != before[1])]
