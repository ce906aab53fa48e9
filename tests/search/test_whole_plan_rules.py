"""Every search keeps the rules that look at a plan as a whole: deferral and deadlines, with overdue jobs and limits."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cli.main import run
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.domain.method_params import DelayParams
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.domain.result import BestSoFar, Result, never
from planner.domain.segment import Segment
from planner.errors import AuditError
from planner.planning.plan_day import accepted
from planner.search.delay import delay_search
from planner.search.harvest import harvest
from planner.search.multisearch import multisearch
from planner.search.rebuild import Chain
from planner.search.whole_plan_rules import complete
from tests.days import BRIEF, write_small_site
from tests.days import DAY as DAY_NAME
from tests.factories import DAY, flat_table, random_problem

HOUR = 3600


def crowded_problem(seed: int, defer: str) -> Problem:
    """A random small day with deadlines, overdue jobs, odd units and often a power limit, rich or thin."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=int(rng.integers(3, 14)), extras=bool(rng.random() < 0.4))
    cluster = problem.cluster
    if rng.random() < 0.4:
        cluster = dataclasses.replace(cluster, power_limit_w=float(rng.uniform(400, 1500)))
    jobs = []
    for job in problem.jobs:
        changes: dict[str, object] = {}
        if rng.random() < 0.3:
            changes["deadline_unix"] = DAY.start_unix + int(rng.integers(-1000, 100_000))
        if rng.random() < 0.3:
            sizes = [{"cores": float(rng.integers(1, 5))} for _ in range(int(rng.integers(2, 4)))]
            changes["units"] = tuple(UnitGroup.of(int(rng.integers(1, 3)), size) for size in sizes)
        jobs.append(dataclasses.replace(job, **changes))
    jobs = [job for job in jobs if Fit(cluster).why_never(job) is None]
    overdue = frozenset(job.id for job in jobs if rng.random() < 0.2)
    rates = dataclasses.replace(problem.rates, eur_per_core_hour=float(rng.choice([0.02, 0.002, 0.0005])))
    return dataclasses.replace(problem, cluster=cluster, jobs=tuple(jobs), overdue=overdue, defer=defer, rates=rates)


SEARCHES = {
    "multisearch": multisearch,
    "delay": lambda problem: delay_search(problem, workers=1, stop=never, params=DelayParams(2 * HOUR)),
    "harvest": lambda problem: harvest(problem, seed=1, workers=1, stop=never, time_limit_s=60, iterations=1500),
}


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("defer", ["full", "free"])
@pytest.mark.parametrize("name", SEARCHES)
def test_what_a_search_returns_is_clean(name: str, defer: str, is_whole: bool) -> None:
    """Forty crowded days each: what is left out, delayed or rebuilt lets no deadline slip that could be met."""
    for seed in range(40 if is_whole else 15):
        problem = crowded_problem(seed, defer)
        assert audit(problem, SEARCHES[name](problem).plan) == [], f"seed {seed}"


def one_node_day(*jobs: Job, defer: str = "full") -> Problem:
    cluster = Cluster((NodeClass("n", 1, {"cores": 4}),))
    return Problem(DAY, cluster, jobs, (Segment(0, 86400, 20, 0.1),), flat_table(), Rates(0.02), defer=defer)


def job(name: str, hours: float, *, cores: float = 4, due_h: float | None = None) -> Job:
    deadline = None if due_h is None else DAY.start_unix + int(due_h * HOUR)
    units = (UnitGroup.of(1, {"cores": cores}),)
    return Job(name, DAY.start_unix, int(hours * HOUR), units, 100.0, deadline_unix=deadline)


@pytest.mark.parametrize("defer", ["full", "free"])
def test_a_job_that_can_now_meet_its_deadline_is_moved_forward(defer: str) -> None:
    """The first six hours are free: the job that is due by six and starts at ten moves to the start of the day."""
    problem = one_node_day(job("due", 2, due_h=6), defer=defer)
    plan = Plan.of(problem, {"due": Placement("due", 10 * HOUR, (0,))})
    assert complete(problem, plan).start_s.tolist() == [0]


