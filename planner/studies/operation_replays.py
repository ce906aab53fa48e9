"""A week of a site under EASY and with jobs held: what is saved, who waits for how long, and what could be saved.

The days before the week run under EASY. They tell how long jobs last and how many arrive, and what runs or waits at the
first midnight is the same under every policy. Money counts from there until the last job of the week has ended.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.trace import Trace
from planner.errors import AuditError, OutputError
from planner.inputs.jobs.read import submitted_jobs
from planner.inputs.timed_csv import read_timed_csv
from planner.inputs.traces import Source, cluster_trace
from planner.limits import DAY_S
from planner.metrics import late_starts
from planner.online.audit_replay import require_sound
from planner.online.estimates import estimate_named
from planner.online.holding import Holding
from planner.online.policies import policy_named
from planner.online.replay import Replay, make_ready, replay
from planner.places import shipped_folder
from planner.planning.hold_settings import holding_of_trace
from planner.runs.bounds_over_days import limit_beside
from planner.runs.replay_ledger import origin_of, settle_window, sum_of_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.folder import alone_in, put
from planner.text_files import csv_text
from planner.units import SECONDS_PER_HOUR

HISTORY_DAYS, WEEK_DAYS = 8, 7
MOVED_S = 60
"""By how much submissions are moved at most in repeats: EASY's own starts change by hours then."""

BEFORE, AFTER = dt.timedelta(days=31), dt.timedelta(days=60)
"""How long before and after a week prices are kept."""

CORES = 32
EUR_PER_USD = {2021: 1 / 1.1827, 2022: 1 / 1.0530}
"""Mean rates of the European Central Bank for these years; the German prices are in USD."""


@dataclass(frozen=True)
class Traced:
    """A trace below the folder of data, the processors of its machine, and the cores of the pool that stands for it.

    ``memory_gb`` is more than all its jobs ask for together, where they ask for memory.
    """

    file: str
    processors: int
    cores: int
    memory_gb: int | None = None


TRACES = {
    "curie": Traced("swf/CEA-Curie-2011-2.1-cln.swf.gz", 93_312, 300 * CORES),
    "hpc2n": Traced("swf/HPC2N-2002-2.2-cln.swf.gz", 240, 240, 100_000),
    "blue": Traced("swf/SDSC-BLUE-2000-4.2-cln.swf.gz", 1_152, 1_152),
}
SAMPLE = "sample"
FLAT = ("tariff.kind=flat", "tariff.eur_per_kwh=0.15", "weather.source=constant", "weather.temperature_c=15")
"""One price and one temperature at all times: there is nothing to hold a job for."""

PARTS: Mapping[str, str] = {
    "": "all of it",
    "look ahead": "always hold with waiting at its price, whatever may come",
    "arrivals": "expect nobody to arrive",
    "hysteresis": "change how much is held for any gain",
    "users": "expect lengths as of all jobs, whoever submits them",
    "publication": "know all prices and the weather ahead",
}
"""What a hold can be decided without."""


def moved_prices(data: Path, tariff: str, first: dt.date, folder: Path) -> Path | None:
    """Prices of another year around a week, in a file of their own; None where there are no hourly ones."""
    if tariff in ("flat", "bands"):
        return None
    country, year = tariff.split("-")
    years = int(year) - first.year
    target, last = folder / f"{tariff}-{first}.csv", first + dt.timedelta(days=WEEK_DAYS)
    if country == "fr":
        source, zone, factor = data / "prices" / "FR.csv.gz", "Europe/Paris", 1.0
    else:
        source, zone = data / "prices" / f"DE-LU_electricity_prices_{year}.csv.gz", None
        factor = EUR_PER_USD[int(year)]
    return write_moved(source, target, column="price", first=first, last=last, years=years, zone=zone, factor=factor)


def write_moved(
    source: Path,
    target: Path,
    *,
    column: str,
    first: dt.date,
    last: dt.date,
    years: int = 0,
    zone: str | None = None,
    factor: float = 1.0,
) -> Path:
    """Write the values of a file around some days, as they were so many years later, each times a factor.

    Weekdays do not stay what they were. A day that the other year does not have is a hole. Of several columns whose
    names begin so, the one with "LCA" in it is taken; ``zone`` is that of times that the file gives without one.
    """
    table = read_timed_csv(source, zone=zone)
    samples = table.samples(table.value_column(None, column, prefer="lca"), column)
    low, high = (dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC) for day in (first - BEFORE, last + AFTER))
    rows: list[list[object]] = [["time (UTC)", column]]
    for unix, value in zip(samples.starts_unix.tolist(), samples.values.tolist(), strict=True):
        moment = _moved(dt.datetime.fromtimestamp(unix, tz=dt.UTC), -years)
        if moment is not None and low <= moment < high and np.isfinite(value):
            rows.append([f"{moment:%Y-%m-%d %H:%M:%S}", round(value * factor, 6)])
    content = csv_text(rows).encode()
    try:
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(target.parent):
                put(target, content)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from error
    return target


