"""Days and tables for the tests of the bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from tests.factories import DAY, random_problem, random_segments


def kinked_table(rng: np.random.Generator) -> PueTable:
    """A table without any order in its cells, of few rows, so that most powers lie beyond it."""
    rows = int(rng.integers(1, 8))
    step = int(rng.choice([100, 250, 500]))
    first = int(rng.choice([0, 100, 700]))
    return PueTable("kinked", first, step, -10, 5, rng.uniform(0.0, 1.0, (rows, 12)), clamp=True)


def one_segment(price: float = 0.1, **more: float) -> tuple[Segment, ...]:
    return (Segment(0, DAY.length_s, 10, price, **more),)


def job(name: str, cores: float, hours: float, power_w: float, units: int = 1) -> Job:
    return Job(name, DAY.start_unix - 10, int(hours * 3600), (UnitGroup.of(units, {"cores": cores}),), power_w)


def machine(nodes: int, idle_w: float = 0.0) -> Cluster:
    return Cluster((NodeClass("cpu", nodes, {"cores": 4}, idle_w=idle_w),))


def odd_problem(seed: int) -> Problem:
    """A random small day with some of everything: kinks, clamps, negative prices, idle power, sun, demand, weights."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=int(rng.integers(1, 9)), extras=bool(rng.random() < 0.6))
    if rng.random() < 0.6:
        problem = replace(problem, table=kinked_table(rng))
    if rng.random() < 0.6:
        low = float(rng.choice([-0.5, -0.1, 0.0]))
        segments = [
            replace(segment, price_eur_per_kwh=float(rng.uniform(low, 0.5)))
            for segment in random_segments(rng, extras=bool(rng.random() < 0.5))
        ]
        problem = replace(problem, segments=tuple(segments))
    rates = Rates(
        float(rng.choice([0.0, 0.005, 0.02])),
        demand_eur_per_kw=float(rng.choice([0.0, 0.3, 2.0])),
        demand_interval_s=int(rng.choice([900, 3600, 5000])),
        carbon_eur_per_tonne=float(rng.choice([0.0, 60.0])),
    )
    jobs = tuple(replace(job, revenue_weight=float(rng.choice([0.0, 1.0, 1.5]))) for job in problem.jobs)
    return replace(problem, rates=rates, jobs=jobs, defer="free")
