"""The bound of a whole run holds: plans day by day, with and without look-ahead <= the best of all sequences <= bound.

The sites are small enough that every sequence of plans can be looked at: submissions, requests and prices change at
whole hours, and cooling is the same at any load, so that what a job earns does not depend on the others and some best
sequence starts its jobs at whole hours.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from planner.accounting.bound import profit_bound
from planner.domain.horizon import Horizon
from planner.inputs.build import build
from planner.methods import Params
from planner.planning.plan_day import BOUND_TOLERANCE
from planner.runs.bounds_over_days import run_bound, run_problem
from planner.runs.run_days import run_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.read_last_plan import read_last_plan, situation_of

FIRST = dt.date(2024, 6, 3)
CORES, NODES, COOLING, RATE = 4, 2, 0.25, 0.01
PRICES = {(0, 5): 0.05, (5, 16): 0.3, (16, 21): 1.9, (21, 24): 0.2}
"""EUR/kWh by hour of the day."""

ROUNDED_EUR = 3e-6
"""Summaries of three days are rounded to this."""

SITE = """\
name: hours
zone: UTC
seed: 1
jobs: {{source: ../jobs/hours.csv, visibility: {visibility}, whole_queue: false, lookback: 1d}}
cluster: {{classes: {{cpu: {{count: {nodes}, capacity: {{cores: {cores}}}}}}}}}
weather: {{source: constant, temperature_c: 15}}
tariff: {{kind: bands, eur_per_kwh: 0.3, bands: [{bands}]}}
cooling: {{table: ../tables/flat.csv}}
revenue: {{eur_per_core_hour: {rate}}}
rules: {{defer: {defer}}}
"""


@dataclass(frozen=True)
class HourJob:
    """A job in whole hours from the first midnight; ``release_h`` is when some plan may first start it."""

    submit_h: int
    release_h: int
    hours: int
    cores: int
    power_w: int


def random_jobs(seed: int, days: int, *, sees_day: bool) -> list[HourJob]:
    """Four jobs, some submitted before the first day; with ``visibility: midnight`` a plan knows them a day later."""
    rng = random.Random(seed)
    jobs = []
    for _ in range(4):
        submit_h = rng.randrange(-6, 24 * days - 4)
        next_day = 24 * (submit_h // 24 + 1)
        release_h = max(0, submit_h) if sees_day else max(0, next_day)
        cores = rng.randint(1, CORES)
        jobs.append(HourJob(submit_h, release_h, rng.choice([2, 5, 9, 20, 26, 40]), cores, cores * rng.randint(4, 18)))
    return jobs


def write_site(folder: Path, jobs: list[HourJob], *, sees_day: bool, defer: str) -> Scenario:
    """The site with these jobs on disk."""
    midnight = Horizon(FIRST, "UTC").start_unix
    rows = ["job_id,submit_unix,requested_s,units,cores_per_unit,power_w"]
    rows += [f"{n},{midnight + 3600 * j.submit_h},{3600 * j.hours},1,{j.cores},{j.power_w}" for n, j in enumerate(jobs)]
    bands = (f'{{from: "{a:02d}:00", to: "{b:02d}:00", eur_per_kwh: {price}}}' for (a, b), price in PRICES.items())
    table = ["it_power_w," + ",".join(map(str, range(0, 35, 5)))]
    table += [f"{power_w}," + ",".join([str(COOLING)] * 7) for power_w in range(0, 1001, 100)]
    texts = {
        "scenarios/hours.yaml": SITE.format(
            visibility="day" if sees_day else "midnight",
            nodes=NODES,
            cores=CORES,
            bands=", ".join(bands),
            rate=RATE,
            defer=defer,
        ),
        "jobs/hours.csv": "\n".join(rows) + "\n",
        "tables/flat.csv": "\n".join(table) + "\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return load_scenario("hours", folders=[folder / "scenarios"])


def earned(job: HourJob, start_h: int, days: int) -> float:
    """What a job earns within the days from a start on [EUR]."""
    price = {hour: eur for (first, end), eur in PRICES.items() for hour in range(first, end)}
    inside = range(start_h, min(start_h + job.hours, 24 * days))
    return sum(job.cores * RATE - job.power_w / 1000 * (1 + COOLING) * price[hour % 24] for hour in inside)


def best_sequence(jobs: list[HourJob], days: int) -> float:
    """The most that any choice of nodes and whole hours earns within the days."""
    best_alone = [max([0.0, *(earned(job, h, days) for h in range(max(0, job.release_h), 24 * days))]) for job in jobs]
    used = [[0] * (24 * days + 50) for _ in range(NODES)]

    @cache
    def value(index: int, start_h: int) -> float:
        return earned(jobs[index], start_h, days)

    def most(index: int, so_far: float, best: float) -> float:
        if index == len(jobs):
            return max(best, so_far)
        if so_far + sum(best_alone[index:]) <= best:
            return best
        job = jobs[index]
        best = most(index + 1, so_far, best)
        for node in range(NODES):
            for start_h in range(job.release_h, 24 * days):
                span = range(start_h, start_h + job.hours)
                if all(used[node][hour] + job.cores <= CORES for hour in span):
                    for hour in span:
                        used[node][hour] += job.cores
                    best = most(index + 1, so_far + value(index, start_h), best)
                    for hour in span:
                        used[node][hour] -= job.cores
        return best

    return most(0, 0.0, 0.0)


def run_profit(scenario: Scenario, days: int, folder: Path, *, lookahead_days: int) -> float:
    """What a run of HarvestSearch earns."""
    scenario = scenario.model_copy(
        update={"search": scenario.search.model_copy(update={"lookahead_days": lookahead_days})}
    )
    params = Params("harvest", time_limit_s=600, iterations=600, workers=1, bound_time_s=0, page=False, baselines=False)
    last = FIRST + dt.timedelta(days=days - 1)
    return sum(done.summary.totals.profit_eur for done in run_days(scenario, params, FIRST, last, folder))


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("seed", range(14))
def test_runs_best_sequence_and_bound(seed: int, tmp_path: Path) -> None:
    """Day by day and with look-ahead <= the best of all sequences <= the bound of the run."""
    days, sees_day, defer = 2 + seed % 2, seed % 3 > 0, "free" if seed % 4 else "full"
    jobs = random_jobs(seed, days, sees_day=sees_day)
    scenario = write_site(tmp_path, jobs, sees_day=sees_day, defer=defer)
    # Jobs of the last day that no plan knows yet cannot be part of a sequence.
    known = [job for job in jobs if job.release_h < 24 * days]
    best = best_sequence(known, days)
    bound = run_bound(scenario, FIRST, FIRST + dt.timedelta(days=days - 1), time_limit_s=60).profit_eur
    assert best <= bound + 1e-9
    for ahead in (1, 2):
        assert run_profit(scenario, days, tmp_path / f"ahead-{ahead}", lookahead_days=ahead) <= best + ROUNDED_EUR


@pytest.mark.parametrize("seed", range(6))
def test_bound_of_one_day_is_the_daily_bound(seed: int, tmp_path: Path) -> None:
    """A run of one day has the bound that its day has, also when it continues from a day before."""
    jobs = random_jobs(seed, 2, sees_day=True)
    scenario = write_site(tmp_path, jobs, sees_day=True, defer="full")
    run_profit(scenario, 1, tmp_path / "runs", lookahead_days=1)
    left = read_last_plan(tmp_path / "runs" / FIRST.isoformat(), scenario, Horizon(FIRST, "UTC"))
    second = FIRST + dt.timedelta(days=1)
    for day, before in ((FIRST, None), (second, left)):
        horizon = Horizon(day, "UTC")
        problem = build(scenario, horizon, *situation_of(scenario, horizon, before)).problem
        daily = profit_bound(problem, time_limit_s=60, tolerance=BOUND_TOLERANCE).profit_eur
        assert run_bound(scenario, day, day, before, time_limit_s=60).profit_eur == pytest.approx(daily, abs=1e-9)


def test_every_job_is_in_the_problem_of_the_run_once(tmp_path: Path) -> None:
    """The problem of a run has the jobs that its days know, none twice, and none that only a later day would know."""
    jobs = [HourJob(-3, 0, 5, 1, 10), HourJob(4, 4, 5, 1, 10), HourJob(30, 30, 5, 1, 10), HourJob(47, 47, 5, 1, 10)]
    for sees_day, expected in ((True, {"0": 0, "1": 4, "2": 30, "3": 47}), (False, {"0": 0, "1": 24})):
        scenario = write_site(tmp_path, jobs, sees_day=sees_day, defer="full")
        problem, midnights = run_problem(scenario, FIRST, FIRST + dt.timedelta(days=1), None)
        released = {job.id: int(at) // 3600 for job, at in zip(problem.jobs, problem.columns.release_s, strict=True)}
        assert released == expected
        assert midnights == [0, 86400]
