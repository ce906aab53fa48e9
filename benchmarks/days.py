"""The days that the benchmarks plan: real ones of CEA Curie where the trace is there, and a large synthetic one."""

from __future__ import annotations

import datetime as dt
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.day_summary import DaySummary
from planner.domain.job import Job
from planner.domain.problem import Problem
from planner.inputs.build import build_day
from planner.inputs.jobs.power_models import drawn_per_core
from planner.inputs.sample.workload import generate_jobs
from planner.methods import Params
from planner.places import shipped_folder
from planner.runs.run_days import run_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

ROOT = Path(__file__).resolve().parent.parent
CURIE_DAY = "2012-08-07"
AMPLE_TIME_S = 3600.0
"""So that steps end a search, and not the clock."""


def data_folder() -> Path:
    """The folder of the public traces; ends the program with a clear line when there is none."""
    folder = Path(os.environ.get("PLANNER_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "swf").is_dir():
        sys.exit("the traces are not here: set PLANNER_DATA to a folder with swf/CEA-Curie-2011-2.1-cln.swf.gz")
    return folder


def curie_day(day: str = CURIE_DAY, *, lookback: str = "0d", more: tuple[str, ...] = ()) -> Problem:
    """A day of the study: CEA Curie scaled to 300 nodes of 32 cores, all of the day's submissions known."""
    trace = data_folder() / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz"
    settings = (
        f"jobs.source={trace}",
        "jobs.visibility=day",
        f"jobs.lookback={lookback}",
        "jobs.core_scale=9600/93312",
        "zone=UTC",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=300",
        *more,
    )
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
