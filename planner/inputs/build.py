"""From a scenario and a situation to the problem of its day: what has started is fixed, what waits is to be planned.

Its segments come from weather and prices; what is not known of them yet is as on the last day that is known. Its rates
come from the scenario and what the day before left.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from planner.domain.ever_fits import Fit
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral
from planner.domain.problem import Problem, Running
from planner.domain.pue_table import PueTable
from planner.domain.rates import Battery, Rates
from planner.domain.segment import Segment, cut_segments, join_segments, split_segments, stretch_segments
from planner.domain.situation import SiteState, Situation, StartedJob, node_outages
from planner.domain.time_ahead import TimeAhead
from planner.domain.weather import StepSeries
from planner.errors import CoverageError
from planner.inputs.jobs.read import known_jobs
from planner.inputs.prices import carbon_of, fee_of, feed_in_of, price_of
from planner.inputs.pue_csv import read_cooling
from planner.inputs.weather.read import weather_of
from planner.inputs.weather.solar import solar_of
from planner.inputs.weather.wet_bulb import wet_bulb_of
from planner.limits import DAY_S, Bounds
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR

HOURS = Bounds(0, 24 * 14, "hours", above=True)
"""How far ahead of a moment jobs are planned."""

Told = tuple[tuple[Job, Deferral], ...]
"""Jobs that are not planned, with what is told of them."""


@dataclass(frozen=True)
class Day:
    """The problem of a day with what came with it: the situation, the refused jobs, what readers kept and dropped.

    ``ahead`` is the same problem over a longer stretch of time, on which the day is decided; None: on the day itself.
    ``outlook`` says what counts there, None where only the profit of the day does.
    """

    scenario: Scenario
    situation: Situation
    problem: Problem
    rejected: Told
    intakes: tuple[Intake, ...]
    ahead: Problem | None = None
    outlook: TimeAhead | None = None

    @property
    def withdrawn(self) -> Told:
        """Jobs that were taken back before they started."""
        text = "it was cancelled before it started"
        return tuple((job, Deferral(job.id, "withdrawn", text)) for job in self.situation.withdrawn)


def build_day(scenario: Scenario, day: dt.date) -> Day:
    """A day that begins with nothing: every input read, and the problem put together."""
    horizon = Horizon(day, scenario.zone)
    situation, intake = first_situation(scenario, horizon)
    return build(scenario, horizon, situation, intake)


def first_situation(scenario: Scenario, horizon: Horizon, moment_unix: int | None = None) -> tuple[Situation, Intake]:
    """The situation of a site without a past, at midnight or a later moment: nothing has started."""
    jobs, intake = known_jobs(scenario, horizon, until_unix=known_until(scenario, horizon, moment_unix))
    moment = horizon.start_unix if moment_unix is None else moment_unix
    nightly = moment_unix is None
    return Situation(moment, jobs, outages=scenario.outages, nightly=nightly, source=intake.source), intake


def known_until(scenario: Scenario, horizon: Horizon, moment_unix: int | None = None) -> int:
    """Until when jobs are submitted that are known on a day at a moment, at midnight if none is given."""
    if scenario.jobs.visibility == "day":
        return horizon.end_unix
    return horizon.start_unix if moment_unix is None else moment_unix


def build(
    scenario: Scenario, horizon: Horizon, situation: Situation, intake: Intake, until_unix: int | None = None
) -> Day:
    """Read every input of a day and put the problem together.

    What has started on the day or before, ended or not, is fixed; jobs that wait start from the moment of the situation
    on. The day is decided on the stretch from its midnight to ``until_unix``, where that is beyond its end. ``intake``
    is what the reader of the situation kept and dropped.
    """
    waiting, rejected = sorted_out(scenario, situation.pending)
    over = sum(_ended_by(each, horizon.start_unix) for each in situation.started)
    if over:
        intake.notes.append(f"{over} jobs ended before {horizon.day}: they are part of earlier days")
    empty, intakes = frame(scenario, horizon, repeats=not situation.nightly, state=situation.site)
    day = Day(scenario, situation, empty, rejected, (intake, *intakes))
    ahead = None
    if until_unix is not None and until_unix > horizon.end_unix:
        longer = Horizon.from_moment(horizon.start_unix, until_unix - horizon.start_unix, scenario.zone)
        ahead = _filled(day, frame(scenario, longer, repeats=True, state=situation.site)[0], waiting)
    return replace(day, problem=_filled(day, empty, waiting), ahead=ahead)


def _filled(day: Day, empty: Problem, waiting: tuple[Job, ...]) -> Problem:
    """A problem without jobs, filled with those of the situation; what ended before its horizon is no part of it."""
    horizon, situation = empty.horizon, day.situation
    now_s = horizon.to_s(situation.moment_unix)
    started = [each for each in situation.started if not _ended_by(each, horizon.start_unix)]
    known = {job.id for job in waiting}
    return replace(
        empty,
        jobs=waiting,
        running=tuple(_fixed(each, horizon, now_s) for each in started),
        overdue=_overdue(day.scenario, situation, waiting) & known,
        now_s=now_s,
        outages=node_outages(situation.outages, horizon),
        never=frozenset(job.id for job, _ in day.rejected),
    )


def _fixed(started: StartedJob, horizon: Horizon, now_s: int) -> Running:
    """A started job: with its real end, or with the end that its requested time lets expect, at the earliest now.

    A job that ended in the second of its start holds its nodes for that second.
    """
    start_s = horizon.to_s(started.start_unix)
    if started.end_unix is None:
        end_s = max(start_s + started.job.planned_s, now_s + 1)
    else:
        end_s = max(horizon.to_s(started.end_unix), start_s + 1)
    return Running(started.job, start_s, end_s, started.nodes, is_cancelled=started.cancelled)


def _ended_by(started: StartedJob, unix: int) -> bool:
    """Whether a job was over at a moment."""
    return started.end_unix is not None and started.end_unix <= unix


def sorted_out(scenario: Scenario, jobs: Iterable[Job]) -> tuple[tuple[Job, ...], Told]:
    """Jobs that the machine can run, and those that it never can with the reason, each in order of submission."""
    fit, taken, rejected = Fit(scenario.cluster), [], []
    for job in sorted(jobs, key=lambda job: job.submission_key):
        reason = fit.why_never(job)
        if reason is None:
            taken.append(job)
        else:
            rejected.append((job, Deferral(job.id, "rejected", reason)))
    return tuple(taken), tuple(rejected)


def _overdue(scenario: Scenario, situation: Situation, waiting: Iterable[Job]) -> frozenset[str]:
    """The jobs that were deferred as often as the rules allow, or that EASY would have started a day ago."""
    often, day_ago = scenario.rules.max_deferral_days, situation.moment_unix - DAY_S
    if often is None:
        return frozenset(job.id for job in waiting if job.easy_unix is not None and job.easy_unix <= day_ago)
    return frozenset(name for name, times in situation.times_deferred.items() if times >= often)


def frame(
    scenario: Scenario, horizon: Horizon, *, repeats: bool = False, state: SiteState | None = None
) -> tuple[Problem, list[Intake]]:
    """The problem of a day, or of any stretch of time, without jobs: its cluster, segments, cooling and rates.

    ``repeats``: what is not known yet of weather or prices is as on the last day that is. ``state`` is what the day
    before left of the site, None on a first day.
    """
    table, table_intake = read_cooling(scenario.cooling.table, scenario.cooling.lookup)
    of_days: list[tuple[Horizon, tuple[Segment, ...]]] = []
    intakes: list[Intake] = []
    outside: list[tuple[int, float]] = []
    for day in horizon.days():
        segments, intake, temperatures = segments_of(scenario, day, table, repeats=repeats)
        intakes.append(intake)
        outside += [(max(0, unix - horizon.start_unix), value) for unix, value in temperatures]
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


QUARTER_S = 900
DAYS_BACK = 30
"""How far back a day is looked for of which prices and weather are known."""

Segments = tuple[tuple[Segment, ...], Intake, list[tuple[int, float]]]
"""Segments, what was kept of the weather, and from when on [Unix s] it has which temperature [C]."""


def segments_of(scenario: Scenario, day: Horizon, table: PueTable, *, repeats: bool = False) -> Segments:
    """The segments of a day; CoverageError where not all is known, unless it ``repeats`` the last day that is."""
    try:
        return _segments(scenario, day, table)
    except CoverageError as error:
        if not repeats:
            raise
        return _as_far_as_known(scenario, day, table, error)


def _segments(scenario: Scenario, horizon: Horizon, table: PueTable) -> Segments:
    """The segments of a day, what the reader of weather kept, and the temperature as the weather has it."""
    is_wet = scenario.cooling.temperature == "wet-bulb"
    weather, intake = weather_of(scenario.weather, horizon, humidity=is_wet)
    temperature_c = wet_bulb_of(weather) if is_wet else weather.temperature_c
    price = price_of(scenario.tariff, horizon, scenario.currency)
    segments = cut_segments(
        horizon,
        table,
        temperature_c,
        solar_w=solar_of(scenario.solar, weather, horizon),
        price_eur_per_kwh=price,
        fee_eur_per_kwh=fee_of(scenario.fees, horizon, scenario.tariff.eur_per_usd, scenario.currency),
        feed_in_eur_per_kwh=feed_in_of(scenario.feed_in, price, horizon),
        carbon_g_per_kwh=carbon_of(scenario.carbon, horizon),
    )
    return segments, intake, _steps(temperature_c.between(horizon.start_unix, horizon.end_unix))


def _as_far_as_known(scenario: Scenario, day: Horizon, table: PueTable, error: CoverageError) -> Segments:
    """The segments of a day of which not all is known: the rest is as at the same time of the last day that is."""
    segments, intake, temperatures = _last_known(scenario, day, table, error)
    rest = stretch_segments(segments, day.length_s)
    known_s = _known_s(day, error)
    while known_s:
        try:
            known, intake, temperatures = _segments(scenario, Horizon(day.day, day.zone, for_s=known_s), table)
        except CoverageError as earlier:  # prices may end before the weather does
            known_s, error = min(known_s - QUARTER_S, _known_s(day, earlier)), earlier
            continue
        rest = (*known, *(each for each in split_segments(rest, [known_s]) if each.start_s >= known_s))
        break
    since = day.to_datetime(known_s).isoformat(timespec="minutes")
    what = error.what or "prices or weather"
    intake.alerts.append(f"{what}: not known from {since} on; taken as on the last day of which all is known")
    return join_segments(day, [(day, rest)]), intake, temperatures


def _known_s(day: Horizon, error: CoverageError) -> int:
    """How much of a day is known, in whole quarters of an hour [s]."""
    known_s = 0 if error.until_unix is None else error.until_unix - day.start_unix
    return max(0, known_s // QUARTER_S * QUARTER_S)


def _last_known(scenario: Scenario, day: Horizon, table: PueTable, error: CoverageError) -> Segments:
    """The last day before one of which all is known; the error where there is none."""
    before = day
    for _ in range(DAYS_BACK):
        before = before.day_before()
        try:
            segments, intake, temperatures = _segments(scenario, before, table)
        except CoverageError:
            continue
        shift = day.start_unix - before.start_unix
        return segments, intake, [(unix + shift, value) for unix, value in temperatures]
    raise error


def _steps(series: StepSeries) -> list[tuple[int, float]]:
    """From when on [Unix seconds] a series has which value, each once."""
    pairs = list(zip(series.edges_unix.tolist(), series.values.tolist(), strict=False))
    return [pairs[0], *(now for before, now in pairwise(pairs) if now[1] != before[1])]


def rates_of(scenario: Scenario, day: dt.date, state: SiteState | None = None) -> Rates:
    """The rates of a day; ``state`` is what the day before left, None on a first day."""
    revenue, demand = scenario.revenue, scenario.demand
    return Rates(
        eur_per_core_hour=revenue.eur_per_core_hour,
        demand_eur_per_kw=demand.eur_per_kw,
        demand_interval_s=demand.interval_s,
        carbon_eur_per_tonne=scenario.carbon.eur_per_tonne,
        eur_per_hour=revenue.eur_per_hour,
        class_prices=revenue.class_prices(),
        account_factors=revenue.accounts,
        qos_factors=revenue.qos,
        demand_so_far_kw=_so_far_kw(scenario, day, state),
        battery=_battery(scenario, state),
        carbon_weight_eur_per_tonne=scenario.goal.carbon_weight,
    )


def _so_far_kw(scenario: Scenario, day: dt.date, state: SiteState | None) -> float:
    """The peak that is charged already: that of the month so far, where the month is what is charged."""
    if scenario.demand.period == "day":
        return 0.0
    if state is None:
        return scenario.demand.peak_kw
    return state.peak_kw if state.is_of_month(day) else 0.0


def _battery(scenario: Scenario, state: SiteState | None) -> Battery | None:
    chosen = scenario.battery
    if not chosen.capacity_kwh:
        return None
    held = chosen.start_fraction * chosen.capacity_kwh
    if state is not None and state.battery_kwh is not None:
        held = min(state.battery_kwh, chosen.capacity_kwh)
    return Battery(
        chosen.capacity_kwh, chosen.power_kw, chosen.efficiency, held, chosen.end_fraction * chosen.capacity_kwh
    )
