"""Claims about the peak, about idle nodes, and about what jobs carry of the costs that they cause together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.plan import Placement, Plan
from planner.domain.rates import Rates
from tests.factories import flat_table
from tests.plain_day import HOUR, day, job


def test_the_demand_charge_is_shared_by_energy() -> None:
    """One job draws 1 kWh and the other 3 kWh: of a charge of 2 EUR on 1 kW they carry 0.50 and 1.50 EUR."""
    problem = day(job("a", 1), job("b", 3), rates=Rates(0.1, demand_eur_per_kw=2.0))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", HOUR, (0,))})
    ledger = settle(problem, plan)
    assert ledger.demand_cost_eur == pytest.approx(2.0)
    assert ledger.jobs.demand_cost_eur.tolist() == pytest.approx([0.5, 1.5])


def test_the_peak_counts_cooling_and_the_sun_of_its_quarter_hour() -> None:
    """1 kW cooled with half as much again is a peak of 1.5 kW; with 0.6 kW from the roof, 0.9 kW are bought."""
    problem = replace(day(job("a", 1)), table=flat_table(0.5))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,))})
    assert settle(problem, plan).peak_kw == pytest.approx(1.5)
    sunny = replace(problem, segments=(replace(problem.segments[0], solar_w=600.0),))
    assert settle(sunny, plan).peak_kw == pytest.approx(0.9)


def test_idle_nodes_draw_power_where_only_some_classes_do() -> None:
    """A class of two nodes at 100 W idles beside one that draws nothing: 24 h of one node and 23 h of the other.

    The job runs for an hour on the second node: 4.7 kWh are idle.
    """
    classes = (NodeClass("off", 1, {"cores": 4}), NodeClass("on", 2, {"cores": 4}, idle_w=100.0))
    problem = replace(day(job("a", 1)), cluster=Cluster(classes))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (2,))}))
    assert ledger.totals.idle_kwh == pytest.approx(4.7)
    assert ledger.totals.work_kwh == pytest.approx(1.0)


def test_the_least_energy_is_cooled_too() -> None:
    """A milliwatt for a second, with half as much cooling: 0.5 mW s, of 3.6e9 in a kWh."""
    problem = replace(day(job("a", 1 / HOUR, power_w=0.001)), table=flat_table(0.5))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (0,))}))
    assert ledger.totals.cooling_kwh == pytest.approx(0.5 / 3.6e9, abs=0)
