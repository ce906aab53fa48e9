"""A small random site on disk with a trace of random jobs, for tests of what replays earn."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np

from planner.inputs.traces import Source, read_cluster
from planner.runs.check_request import open_scenario
from planner.scenario.schema import Scenario

FIRST_DAY = dt.date(2024, 6, 1)
MIDNIGHT = dt.datetime(2024, 6, 1, tzinfo=dt.UTC)
PRICED_DAYS = 6

SITE = """\
zone: UTC
jobs: {{source: jobs.csv}}
cluster:
  classes:
    cpu: {{count: {nodes}, capacity: {{cores: 4}}, idle_w: {idle_w}}}
weather: {{source: constant, temperature_c: 12}}
tariff: {{kind: hourly, file: prices.csv, unit: EUR/kWh}}
cooling: {{table: cooling.csv}}
revenue: {{eur_per_core_hour: {eur_per_core_hour}}}
demand: {{eur_per_kw: {demand}, interval: {interval}}}
"""


def random_site(
    folder: Path, seed: int, *, jobs: int, nodes: int = 2, one_unit: bool = False, plain: bool = False
) -> tuple[Scenario, Source]:
    """Jobs of two days; cooling without any order, prices that change every few hours, some below zero.

    ``plain`` leaves out idle power and the demand charge.
    """
    rng = np.random.default_rng(seed)
    site = SITE.format(
        nodes=nodes,
        idle_w=0 if plain else rng.choice([0, 80]),
        eur_per_core_hour=rng.choice([0.0, 0.005, 0.05]),
        demand=0 if plain else rng.choice([0.0, 0.5]),
        interval=rng.choice(["15m", "1h", "5h"]),
    )
    texts = {"site.yaml": site, "prices.csv": _prices(rng), "cooling.csv": _cooling(rng)}
    texts["jobs.csv"] = _jobs(rng, jobs, nodes=1 if one_unit else nodes)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    scenario = open_scenario(str(folder / "site.yaml"), ())
    return scenario, read_cluster(folder / "jobs.csv", scenario)


def _prices(rng: np.random.Generator) -> str:
    """A new price every five hours or so: often the same before and after midnight."""
    hours = 24 * PRICED_DAYS
    price = np.repeat(rng.uniform(-0.1, 0.5, hours), rng.integers(1, 10, hours))[:hours]
    rows = [f"{MIDNIGHT + dt.timedelta(hours=hour):%Y-%m-%dT%H:%M+00:00},{price[hour]:.4f}" for hour in range(hours)]
    return "\n".join(["time,price", *rows]) + "\n"


def _cooling(rng: np.random.Generator) -> str:
    temperatures = range(-20, 50, 10)
    rows = [
        ",".join([str(power_w), *(f"{cell:.3f}" for cell in rng.uniform(0.05, 0.6, len(temperatures)))])
        for power_w in range(0, 40_001, 100)
    ]
    return "\n".join([",".join(["it_power_w", *map(str, temperatures)]), *rows]) + "\n"


def _jobs(rng: np.random.Generator, jobs: int, *, nodes: int) -> str:
    rows = ["job_id,submit_time,requested_s,runtime_s,units,cores_per_unit,power_w"]
    for number in range(jobs):
        submitted = MIDNIGHT + dt.timedelta(seconds=int(rng.integers(0, 2 * 86400)))
        runtime_s = int(rng.choice([rng.integers(1, 2000), rng.integers(1, 50_000)]))
        asked_s = runtime_s + int(rng.integers(0, 5000))
        units, cores = int(rng.integers(1, nodes + 1)), int(rng.integers(1, 5))
        time = f"{submitted:%Y-%m-%dT%H:%M:%S+00:00}"
        rows.append(f"j{number},{time},{asked_s},{runtime_s},{units},{cores},{int(rng.integers(20, 900))}")
    return "\n".join(rows) + "\n"
