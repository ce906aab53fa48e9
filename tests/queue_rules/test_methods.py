"""Every method keeps the rules of the queue on random crowded days."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem, Running
from planner.domain.result import MaxRuntime, never
from planner.methods import METHODS, Params, method_named
from tests.factories import DAY, random_problem
from tests.queue_rules.rules import broken_rules, day_with_rules, held_by


def crowded(seed: int, *, jobs: int = 40) -> Problem:
    """A day of two classes with many small jobs on each node, most of them with rules."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=jobs)
    while len(problem.cluster.classes) < 2:
        problem = random_problem(rng, jobs=jobs)
    waiting = sorted(problem.jobs, key=lambda job: job.submission_key)
    small = tuple(replace(job, requested_s=1 + job.requested_s // 4, power_w=job.power_w / 4) for job in waiting)
    return day_with_rules(rng, replace(problem, jobs=small))


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_every_method_keeps_the_rules(method: str, seed: int) -> None:
    """The audit finds nothing, a plain look at the plan finds nothing, and the profit is within the bound."""
    problem = crowded(seed, jobs=14 if method in ("cp", "relaxation") else 40)
    params = Params(seed=0, workers=1, iterations=300, time_limit_s=4)
    result = method_named(method)(problem, params, MaxRuntime(4))
    assert audit(problem, result.plan, leaves_room=result.leaves_room) == []
    assert broken_rules(problem.cluster, held_by(problem, result.plan), DAY.start_unix) == []
    assert result.plan.is_placed.any() or (method, result.status) == ("cp", "nothing")
    assert result.ledger.profit_eur <= profit_bound(problem).profit_eur


def test_equal_units_with_other_rules_are_tried_by_themselves() -> None:
    """A rule that has no room for one job on its class starts the next one, which asks the same, on another class."""
    cluster = Cluster((NodeClass("cpu", 1, {"cores": 4}), NodeClass("gpu", 1, {"cores": 4})))
    one = Job("a", DAY.start_unix, 7200, (UnitGroup.of(1, {"cores": 4.0}),), 10.0, classes=("gpu",))
    jobs = (one, replace(one, id="b"), replace(one, id="c", classes=("cpu",)))
    problem = replace(random_problem(np.random.default_rng(0), jobs=0), cluster=cluster, jobs=jobs, running=())
    assert method_named("est")(problem, Params(), never).plan.start_s.tolist() == [0, 7200, 0]


@pytest.mark.parametrize("method", ["multisearch", "harvest", "hold", "est"])
def test_what_has_started_stays_where_it_is(method: str) -> None:
    """A job that runs outside its classes is no reason to stop, earns what its node gives, and keeps its room."""
    cluster = Cluster((NodeClass("cpu", 1, {"cores": 4}), NodeClass("gpu", 1, {"cores": 4})))
    one = Job("a", DAY.start_unix, 7200, (UnitGroup.of(1, {"cores": 4.0}),), 10.0, classes=("gpu",))
    waiting = replace(one, id="b", classes=("cpu",))
    problem = replace(
        random_problem(np.random.default_rng(0), jobs=0),
        cluster=cluster,
        jobs=(waiting,),
        running=(Running(one, 0, 7200, (0,)),),
    )
    result = method_named(method)(problem, Params(workers=1, iterations=10), never)
    assert result.plan.start_s.tolist() == [7200]
    # Two hours of four cores each, at 0.02 EUR.
    assert result.ledger.totals.revenue_eur == pytest.approx(2 * 2 * 4 * 0.02)


def test_the_rules_matter_on_these_days() -> None:
    """Without the rules, plans of the same days break all of them, and the audit says so: the test above can fail."""
    rules = set()
    for seed in range(3):
        problem = crowded(seed)
        free = tuple(replace(job, classes=(), exclusive=False, begin_unix=None) for job in problem.jobs)
        plan = method_named("multisearch")(replace(problem, jobs=free), Params(workers=1), MaxRuntime(4)).plan
        assert broken_rules(problem.cluster, held_by(problem, plan), DAY.start_unix)
        begun = tuple(replace(job, begin_unix=None) for job in problem.jobs)
        for each in (problem, replace(problem, jobs=begun)):
            rules |= {violation.rule for violation in audit(each, plan)}
    assert rules == {"start", "classes", "exclusive"}
