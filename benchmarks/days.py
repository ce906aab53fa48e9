"""The days that the benchmarks plan: real ones of CEA Curie where the trace is there, and a large synthetic one."""

from __future__ import annotations

import datetime as dt
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.day_summary import DaySummary
from planner.domain.job import Job
from planner.domain.problem import Problem
from planner.inputs.build import build_day
from planner.inputs.jobs.power_models import drawn_per_core
from planner.inputs.jobs.sample import generate_jobs
from planner.methods import Params
from planner.places import TRACE, data_folder, shipped_folder
from planner.runs.run_days import run_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.studies.curie23_setup import TRACE_CORES

ROOT = Path(__file__).resolve().parent.parent
CURIE_DAY = "2012-08-07"
AMPLE_TIME_S = 3600.0
"""So that steps end a search, and not the clock."""


def memory_gb() -> float:
    """The most memory that this process had so far [GB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def children_cpu_s() -> float:
    """CPU time of all processes that were started and have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def curie_jobs(nodes: int = 300) -> tuple[str, ...]:
    """Settings of the jobs of CEA Curie, and of nodes of 32 cores for them."""
    return (
        f"jobs.source={data_folder() / TRACE}",
        f"jobs.core_scale={300 * 32}/{TRACE_CORES}",
        "zone=UTC",
        "cluster.classes.gpu=null",
        f"cluster.classes.cpu.count={nodes}",
    )


def french_prices(file: Path | None = None) -> tuple[str, ...]:
    """Settings of the French day-ahead price, or of another file like it."""
    prices = file or data_folder() / "prices" / "FR.csv.gz"
    return ("tariff.kind=hourly", f"tariff.file={prices}", "tariff.unit=EUR/MWh", "tariff.zone=Europe/Paris")


def curie_day(day: str = CURIE_DAY, *, lookback: str = "0d", more: tuple[str, ...] = ()) -> Problem:
    """A day of the study: CEA Curie scaled to 300 nodes of 32 cores, all of the day's submissions known."""
    settings = (*curie_jobs(), "jobs.visibility=day", f"jobs.lookback={lookback}", *more)
    scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=settings)
    return build_day(scenario, dt.date.fromisoformat(day)).problem


def backlog_day(pending: int = 14_000, *, more: tuple[str, ...] = ()) -> Problem:
    """A day of Curie with that many jobs pending: the submissions of the weeks before, all still waiting."""
    problem = curie_day("2012-08-20", lookback="14d", more=more)
    return replace(problem, jobs=problem.jobs[-pending:])


def large_day(nodes: int = 5_000, cores: int = 128, jobs: int = 20_000) -> Problem:
    """A large machine with synthetic jobs, all submitted before the day."""
    problem = curie_day()
    cluster = Cluster((NodeClass("big", nodes, {"cores": cores, "memory_gb": 4 * cores}),))
    day = problem.horizon.day
    made: list[Job] = []
    while len(made) < jobs:
        day -= dt.timedelta(days=1)
        made += generate_jobs(day, zone="UTC", cluster=cluster, seed=0, power=drawn_per_core(), load=1.0)[0]
    table = replace(problem.table, clamp=True)
    return replace(problem, cluster=cluster, jobs=tuple(made[:jobs]), table=table)


def plain_params(method: str, iterations: int) -> Params:
    """So many steps of a method, ended by nothing else, with no bound, page or baselines beside it."""
    return Params(
        method,
        time_limit_s=AMPLE_TIME_S,
        iterations=iterations,
        bound_time_s=0.0,
        page=False,
        baselines=False,
    )


def planned_days(scenario: Scenario, first: dt.date, days: int, iterations: int) -> tuple[list[DaySummary], float]:
    """Days planned one after another by HarvestSearch with that many steps each, and how long it took [s]."""
    params = plain_params("harvest", iterations)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        done = list(run_days(scenario, params, first, first + dt.timedelta(days=days - 1), Path(folder)))
        took = time.perf_counter() - began
    return [each.summary for each in done], took
