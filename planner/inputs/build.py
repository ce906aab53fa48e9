"""From a scenario and a day to the problem of that day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from planner.bounds import DAY_S, DAY_UNITS, SAMPLE_DAYS, SAMPLE_JOBS
from planner.domain.fit import Fit
from planner.domain.handover import Handover
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral
from planner.domain.problem import Problem, Rates
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment, cut_segments
from planner.domain.series import StepSeries
from planner.domain.weather import Weather
from planner.errors import InputError
from planner.inputs.jobs.power import PowerModel, drawn_per_core, per_core
from planner.inputs.pue_csv import read_pue_table
from planner.scenario.carbon import ConstantCarbon, HourlyCarbon
from planner.scenario.jobs import SampleJobs
from planner.scenario.schema import Scenario
from planner.scenario.tariff import BandTariff, HourlyTariff
from planner.scenario.weather import ConstantWeather, SampleWeather


@dataclass(frozen=True)
class Day:
    """The problem of a day with what came with it: the refused jobs, and what each reader kept and dropped.

    ``handover`` is what the day before left, None where the day starts anew.
    """

    scenario: Scenario
    problem: Problem
    rejected: tuple[tuple[Job, Deferral], ...]
    intakes: tuple[Intake, ...]
    handover: Handover | None = None

    @property
    def times_deferred(self) -> dict[str, int]:
        """On how many days each job that was handed over waiting was deferred so far."""
        waiting = self.handover.waiting if self.handover is not None else ()
        return {each.job.id: each.times_deferred for each in waiting}


def build_day(scenario: Scenario, day: dt.date, handover: Handover | None = None, *, closed: bool = False) -> Day:
    """Read every input of a day and put the problem together.

    With a ``handover`` the day continues from the one before: its running work holds its nodes, its deferred jobs wait
    again, and only jobs submitted since are new. ``closed``: no new jobs come in.
    """
    horizon = Horizon(day, scenario.zone)
    empty, intakes = frame_day(scenario, horizon)
    jobs, jobs_intake = ((), Intake("no new jobs")) if closed else known_jobs(scenario, horizon, handover is not None)
    fit = Fit(scenario.cluster)
    taken: list[Job] = [each.job for each in handover.waiting] if handover is not None else []
    rejected = []
    for job in sorted(jobs, key=lambda job: job.submission_key):
        reason = fit.why_never(job)
        if reason is None:
            taken.append(job)
        else:
            rejected.append((job, Deferral(job.id, "rejected", reason)))
    often = scenario.rules.max_deferral_days
    problem = replace(
        empty,
        jobs=tuple(sorted(taken, key=lambda job: job.submission_key)),
        running=handover.running if handover is not None else (),
        overdue=frozenset(
            each.job.id
            for each in (handover.waiting if handover is not None else ())
            if often is not None and each.times_deferred >= often
        ),
    )
    return Day(scenario, problem, tuple(rejected), (jobs_intake, *intakes), handover)


def frame_day(scenario: Scenario, horizon: Horizon) -> tuple[Problem, list[Intake]]:
    """The problem of a day without jobs: its cluster, segments, cooling and rates."""
    table, table_intake = read_pue_table(scenario.cooling.table)
    segments, intakes = _segments(scenario, horizon, table)
    problem = Problem(
        horizon=horizon,
        cluster=scenario.cluster,
        jobs=(),
        segments=segments,
        table=table,
        rates=Rates(
            eur_per_core_hour=scenario.revenue.eur_per_core_hour,
            demand_eur_per_kw=scenario.demand.eur_per_kw,
            demand_interval_s=scenario.demand.interval_s,
            carbon_eur_per_tonne=scenario.carbon.eur_per_tonne,
        ),
        defer=scenario.rules.defer,
    )
    return problem, [*intakes, table_intake]


def known_jobs(scenario: Scenario, horizon: Horizon, continues: bool = False) -> tuple[tuple[Job, ...], Intake]:
    """The jobs that a day knows of by itself.

    On a first day a queue dump is taken whole; of a trace or the sample, what was submitted within the lookback before
    the day. ``visibility: day`` adds what is submitted on the day itself. A day that ``continues`` from the one before
    takes what that one could not know yet, so that every job comes in once.
    """
    choice = scenario.jobs
    sees_day = choice.visibility == "day"
    until = horizon.end_unix if sees_day else horizon.start_unix
    window = (horizon.start_unix - choice.lookback_s, until)
    if continues:
        window = (horizon.start_unix if sees_day else horizon.day_before().start_unix, until)
    power = power_model(scenario)
    if isinstance(choice, SampleJobs):
        return _sample_jobs(scenario, choice.load, window, power)

    from planner.inputs.jobs.read import FORMAT_OF_SUFFIX, read_jobs
    from planner.inputs.jobs.unit_shape import UnitShape

    traces = tuple(suffix for suffix, name in FORMAT_OF_SUFFIX.items() if name == "swf")
    is_trace = choice.format == "swf" or (choice.format == "auto" and choice.source.name.lower().endswith(traces))
    whole_queue = not is_trace if choice.whole_queue is None else choice.whole_queue
    if whole_queue and not continues:
        window = (0, until)
    unit_cores = choice.unit_cores or int(scenario.cluster.classes[0].capacity["cores"])
    return read_jobs(
        choice.source,
        choice.format,
        shape=UnitShape(unit_cores=unit_cores, core_scale=choice.core_scale),
        power=power,
        window=window,
        resources=scenario.cluster.resources,
        start_unix=choice.start_unix,
        drop_zero_runtime=choice.zero_runtime == "drop",
    )


def _sample_jobs(
    scenario: Scenario, load: float, window: tuple[int, int], power: PowerModel
) -> tuple[tuple[Job, ...], Intake]:
    from planner.inputs.sample.workload import generate_jobs

    intake = Intake("sample workload")
    jobs: list[Job] = []
    low, high = window
    SAMPLE_DAYS.require("the lookback of the sample workload", (high - low) // DAY_S)
    zone = Horizon(dt.date(1970, 1, 1), scenario.zone)
    day = zone.to_datetime(low - zone.start_unix).date()
    while (horizon := Horizon(day, scenario.zone)).start_unix < high:
        made, _ = generate_jobs(
            day,
            zone=scenario.zone,
            cluster=scenario.cluster,
            seed=scenario.seed,
            power=power,
            load=load,
        )
        jobs += [job for job in made if low <= job.submit_unix < high]
        SAMPLE_JOBS.require("the number of jobs of the sample workload, from the lookback on,", len(jobs))
        DAY_UNITS.require("the number of units of the sample workload", sum(job.unit_count for job in jobs))
        day = horizon.next_day().day
    intake.kept = len(jobs)
    return tuple(jobs), intake


def power_model(scenario: Scenario) -> PowerModel:
    """What jobs draw whose source does not say."""
    choice = scenario.power
    if choice.w_per_core is not None:
        return per_core(choice.w_per_core)
    if choice.draw_w_per_core is None:
        raise InputError("power: give w_per_core or draw_w_per_core, for jobs whose source says no power")
    low, high = choice.draw_w_per_core
    return drawn_per_core(low, high, scenario.seed)


def _segments(scenario: Scenario, horizon: Horizon, table: PueTable) -> tuple[tuple[Segment, ...], list[Intake]]:
    weather, weather_intake = _weather(scenario, horizon)
    solar = None
    if scenario.solar.peak_kw > 0:
        from planner.inputs.weather.solar import solar_power

        solar = solar_power(
            weather,
            horizon,
            peak_kw=scenario.solar.peak_kw,
            tilt_deg=scenario.solar.tilt_deg,
            azimuth_deg=scenario.solar.azimuth_deg,
            losses_fraction=scenario.solar.losses_fraction,
        )
    segments = cut_segments(
        horizon,
        table,
        weather.temperature_c,
        _price(scenario, horizon),
        solar_w=solar,
        carbon_g_per_kwh=_carbon(scenario, horizon),
    )
    return segments, [weather_intake]


def _weather(scenario: Scenario, horizon: Horizon) -> tuple[Weather, Intake]:
    from planner.inputs.weather.read import constant_weather, read_weather
    from planner.inputs.weather.season import day_in_season

    choice = scenario.weather
    if isinstance(choice, ConstantWeather):
        return constant_weather(choice.temperature_c, horizon), Intake("constant weather", kept=1)
    taken_day = None
    if choice.period is not None:
        taken_day = choice.period.taken + (horizon.day - choice.period.planned)
    elif choice.season is not None:
        taken_day = day_in_season(horizon.day, choice.season)
    if isinstance(choice, SampleWeather):
        return read_weather(choice.source, horizon=horizon, taken_day=taken_day)
    return read_weather(choice.source, horizon=horizon, format=choice.format, zone=choice.zone, taken_day=taken_day)


def _price(scenario: Scenario, horizon: Horizon) -> StepSeries:
    from planner.inputs.prices.tariff import PriceBand, band_tariff, flat_tariff, hourly_tariff

    choice = scenario.tariff
    if isinstance(choice, HourlyTariff):
        return hourly_tariff(
            choice.file,
            horizon,
            unit=choice.unit,
            column=choice.column,
            zone=choice.zone,
            eur_per_usd=choice.eur_per_usd,
        )
    if isinstance(choice, BandTariff):
        bands = [PriceBand(b.start, b.end, b.eur_per_kwh) for b in choice.bands]
        return band_tariff(bands, choice.eur_per_kwh, horizon)
    return flat_tariff(choice.eur_per_kwh, horizon)


def _carbon(scenario: Scenario, horizon: Horizon) -> StepSeries | None:
    from planner.inputs.prices.carbon import constant_carbon, hourly_carbon

    choice = scenario.carbon
    if isinstance(choice, HourlyCarbon):
        return hourly_carbon(choice.file, horizon, column=choice.column, zone=choice.zone)
    if isinstance(choice, ConstantCarbon):
        return constant_carbon(choice.g_per_kwh, horizon)
    return None