def test_room_that_a_moved_job_leaves_is_given_to_a_deferred_one() -> None:
    """A job of 11 h fits neither before 10:00 nor after the day; when the one that is due by 14:00 moves, it does."""
    problem = one_node_day(job("due", 14, due_h=14), job("long", 11))
    plan = Plan.of(problem, {"due": Placement("due", 10 * HOUR, (0,))})
    fuller = complete(problem, plan)
    assert sorted(fuller.start_s.tolist()) == [0, 14 * HOUR]
    assert audit(problem, fuller) == []


def test_a_complete_plan_is_left_alone() -> None:
    """Nothing to mend: the very same plan comes back."""
    problem = one_node_day(job("a", 2, due_h=6))
    plan = Plan.of(problem, {"a": Placement("a", 0, (0,))})
    assert complete(problem, plan) is plan


def broken_result() -> tuple[Problem, Result]:
    """Two jobs on top of each other on one node, found by a careless method."""
    problem = one_node_day(job("a", 2), job("b", 3))
    broken = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", HOUR, (0,))})
    return problem, Result(broken, settle(problem, broken), "careless", "found", 0.0, "guess")


def test_a_plan_that_breaks_a_rule_is_an_error_in_tests() -> None:
    """No bug of a method passes by unseen."""
    with pytest.raises(AuditError, match="the plan of careless breaks 1 rule: capacity: node n1"):
        accepted(*broken_result())


@pytest.mark.usefixtures("lenient_audit")
def test_a_plan_that_breaks_a_rule_is_replaced_by_one_that_does_not() -> None:
    """A site is never left without a plan: the best single ordering stands in, and says for whose plan and why."""
    problem, result = broken_result()
    stands_in = accepted(problem, result)
    assert audit(problem, stands_in.plan) == []
    assert stands_in.method == "multisearch"
    assert stands_in.stands_in_for.startswith("the plan of careless breaks 1 rule: capacity: node n1")


def test_a_clean_plan_is_accepted_as_it_is() -> None:
    """No one stands in for a plan that keeps the rules."""
    result = multisearch(one_node_day(job("a", 2), job("b", 3)))
    assert accepted(one_node_day(job("a", 2), job("b", 3)), result) is result


def overlapping(self: Chain) -> Plan:
    """What a kernel with a bug might come to: all jobs at once on the first node."""
    columns = self.problem.columns
    return Plan(columns.release_s.copy(), np.zeros(int(columns.unit_ptr[-1]), dtype=np.int64))


@pytest.fixture
def faulty_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that say that they earn a fortune, with a plan that breaks rules."""
    monkeypatch.setattr(Chain, "best_plan", overlapping)
    monkeypatch.setattr(Chain, "best_profit_eur", property(lambda self: 1e9))


@pytest.mark.usefixtures("faulty_kernel")
def test_a_bug_of_the_kernel_is_an_error_in_tests() -> None:
    """It would look like a search that finds nothing better."""
    with pytest.raises(AuditError, match=r"the plan of harvest, rebuilt from .*, breaks 1 rule: capacity: node n1"):
        SEARCHES["harvest"](one_node_day(job("a", 20), job("b", 20)))


@pytest.mark.usefixtures("faulty_kernel", "lenient_audit")
def test_a_bug_of_the_kernel_is_told_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan is clean and stands in for the broken one: a quiet run says so on stderr, and summary.json for good."""
    monkeypatch.chdir(write_small_site(tmp_path))
    assert run(["--day", DAY_NAME, "-q", "--bound-time", "0", *BRIEF]) == 0
    told = capsys.readouterr().err
    why = json.loads((tmp_path / "reports" / "site" / DAY_NAME / "summary.json").read_text())["stands_in_for"]
    assert why.startswith("the plan of harvest, rebuilt from ")
    assert told.startswith(f"{DAY_NAME}: {why[:100]}")
    assert told.endswith("; a plan of harvest stands in. Please report this bug of the planner\n")
    assert run(["audit", f"reports/site/{DAY_NAME}"]) == 0


def test_broken_plans_are_counted_once_each() -> None:
    """The result names the first and says how many others there are; one that goes on from it says so too."""
    so_far = BestSoFar.after(multisearch(one_node_day(job("a", 2))), never, None)
    assert so_far.result("x").stands_in_for == ""
    so_far.broken += ["one", "one", "two", "three"]
    first = so_far.result("x")
    assert first.stands_in_for == "one; so do 2 more plans"
    assert BestSoFar.after(first, never, None).result("y").stands_in_for == first.stands_in_for