def _moved(moment: dt.datetime, years: int) -> dt.datetime | None:
    """The same day and hour of another year; None for 29 February where that year has none."""
    try:
        return moment.replace(year=moment.year + years)
    except ValueError:
        return None


def scenario_of(site: str, trace: Path | None, prices: Path | None, *settings: str) -> Scenario:
    """The scenario of a site: the sample's, or a pool of cores with the jobs of a trace and the sample's weather."""
    folders = [shipped_folder() / "scenarios"]
    hourly = () if prices is None else ("tariff.kind=hourly", f"tariff.file={prices}", "tariff.unit=EUR/MWh")
    if site == SAMPLE:
        return load_scenario("hourly-tariff", folders=folders, overrides=(*hourly, *settings))
    machine = (
        f"jobs.source={trace}",
        f"jobs.core_scale={TRACES[site].cores}/{TRACES[site].processors}",
        "zone=UTC",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=1",
        f"cluster.classes.cpu.capacity.cores={TRACES[site].cores}",
        f"cluster.classes.cpu.capacity.memory_gb={TRACES[site].memory_gb or 'null'}",
    )
    return load_scenario("sample", folders=folders, overrides=(*machine, *hourly, *settings))


@dataclass(frozen=True)
class Week:
    """Jobs of a week and of the days before; what ran until its first midnight, and all of it under EASY."""

    source: Source
    first_s: int
    estimate: Ints
    before: Replay
    easy: Replay

    @property
    def is_counted(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs had not started at the first midnight."""
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = self.easy.start_s >= self.first_s
        return found


@lru_cache(maxsize=1)
def _submitted(site: str, trace: Path | None, first: dt.date) -> Source:
    scenario = scenario_of(site, trace, None)
    days = (Horizon(first + dt.timedelta(days=k), scenario.zone) for k in (-HISTORY_DAYS, WEEK_DAYS))
    begin, end = (day.start_unix for day in days)
    jobs, intake = submitted_jobs(scenario, (begin, end), with_runtime=True)
    return cluster_trace(jobs, scenario, intake, f"{site} {first}", origin_unix=begin)


@lru_cache(maxsize=3)
def week_of(site: str, trace: Path | None, first: dt.date, load: float | None, repeat: int, estimate: str) -> Week:
    """A week; at a load all times are longer or shorter by a factor, in repeats submissions are moved a little."""
    source = _submitted(site, trace, first)
    scenario, origin = scenario_of(site, trace, None), origin_of(source.trace)
    first_s = Horizon(first, scenario.zone).start_unix - origin
    if load is not None or repeat:
        factor = 1.0 if load is None else load / load_of(source.trace, first_s)
        moves = np.random.default_rng(repeat).integers(-MOVED_S, MOVED_S + 1, len(source.jobs))
        moves = moves if repeat else np.zeros_like(moves)
        ran, asked = source.trace.runtime_s.tolist(), source.trace.requested_s.tolist()
        jobs = [
            replace(
                job,
                submit_unix=max(origin, job.submit_unix + move),
                runtime_s=max(1, math.ceil(ran[k] * factor)),
                requested_s=max(1, math.ceil(asked[k] * factor)),
            )
            for k, (job, move) in enumerate(zip(source.jobs, moves.tolist(), strict=True))
        ]
        source = cluster_trace(jobs, scenario, replace(source.intake), source.trace.source, origin_unix=origin)
    believed, easy = estimate_named(estimate).make_whole(source.trace), policy_named("easy")
    assert isinstance(believed, np.ndarray)
    before = replay(source.trace, easy, believed, until_s=first_s)
    return Week(source, first_s, believed, before, replay(source.trace, easy, believed, past=before.past_at(first_s)))


def load_of(trace: Trace, first_s: int) -> float:
    """Work submitted in the week as a part of what the machine can do."""
    own = trace.submit_s >= first_s
    return float(trace.processors_of[own] @ trace.runtime_s[own]) / (trace.machine.processors * WEEK_DAYS * DAY_S)


def week_figures(
    site: str,
    trace: Path | None,
    prices: Path | None,
    first: str,
    load: float | None,
    repeat: int,
    estimate: str,
    hours: int,
    without: str = "",
    *,
    is_flat: bool = False,
) -> dict[str, Any]:
    """Money, waiting and late starts of a week in which jobs may be held for so many hours, beside EASY's."""
    day = dt.date.fromisoformat(first)
    week = week_of(site, trace, day, load, repeat, estimate)
    scenario = scenario_of(site, trace, prices, *(FLAT if is_flat else ()), f"rules.max_delay={hours}h")
    jobs = _without_users(week.source.trace) if without == "users" else week.source.trace
    holding, policy = decided_without(without, holding_of_trace(scenario, jobs)), policy_named("hold")
    make_ready(policy, estimate_named(estimate).make)
    began = time.process_time()
    held = replay(jobs, policy, week.estimate, holding=holding, past=week.before.past_at(week.first_s))
    cpu_s = time.process_time() - began
    require_sound(held)
    require_conserved(week, held)
    own = week.is_counted
    easy_wait, wait = week.easy.wait_s[own], held.wait_s[own]
    late = late_starts(held, week.easy, hours * SECONDS_PER_HOUR, own)
    is_held = held.held_until_s >= 0
    return {
        "jobs": int(own.sum()),
        "load": round(load_of(week.source.trace, week.first_s), 4),
        "easy_eur": energy_eur(scenario, week, week.easy, day),
        "energy_eur": energy_eur(scenario, week, held, day),
        "easy_wait_s": float(easy_wait.mean()),
        "wait_s": float(wait.mean()),
        "easy_wait95_s": float(np.quantile(easy_wait, 0.95)),
        "wait95_s": float(np.quantile(wait, 0.95)),
        "longest_wait_s": int(wait.max()),
        "same_starts": int(np.sum(held.start_s[own] == week.easy.start_s[own])),
        "held": int(is_held.sum()),
        "longest_hold_s": int(np.max((held.held_until_s - held.reference_s)[is_held], initial=0)),
        **late.all_jobs.as_dict(),
        "cpu_s": round(cpu_s, 3),
    }


def _without_users(trace: Trace) -> Trace:
    return replace(trace, user=np.full(len(trace), -1, dtype=np.int64), requested_s=trace.requested_s)


def decided_without(part: str, holding: Holding) -> Holding:
    """The same decided without one of its parts."""
    if part == "publication" and holding.costs is not None:
        costs = holding.costs
        price = costs.eur_per_kwh * costs.cooled
        known = np.zeros_like(costs.known_from_unix)
        return replace(
            holding, costs=replace(costs, eur_per_kwh=price, known_from_unix=known, cooled=np.ones_like(price))
        )
    changes: Mapping[str, Mapping[str, Any]] = {
        "look ahead": {"strengths": (1.0,), "stay_fraction": 1.0},
        "arrivals": {"ahead_s": 0},
        "hysteresis": {"stay_fraction": 0.0},
    }
    return replace(holding, params=replace(holding.params, **changes.get(part, {})))


def require_conserved(week: Week, held: Replay) -> None:
    """AuditError unless every job runs once, for its real time, on a machine that is never over-full.

    It shares nothing with the simulator, nor with the audit of replays: jobs are counted second by second of change.
    """
    trace = week.source.trace
    start = held.start_s
    if len(start) != len(trace) or np.any(start < trace.submit_s):
        raise AuditError(f"{trace.source}: a job of the week has not run, or ran before its submission")
    past = week.before.start_s >= 0
    if np.any(start[past] != week.before.start_s[past]):
        raise AuditError(f"{trace.source}: what had started before the week was started anew")
    change: dict[int, int] = {}
    for begin, length, width in zip(start.tolist(), trace.runtime_s.tolist(), trace.width.tolist(), strict=True):
        change[begin] = change.get(begin, 0) + width
        change[begin + length] = change.get(begin + length, 0) - width
    busy = 0
    capacity = int(trace.machine.capacity[:, 0].sum())
    for moment in sorted(change):
        busy += change[moment]
        if busy > capacity:
            raise AuditError(f"{trace.source}: {busy} of {capacity} are busy at {moment} s")


def energy_eur(scenario: Scenario, week: Week, happened: Replay, first: dt.date) -> float:
    """What the energy of all that runs costs from the first day of the week on."""
    last_unix = int(happened.end_s.max()) + origin_of(happened.trace) - 1
    days = (Horizon.of_unix(last_unix, scenario.zone).day - first).days + 1
    told = sum_of_days(settle_window(scenario, week.source.jobs, happened, first_day=first, days=days))
    return float(told["energy_cost_eur"])


def limit_figures(
    site: str,
    trace: Path | None,
    prices: Path | None,
    first: str,
    load: float | None,
    hours: int,
    time_limit_s: float,
) -> dict[str, Any]:
    """What no schedule saves more of, with all known ahead, in which jobs start within so many hours of EASY's."""
    day = dt.date.fromisoformat(first)
    week = week_of(site, trace, day, load, 0, "requested")
    began = time.process_time()
    found = limit_beside(
        scenario_of(site, trace, prices),
        week.source.jobs,
        week.easy,
        hours * SECONDS_PER_HOUR,
        first_day=day,
        time_limit_s=time_limit_s,
    )
    return {
        "limit_eur": found.saved_eur,
        "limit_slack_eur": found.slack_eur,
        "easy_eur": found.easy_eur,
        "limit_cpu_s": round(time.process_time() - began, 3),
    }
