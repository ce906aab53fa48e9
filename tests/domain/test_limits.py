"""Claims about the limits of what a day is made of: too much is refused before anything is allocated for it."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner import limits
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.horizon import Horizon
from planner.domain.job import Job, UnitGroup
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.errors import InputError, TableError

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


def test_the_edges_of_a_table() -> None:
    """Of three rows the last is row 2, and so of columns: beyond it a table that does not clamp is no help."""
    table = PueTable("t", 1000, 500, 0, 5, np.arange(9.0).reshape(3, 3))
    clamping = replace(table, clamp=True)
    edges = np.array([0, 2]), np.array([0.0, 10.0])
    assert table.look_up(*edges).tolist() == clamping.look_up(*edges).tolist() == [0.0, 8.0]
    for row, temperature_c, held in ((-1, 0.0, 0.0), (3, 0.0, 6.0), (0, -5.0, 0.0), (0, 15.0, 2.0)):
        outside = np.array([row]), np.array([temperature_c])
        assert clamping.look_up(*outside).tolist() == [held]
        power_w = 1000 + 500 * row
        with pytest.raises(TableError, match=rf"1000 to 2000 W and 0 to 10 C.* {power_w} W at {temperature_c:g} C"):
            table.look_up(*outside)


def test_the_rows_of_a_table_meet_halfway() -> None:
    """Rows of 1000, 1500 and 2000 W: 1249 W is nearest to row 0, 1250 W goes up to row 1."""
    table = PueTable("t", 1000, 500, 0, 5, np.zeros((3, 1)))
    power_w = np.array([749, 750, 1249, 1250, 1749, 1750, 2249, 2250])
    assert table.rows(power_w * 1000 * 60, np.full(8, 60)).tolist() == [-1, 0, 0, 1, 1, 2, 2, 3]


def test_the_size_of_tables() -> None:
    """A table has at most as many rows, and as much power and heat, as the bounds say; those are within."""
    rows = 50_000
    assert len(PueTable("t", 0, 1, 0, 5, np.zeros((rows, 1))).cooling) == rows
    with pytest.raises(TableError, match=f"its number of rows is {rows + 1}; it must be {limits.TABLE_ROWS}$"):
        PueTable("t", 0, 1, 0, 5, np.zeros((rows + 1, 1)))
    # Rows at 0 and at the highest power of all; one watt more is too much. Columns likewise.
    high_w, high_c = limits.TABLE_W.high, limits.TABLE_C.high
    assert PueTable("t", 0, high_w, 0, high_c, np.zeros((2, 2))).powers_w[-1] == high_w
    with pytest.raises(TableError, match="its highest power is"):
        PueTable("t", 1, high_w, 0, 5, np.zeros((2, 2)))
    with pytest.raises(TableError, match="its highest temperature is"):
        PueTable("t", 0, 1, 1, high_c, np.zeros((2, 2)))
    # Ten rows for each step and the last one: 50,000 allow 4,999 steps, 5,000 rows.
    steps = (rows - 1) // 10
    assert len(PueTable("t", 0, 10, 0, 5, np.zeros((steps + 1, 1))).linear().cooling) == 10 * steps + 1
    with pytest.raises(InputError, match="the number of rows with cooling"):
        PueTable("t", 0, 10, 0, 5, np.zeros((steps + 2, 1))).linear()


def test_days_that_are_not() -> None:
    """Samoa went from the 29th to the 31st of December 2011; no calendar has the year 9999 in every zone."""
    with pytest.raises(InputError, match="there is no 2011-12-30 in Pacific/Apia"):
        Horizon(dt.date(2011, 12, 30), "Pacific/Apia")
    with pytest.raises(InputError, match="the year of 9999-12-31 is 9999; it must be from"):
        Horizon(dt.date(9999, 12, 31), "UTC")
