"""Priority: what counts more runs rather than what earns more, and the money stays what it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem
from planner.domain.result import MaxRuntime, never
from planner.domain.trace import cluster_trace_of
from planner.methods import METHODS, Params, method_named
from planner.online.day_under_policy import easy_plan
from planner.online.policies import policy_named
from planner.online.replay import replay
from tests.factories import DAY, random_problem

RICH = Job("rich", DAY.start_unix, 86_400, (UnitGroup.of(1, {"cores": 4.0}),), 10.0, revenue_weight=2.0)
POOR = Job("poor", DAY.start_unix, 90_000, (UnitGroup.of(1, {"cores": 4.0}),), 10.0)


def day(*jobs: Job) -> Problem:
    """A day on one node, which one of the jobs fills."""
    cluster = Cluster((NodeClass("cpu", 1, {"cores": 4}),))
    return replace(random_problem(np.random.default_rng(0), jobs=0), cluster=cluster, jobs=jobs, running=())


def started(problem: Problem, method: str) -> list[str]:
    params = Params(workers=1, iterations=200, time_limit_s=3)
    plan = method_named(method)(problem, params, MaxRuntime(3)).plan
    return [placed.job_id for placed in plan.placements(problem)]


@pytest.mark.parametrize("method", ["multisearch", "harvest", "delay", "relaxation", "cp", "profit"])
def test_three_times_half_is_more_than_one(method: str) -> None:
    """Of two jobs the one runs that earns twice as much, until the other counts three times."""
    assert started(day(RICH, POOR), method) == ["rich"]
    assert started(day(RICH, replace(POOR, priority=3.0)), method) == ["poor"]


@pytest.mark.parametrize("method", ["est", "est-strict", "wt"])
def test_rules_let_high_priority_go_first(method: str) -> None:
    """At the same moment the job of higher priority goes before the older one, and before the shorter one."""
    late = replace(POOR, priority=1.5)
    older = replace(RICH, submit_unix=DAY.start_unix - 60)
    assert started(day(older, late), method) == ["poor"]
    assert started(day(older, replace(late, priority=1.0)), method) == ["rich"]


def test_easy_lets_high_priority_go_first() -> None:
    """As the rules do."""
    late = replace(POOR, priority=1.5)
    for priority, first in ((1.5, 1), (1.0, 0)):
        problem = day(replace(RICH, submit_unix=DAY.start_unix - 60), replace(late, priority=priority))
        assert np.flatnonzero(easy_plan(problem, problem).is_placed).tolist() == [first]


@pytest.mark.parametrize("policy", ["easy", "easy-sjbf", "list", "strict", "greedy", "hold"])
def test_the_simulator_lets_high_priority_go_first(policy: str) -> None:
    """Of jobs that wait for one busy node, the one of the highest priority goes first, then by submission."""
    cluster = Cluster((NodeClass("cpu", 1, {"cores": 4}),))
    first = replace(POOR, id="first", submit_unix=0, requested_s=100)
    jobs = [
        first,
        *(replace(first, id=str(k), submit_unix=k, priority=p) for k, p in ((1, 1.0), (2, 3.0), (3, 3.0), (4, 0.5))),
    ]
    lengths = np.full(5, 100, dtype=np.int64)
    trace = cluster_trace_of(jobs, lengths, lengths, cluster, origin_unix=0, source="test")
    result = replay(trace, policy_named(policy), lengths)
    assert result.start_s.tolist() == [0, 300, 100, 200, 400]


@pytest.mark.parametrize("method", METHODS)
def test_the_money_is_what_it_is(method: str) -> None:
    """The ledger of the result is that of the plan without priorities, and the bound is on that profit."""
    problem = day(RICH, replace(POOR, priority=30.0, requested_s=40_000))
    plain = replace(problem, jobs=tuple(replace(job, priority=1.0) for job in problem.jobs))
    params = Params(workers=1, iterations=100, time_limit_s=3)
    result = method_named(method)(problem, params, MaxRuntime(3))
    assert result.ledger.totals == settle(plain, result.plan).totals
    assert result.ledger.profit_eur <= profit_bound(problem).profit_eur
    assert profit_bound(problem).profit_eur == profit_bound(plain).profit_eur


def test_without_priorities_methods_see_the_day_as_it_is() -> None:
    """The very problem, so that nothing can change."""
    problem = day(RICH, POOR)
    assert not problem.by_priority
    assert method_named("est")(problem, Params(), never).ledger.profit_eur == pytest.approx(
        settle(problem, method_named("est")(problem, Params(), never).plan).profit_eur
    )
