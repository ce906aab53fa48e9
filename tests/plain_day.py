"""Days that fit on the back of an envelope: a few nodes of four cores, PUE 1, and prices by the hour."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import DeferRule, Job, UnitGroup, parse_dependencies
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from tests.factories import DAY, flat_table

HOUR = 3600
LENGTH = 24 * HOUR


def job(
    name: str,
    hours: float,
    *,
    units: Sequence[tuple[int, float]] = ((1, 4.0),),
    power_w: float = 1000.0,
    release_s: int = 0,
    due_s: int | None = None,
    weight: float = 1.0,
    after: str = "",
) -> Job:
    """A job of ``units``, pairs of a number and the cores of each; times count from midnight."""
    return Job(
        name,
        DAY.start_unix + release_s,
        round(hours * HOUR),
        tuple(UnitGroup.of(count, {"cores": cores}) for count, cores in units),
        power_w,
        deadline_unix=None if due_s is None else DAY.start_unix + due_s,
        revenue_weight=weight,
        after=parse_dependencies(after),
    )


def day(
    *jobs: Job,
    nodes: int = 1,
    prices: Sequence[float] = (0.1,),
    rates: Rates | None = None,
    limit_w: float | None = None,
    defer: DeferRule = "full",
    overdue: Sequence[str] = (),
    running: tuple[Running, ...] = (),
    never: Sequence[str] = (),
) -> Problem:
    """A day of nodes with four cores; each price holds for an hour and the last one until midnight [EUR/kWh]."""
    edges = [*(hour * HOUR for hour in range(len(prices))), LENGTH]
    segments = tuple(
        Segment(start, end, 20, price) for start, end, price in zip(edges, edges[1:], prices, strict=False)
    )
    return Problem(
        DAY,
        Cluster((NodeClass("n", nodes, {"cores": 4}),), power_limit_w=limit_w),
        jobs,
        segments,
        flat_table(),
        rates or Rates(0.1),
        running=running,
        defer=defer,
        overdue=frozenset(overdue),
        never=frozenset(never),
    )
