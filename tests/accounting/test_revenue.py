"""What use earns: by core-equivalents, by resource, by class of nodes and by who pays, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.accounting.audit import require_bills, wrong_bills
from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Rates, UsePrice
from planner.domain.segment import Segment
from planner.errors import AuditError, InputError
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
    require_bills(problem, ledger)
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
    """On the class 0.02 for 10 core-equivalents and nothing on top."""
    rates = Rates(0.03, eur_per_hour={"memory_gb": 0.5}, class_prices={"gpu": UsePrice(0.02)})
    assert earned(rates, on_gpus()) == pytest.approx(0.4)


@pytest.mark.parametrize("node", [0, 1])
def test_a_bill_is_at_the_cheapest_class_that_a_job_may_use_wherever_it_runs(node: int) -> None:
    """5 cores and 50 GB are 5 core-equivalents on one class and 10 on the other; what was asked decides."""
    heavy = replace(on_gpus(), units=(UnitGroup.of(1, {"cores": 5.0, "memory_gb": 50.0}),))
    assert earned(Rates(0.03), heavy, node) == pytest.approx(2 * 5 * 0.03)
    dear = Rates(0.03, class_prices={"cpu": UsePrice(0.08)})
    assert earned(dear, heavy, node) == pytest.approx(2 * 10 * 0.03)
    asked = ("cpu", "gpu")[node]
    assert earned(dear, replace(heavy, classes=(asked,)), node) == pytest.approx((2 * 5 * 0.08, 2 * 10 * 0.03)[node])


@pytest.mark.parametrize("asked", ["cpu", "gpu"])
def test_started_work_is_billed_at_the_class_that_it_asked_for_not_where_it_runs(asked: str) -> None:
    """Slurm may have put it elsewhere."""
    job = replace(on_gpus(), units=(UnitGroup.of(1, {"cores": 5.0, "memory_gb": 50.0}),), classes=(asked,))
    running = tuple(Running(replace(job, id=f"on {node}"), 0, 7200, (node,)) for node in (0, 1))
    rates = Rates(0.03, class_prices={"cpu": UsePrice(0.08)})
    problem = Problem(DAY, CLUSTER, (), (Segment(0, 86400, 20, 0.1),), flat_table(), rates, running=running)
    ledger = settle(problem, Plan.of(problem, {}))
    owed = {"cpu": 2 * 5 * 0.08, "gpu": 2 * 10 * 0.03}[asked]
    assert ledger.jobs.revenue_eur.tolist() == pytest.approx([owed, owed])
    assert wrong_bills(problem, ledger) == []


def test_the_audit_names_a_bill_that_is_not_what_was_asked() -> None:
    """A cent more is found, and said."""
    problem = Problem(DAY, CLUSTER, (on_gpus(),), (Segment(0, 86400, 20, 0.1),), flat_table(), Rates(0.03))
    ledger = settle(problem, Plan.of(problem, {"a": Placement("a", 0, (1,))}))
    more = replace(ledger, jobs=replace(ledger.jobs, revenue_eur=ledger.jobs.revenue_eur + 0.01))
    with pytest.raises(
        AuditError, match=r"the bills break 1 rule: bill: job a: pays 0.610000, and by what it asked 0.6"
    ):
        require_bills(problem, more)


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
