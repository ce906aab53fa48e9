"""Claims about the limits of what a day is made of: too much is refused before anything is allocated for it."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.rates import Rates
from planner.errors import InputError

JOB = Job("a", 0, 60, (UnitGroup.of(1, {"cores": 1}),), 10.0)
NODES = NodeClass("cpu", 10, {"cores": 8})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("requested_s", 2**63),
        ("requested_s", 0),
        ("runtime_s", -1),
        ("power_w", float("inf")),
        ("power_w", float("nan")),
        ("revenue_weight", 1e300),
        ("submit_unix", 253_402_300_800),
        ("deadline_unix", 10**15),
        ("units", ()),
        ("units", (UnitGroup.of(1_000_000, {"cores": 1}),) * 2),
        ("units", (UnitGroup.of(1, {"cores": 1}),) * 1001),
    ],
)
def test_jobs(field: str, value: Any) -> None:
    """A job's numbers are within bounds, and the message names the job."""
    with pytest.raises(InputError, match=r"job a: .*; it must be"):
        replace(JOB, **{field: value})


@pytest.mark.parametrize(("count", "amount"), [(10**9, 1.0), (0, 1.0), (1, 1e10), (1, float("inf"))])
def test_units(count: int, amount: float) -> None:
    """So are its units."""
    with pytest.raises(InputError, match="it must be"):
        UnitGroup.of(count, {"cores": amount})


@pytest.mark.parametrize(
    "classes",
    [
        [replace(NODES, name=f"c{k}", count=100_000) for k in range(3)],
        [replace(NODES, name=f"c{k}") for k in range(101)],
        [replace(NODES, capacity={"cores": 1} | {f"r{k}": 1 for k in range(16)})],
        [replace(NODES, count=200_000, capacity={"cores": 1} | {f"r{k}": 1 for k in range(4)})],
        [replace(NODES, count=2000, capacity={"cores": 1e9})],
        [replace(NODES, count=100_000, idle_w=1e6)],
    ],
)
def test_machines(classes: list[NodeClass]) -> None:
    """Nodes, classes, resources, amounts and idle power of the whole machine are bounded."""
    with pytest.raises(InputError, match="; it must be from"):
        Cluster(tuple(classes))


def test_rates() -> None:
    """So is what a site earns and pays."""
    for rates in ({"eur_per_core_hour": 1e300}, {"eur_per_core_hour": 1, "demand_interval_s": 0}):
        with pytest.raises(InputError, match="it must be from"):
            Rates(**rates)  # type: ignore[arg-type]


def test_days_that_are_not() -> None:
    """Samoa went from the 29th to the 31st of December 2011; no calendar has the year 9999 in every zone."""
    with pytest.raises(InputError, match="there is no 2011-12-30 in Pacific/Apia"):
        Horizon(dt.date(2011, 12, 30), "Pacific/Apia")
    with pytest.raises(InputError, match="the year of 9999-12-31 is 9999; it must be from"):
        Horizon(dt.date(9999, 12, 31), "UTC")
