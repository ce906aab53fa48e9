"""Days and tables for the tests of the bound."""

from __future__ import annotations

import numpy as np

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment
from tests.factories import DAY


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
