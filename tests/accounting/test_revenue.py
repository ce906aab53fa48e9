"""What use earns: by core-equivalents, by resource, by class of nodes and by who pays, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates, UsePrice
from planner.domain.segment import Segment
from planner.errors import InputError
from tests.factories import DAY, flat_table

CLUSTER = Cluster(
    (
        NodeClass("cpu", 1, {"cores": 10, "memory_gb": 100}),
        NodeClass("gpu", 1, {"cores": 20, "memory_gb": 100, "gpus": 4}),
    )
)


def on_gpus(**payer: str) -> Job:
    """Two hours on 5 cores and 2 of 4 GPUs: half a node, which is 10 core-equivalents."""
    units = (UnitGroup.of(1, {"cores": 5.0, "gpus": 2.0}),)
    return Job("a", DAY.start_unix, 7200, units, 0.0, **payer)  # type: ignore[arg-type]


def earned(rates: Rates, job: Job, node: int = 1) -> float:
    """Revenue of a day with that job alone, from its first second on."""
    problem = Problem(DAY, CLUSTER, (job,), (Segment(0, 86400, 20, 0.1),), flat_table(), rates)
    plan = Plan.of(problem, {"a": Placement("a", 0, (node,))})
    ledger = settle(problem, plan)
    assert ledger.totals.core_hours == pytest.approx(20.0 if node else 10.0)
    assert profit_bound(problem).profit_eur >= ledger.profit_eur - 1e-9
    return ledger.totals.revenue_eur


def test_core_equivalents_alone() -> None:
    """2 h of 10 core-equivalents at 0.03 EUR."""
    assert earned(Rates(0.03), on_gpus()) == pytest.approx(0.6)


def test_resources_on_top() -> None:
    """And 2 h of 2 GPUs at 0.5 EUR."""
    assert earned(Rates(0.03, eur_per_hour={"gpus": 0.5}), on_gpus()) == pytest.approx(0.6 + 2.0)


def test_resources_alone() -> None:
    """2 h of 5 cores at 0.01 and 2 GPUs at 0.5, with core-equivalents free."""
    assert earned(Rates(0.0, eur_per_hour={"gpus": 0.5, "cores": 0.01}), on_gpus()) == pytest.approx(0.1 + 2.0)


def test_a_class_has_prices_of_its_own() -> None:
    """On the class 0.02 for 10 core-equivalents and nothing on top; the same job elsewhere earns as before."""
    rates = Rates(0.03, eur_per_hour={"memory_gb": 0.5}, class_prices={"gpu": UsePrice(0.02)})
    assert earned(rates, on_gpus()) == pytest.approx(0.4)
    plain = replace(on_gpus(), units=(UnitGroup.of(1, {"cores": 5.0, "memory_gb": 2.0}),))
    assert earned(rates, plain, node=0) == pytest.approx(2 * (5 * 0.03 + 2 * 0.5))


def test_account_and_qos_are_factors() -> None:
    """An account that pays double, a QOS that pays half, and both on top of the job's own weight."""
    rates = Rates(0.03, account_factors={"ext": 2.0}, qos_factors={"night": 0.5})
    assert earned(rates, on_gpus(account="ext")) == pytest.approx(1.2)
    assert earned(rates, on_gpus(qos="night")) == pytest.approx(0.3)
    both = replace(on_gpus(account="ext", qos="night"), revenue_weight=3.0)
    assert earned(rates, both) == pytest.approx(1.8)


def test_a_price_for_what_no_node_has_is_refused() -> None:
    """The message names the key."""
    with pytest.raises(InputError, match=r"revenue.eur_per_hour: no node has 'fpgas'; the resources are cores"):
        earned(Rates(0.03, eur_per_hour={"fpgas": 1.0}), on_gpus())
    with pytest.raises(InputError, match=r"revenue.classes: no node class 'fat'; the classes are cpu, gpu"):
        earned(Rates(0.03, class_prices={"fat": UsePrice(1.0)}), on_gpus())
