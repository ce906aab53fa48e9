"""Claims about what jobs carry of the costs that they cause together."""

from __future__ import annotations

import pytest

from planner.accounting.settle import settle
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Rates
from tests.plain_day import HOUR, day, job


def test_the_demand_charge_is_shared_by_energy() -> None:
    """One job draws 1 kWh and the other 3 kWh: of a charge of 2 EUR on 1 kW they carry 0.50 and 1.50 EUR."""
    problem = day(job("a", 1), job("b", 3), rates=Rates(0.1, demand_eur_per_kw=2.0))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", HOUR, (0,))})
    ledger = settle(problem, plan)
    assert ledger.demand_cost_eur == pytest.approx(2.0)
    assert ledger.jobs.demand_cost_eur.tolist() == pytest.approx([0.5, 1.5])
