"""Claims about the columns of a problem: they say of its segments and running jobs what those say themselves."""

from __future__ import annotations

import numpy as np

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.columns import job_columns, unit_amount
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from tests.factories import DAY, small_table

SEGMENTS = (
    Segment(0, 3600, -15, 0.1, carbon_g_per_kwh=500.0),
    Segment(3600, 80000, 20, 0.3, solar_w=250.0, carbon_g_per_kwh=100.0),
    Segment(80000, DAY.length_s, 95, -0.02),
)


def running(number: int, units: int, end_s: int, nodes: tuple[int, ...]) -> Running:
    job = Job(f"r{number}", DAY.start_unix, 3600, (UnitGroup.of(units, {"cores": 1}),), 10.0)
    return Running(job, 0, end_s, nodes)


PROBLEM = Problem(
    horizon=DAY,
    cluster=Cluster((NodeClass("cpu", 4, {"cores": 4}),)),
    jobs=(),
    segments=SEGMENTS,
    table=small_table(clamp=True),
    rates=Rates(0.02, carbon_eur_per_tonne=80.0),
    running=(running(0, 2, 700, (3, 1)), running(1, 1, 90000, (1,))),
)


def test_segment_columns() -> None:
    """One entry per segment, in order; 500 g/kWh at 80 EUR per tonne add 0.04 EUR to each kWh."""
    columns = PROBLEM.segment_columns
    assert len(columns) == 3
    assert columns.edges_s.tolist() == [0, 3600, 80000, 86400]
    assert columns.length_s.tolist() == [3600, 76400, 6400]
    assert columns.temperature_c.tolist() == [-15, 20, 95]
    assert columns.price_eur_per_kwh.tolist() == [0.1, 0.3, -0.02]
    assert columns.carbon_g_per_kwh.tolist() == [500.0, 100.0, 0.0]
    assert columns.full_price_eur_per_kwh.tolist() == [0.1 + 0.04, 0.3 + 0.008, -0.02]
    assert columns.solar_w.tolist() == [0.0, 250.0, 0.0]


def test_a_temperature_beyond_the_table_has_its_last_column() -> None:
    """The table has the columns -10, -5, ... 45 C: 20 C is the seventh, and beyond it the first and the last hold."""
    temperature_c = PROBLEM.segment_columns.temperature_c
    assert PROBLEM.table.cells(np.array(3), temperature_c).tolist() == PROBLEM.table.cooling[3, [0, 6, 11]].tolist()


def test_running_columns() -> None:
    """One end per running job, also beyond the day; one node per unit, in the order of the job's units."""
    assert PROBLEM.running_end_s.tolist() == [700, 90000]
    assert PROBLEM.running_nodes.tolist() == [3, 1, 1]


def test_a_trace_of_a_resource_is_a_thousandth() -> None:
    """Whoever asks for something is counted; noise of the seventh digit is not."""
    cluster = PROBLEM.cluster
    for amount, thousandths in ((1e-320, 1), (1e-7, 1), (0.001, 1), (0.0010000001, 1), (0.0011, 2), (3.0, 3000)):
        group = UnitGroup.of(1, {"cores": amount})
        job = Job("a", DAY.start_unix, 60, (group,), 1.0)
        assert unit_amount(group, cluster).tolist() == [thousandths]
        assert job_columns([job], cluster, DAY).group_amount.tolist() == [[thousandths]]
        assert Fit(cluster).why_never(job) is None
