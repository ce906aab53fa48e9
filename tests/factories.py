"""Random small days, for tests that hold the planner against slow and obvious references; and a plain summary."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.day_summary import DaySummary, DayTotals, JobCounts
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem, Running
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment, split_segments
from planner.domain.waits import WaitPrice

DAY = Horizon(dt.date(2024, 6, 1), "UTC")


def small_table(*, rows: int = 40, clamp: bool = False) -> PueTable:
    """A table with a kink: cooling jumps where the power passes 2 kW, and grows with temperature."""
    power = np.arange(rows)[:, None] * 500.0
    temperature = np.arange(-10, 50, 5)[None, :]
    cooling = 0.05 + 0.01 * np.maximum(temperature, 0) + np.where(power > 2000, 0.1, 0.0) + 100 / (power + 1000)
    return PueTable("small", 0, 500, -10, 5, cooling, clamp)


def with_linear_cooling(problem: Problem, rng: np.random.Generator) -> Problem:
    """The same day with cooling that is linear between cells, at temperatures between the table's columns."""
    low, high = problem.table.temperatures_c[0], problem.table.temperatures_c[-1]
    segments = [
        replace(one, temperature_c=float(np.clip(one.temperature_c + rng.uniform(-2.5, 2.5), low, high)))
        for one in problem.segments
    ]
    return replace(problem, table=problem.table.linear(), segments=tuple(segments))


def with_waits(problem: Problem, seed: int, *, counts: float = 1.0, eur_per_h: float = 3.0) -> Problem:
    """The problem with prices of waiting, and its second half counting less."""
    rng = np.random.default_rng(seed)
    half = problem.horizon.length_s // 2
    segments = split_segments(problem.segments, [half])
    waits = {
        each.id: WaitPrice(
            ready_s=problem.horizon.to_s(each.release_unix),
            eur_per_h=round(float(rng.uniform(0, eur_per_h)), 3),
            due_s=int(rng.integers(0, problem.horizon.length_s)),
            late_eur_per_h=round(float(rng.uniform(0, 10 * eur_per_h)), 3),
        )
        for each in problem.jobs
    }
    counted = tuple(one if one.start_s < half else replace(one, counts=counts) for one in segments)
    return replace(problem, segments=counted, waits=waits)


def flat_table(cooling: float = 0.0, rows: int = 400) -> PueTable:
    """A table with the same overhead everywhere."""
    return PueTable("flat", 0, 500, -50, 5, np.full((rows, 30), cooling))


def random_segments(rng: np.random.Generator, horizon: Horizon = DAY, *, extras: bool = False) -> tuple[Segment, ...]:
    """One to six segments with random borders, temperatures and prices; with sunlight and carbon on request."""
    cuts = sorted(set(rng.integers(1, horizon.length_s, int(rng.integers(0, 6))).tolist()))
    edges = [0, *cuts, horizon.length_s]
    return tuple(
        Segment(
            start,
            end,
            int(rng.integers(-2, 8)) * 5,
            round(float(rng.uniform(-0.02, 0.4)), 4),
            solar_w=float(rng.uniform(0, 3000)) if extras else 0.0,
            carbon_g_per_kwh=float(rng.uniform(20, 600)) if extras else 0.0,
        )
        for start, end in pairwise(edges)
    )


def random_cluster(rng: np.random.Generator, *, idle: bool = False) -> Cluster:
    """One or two classes of a few nodes with cores, memory and perhaps GPUs."""
    classes = [NodeClass("cpu", int(rng.integers(1, 4)), {"cores": 4, "memory_gb": 8}, idle_w=60.0 if idle else 0.0)]
    if rng.random() < 0.5:
        capacity = {"cores": 8, "memory_gb": 6, "gpus": 2}
        classes.append(NodeClass("gpu", int(rng.integers(1, 3)), capacity, idle_w=90.0 if idle else 0.0))
    limit = float(rng.uniform(400, 1500)) if rng.random() < 0.4 else None
    return Cluster(tuple(classes), power_limit_w=limit)


def random_job(rng: np.random.Generator, number: int, cluster: Cluster, horizon: Horizon = DAY) -> Job:
    """A job that fits the empty machine: equal units, perhaps one odd unit."""
    node_class = cluster.classes[int(rng.integers(0, len(cluster.classes)))]

    def amounts() -> dict[str, float]:
        asked = {"cores": float(rng.integers(1, int(node_class.capacity["cores"]) + 1))}
        if rng.random() < 0.5:
            asked["memory_gb"] = round(float(rng.uniform(0.5, node_class.capacity["memory_gb"])), 2)
        if "gpus" in node_class.capacity and rng.random() < 0.4:
            asked["gpus"] = float(rng.integers(1, 3))
        return asked

    groups = [UnitGroup.of(int(rng.integers(1, node_class.count + 1)), amounts())]
    if node_class.count > 1 and rng.random() < 0.3:
        groups = [UnitGroup.of(max(1, node_class.count - 1), dict(groups[0].amounts)), UnitGroup.of(1, amounts())]
    return Job(
        id=f"j{number:03d}",
        submit_unix=horizon.start_unix + int(rng.integers(-5000, horizon.length_s - 1000)),
        requested_s=int(rng.integers(1, 60000)),
        units=tuple(groups),
        power_w=round(float(rng.uniform(20, 390)), 3),
        account=f"a{number % 3}",
        user=f"u{number % 5}",
    )


def random_problem(rng: np.random.Generator, *, jobs: int = 8, extras: bool = False) -> Problem:
    """A small day; ``extras`` adds idle power, a demand charge, sunlight and carbon."""
    cluster = random_cluster(rng, idle=extras)
    running = []
    free_cores = 4
    for number in range(int(rng.integers(0, 3))):
        cores = int(rng.integers(1, free_cores + 1))
        free_cores -= cores
        job = Job(f"r{number}", DAY.start_unix - 500, 50000, (UnitGroup.of(1, {"cores": cores}),), 100.0)
        running.append(Running(job, -int(rng.integers(0, 400)), int(rng.integers(1, 40000)), (0,)))
        if free_cores == 0:
            break
    more = {"demand_eur_per_kw": 0.3, "carbon_eur_per_tonne": 60.0} if extras else {}
    return Problem(
        horizon=DAY,
        cluster=cluster,
        jobs=tuple(random_job(rng, number, cluster) for number in range(jobs)),
        segments=random_segments(rng, extras=extras),
        table=small_table(clamp=True),
        rates=Rates(0.02, **more),
        running=tuple(running),
    )


def day_summary(**changes: Any) -> DaySummary:
    """The summary of a day in which every total is 1 and every count 0, but for the fields that are given."""
    plain = DaySummary(
        scenario="site",
        day=dt.date(2024, 6, 1),
        zone="UTC",
        currency="EUR",
        method="multisearch",
        status="found",
        solve_s=0.1,
        best_trial="",
        cut_short=False,
        leaves_room=False,
        bound_eur=None,
        gap_fraction=None,
        execute="requested",
        planned_profit_eur=1.0,
        totals=DayTotals(**{field.name: 1.0 for field in fields(DayTotals)}),
        peak_kw=1.0,
        site_cost_eur=0.0,
        utilisation_fraction=0.5,
        jobs=JobCounts(**{field.name: 0 for field in fields(JobCounts)}),
        segments=1,
        last_end_s=0,
        trials=(),
        inputs=(),
    )
    return replace(plain, **changes)
