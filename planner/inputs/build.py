"""From a scenario and a situation to the problem of its day: what has started is fixed, what waits is to be planned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace

from planner.domain.ever_fits import Fit
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral, Plan
from planner.domain.problem import Problem, Running
from planner.domain.segment import Segment, join_segments, split_segments
from planner.domain.situation import SiteState, Situation, StartedJob, node_outages
from planner.domain.waits import Regime
from planner.inputs.jobs.read import known_jobs
from planner.inputs.last_known_day import segments_of
from planner.inputs.prices import rates_of
from planner.inputs.pue_csv import read_cooling
from planner.limits import DAY_S, Bounds
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR

HOURS = Bounds(0, 24 * 14, "hours", above=True)
"""How far ahead of a moment jobs are planned."""

Told = tuple[tuple[Job, Deferral], ...]
"""Jobs that are not planned, with what is told of them."""


@dataclass(frozen=True)
class TimeAhead:
    """The regime, what an hour of waiting counts [EUR], EASY's plan of the outlook, and how many days it has.

    ``dearer`` says how many times the default that hour counts.
    """

    regime: Regime
    waiting_eur_per_h: float
    easy: Plan
    days: int
    dearer: float = 1.0


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
