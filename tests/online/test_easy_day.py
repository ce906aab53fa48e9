"""Claims about EASY on one day: it is the simulator's, from the day's beginning, and what reservations protect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.ever_fits import Fit
from planner.domain.job import Dependency, Job, UnitGroup
from planner.domain.plan import DEFERRED
from planner.domain.problem import Problem, Running, executed
from planner.domain.situation import NodeOutage
from planner.domain.trace import cluster_trace_of
from planner.online import replay_loops
from planner.online.day_under_policy import easy_plan
from planner.online.kernel.state import State
from planner.online.policies import policy_named
from planner.online.replay import replay
from tests.factories import DAY, random_problem

HOUR = 3600


def whole_nodes(name: str, submit_s: int, hours: float, nodes: int, ran_h: float | None = None) -> Job:
    """A job on nodes of its own, submitted so many seconds after midnight."""
    runtime_s = None if ran_h is None else int(ran_h * HOUR)
    units = (UnitGroup.of(nodes, {"cores": 4}),)
    return Job(name, DAY.start_unix + submit_s, int(hours * HOUR), units, 100.0 * nodes, runtime_s=runtime_s)


def day_of(*jobs: Job, running: tuple[Running, ...] = (), nodes: int = 2) -> Problem:
    base = random_problem(np.random.default_rng(0), jobs=1)
    cluster = Cluster((NodeClass("cpu", nodes, {"cores": 4}),))
    return replace(base, cluster=cluster, jobs=jobs, running=running)


def starts(problem: Problem) -> list[float | None]:
    """When EASY starts each job, in hours; None for those that wait."""
    found = easy_plan(problem, executed(problem)).start_s.tolist()
    return [None if start == DEFERRED else start / HOUR for start in found]


def test_a_short_job_goes_before_and_a_long_one_does_not() -> None:
    """One of two nodes is taken for 4 h, the wide job waits for both: 3 h fit before it, 5 h do not."""
    first, wide = whole_nodes("a", 0, 4, 1), whole_nodes("b", 1, 2, 2)
    assert starts(day_of(first, wide, whole_nodes("c", 2, 3, 1))) == [0, 4, pytest.approx(2 / HOUR)]
    assert starts(day_of(first, wide, whole_nodes("c", 2, 5, 1))) == [0, 4, 6]


def test_a_long_job_goes_beside_a_reservation_that_leaves_room() -> None:
    """Three nodes: the job that waits needs two of them at 4 h, so that the third is free for any length."""
    jobs = whole_nodes("a", 0, 4, 2), whole_nodes("b", 1, 2, 2), whole_nodes("c", 2, 15, 1)
    assert starts(day_of(*jobs, nodes=3)) == [0, 4, pytest.approx(2 / HOUR)]


def test_places_in_the_queue_come_before_submission() -> None:
    """Jobs of all nodes: in the order of the site's queue, of which the one that has no place yet is the first."""
    queue = [
        replace(whole_nodes(name, 0, 1, 2), queue_place=place) for name, place in (("a", 2), ("b", None), ("c", 1))
    ]
    assert starts(day_of(*queue)) == [2, 0, 1]
    assert starts(day_of(*(replace(job, queue_place=None) for job in queue))) == [0, 1, 2]


def test_it_expects_requested_times_and_meets_real_ones() -> None:
    """The first job asks 4 h and ends after one: the reservation is for 4 h, the wide job starts after one.

    A job of 3 h that came in between was started, since it would have ended in time; then the wide one waits for it.
    """
    first, wide = whole_nodes("a", 0, 4, 1, ran_h=1), whole_nodes("b", 1, 2, 2)
    assert starts(day_of(first, wide)) == [0, 1]
    short = whole_nodes("c", 2, 3, 1)
    assert starts(day_of(first, wide, short)) == [0, pytest.approx(3 + 2 / HOUR), pytest.approx(2 / HOUR)]


def test_what_runs_at_midnight_keeps_its_nodes() -> None:
    """Work of the day before holds both nodes until 3 h, so that nothing starts earlier."""
    carried = Running(whole_nodes("r", -HOUR, 4, 2), -HOUR, 3 * HOUR, (0, 1))
    assert starts(day_of(whole_nodes("a", 0, 1, 1), running=(carried,))) == [3]


def test_an_outage_is_kept_clear() -> None:
    """Node 1 is out from 2 to 5 h: a job of 3 h on both nodes waits until then, one of 2 h does not."""
    outage = NodeOutage(1, 2 * HOUR, 5 * HOUR)
    assert starts(replace(day_of(whole_nodes("a", 0, 3, 2)), outages=(outage,))) == [5]
    assert starts(replace(day_of(whole_nodes("a", 0, 2, 2)), outages=(outage,))) == [0]


def crowded_day(seed: int) -> Problem:
    """A random day on shared nodes with GPUs, some of whose jobs have classes, nodes, begins or others to wait for."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=25)
    names = [node_class.name for node_class in problem.cluster.classes]
    jobs: list[Job] = []
    for job in problem.jobs:
        changes: dict[str, Any] = {"runtime_s": int(rng.integers(1, job.requested_s + 1))}
        chance = rng.random()
        if chance < 0.2:
            changes["begin_unix"] = job.submit_unix + int(rng.integers(0, 30_000))
        elif chance < 0.3:
            changes["priority"] = 2.0
        elif chance < 0.4 and jobs:
            changes["after"] = (Dependency("afterok", jobs[int(rng.integers(len(jobs)))].id),)
        elif chance < 0.5:
            changes["exclusive"] = True
        elif chance < 0.6:
            changes["classes"] = (names[int(rng.integers(len(names)))],)
        changed = replace(job, **changes)
        jobs.append(changed if Fit(problem.cluster).why_never(changed) is None else job)
    jobs.sort(key=lambda job: job.submission_key)
    return replace(problem, jobs=tuple(jobs), running=())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(5))
def test_the_same_as_a_replay_of_the_day(block: int) -> None:
    """On 500 days in all, every start and node is that of ``easy`` on a trace of the day's jobs, made by itself."""
    for seed in range(100 * block, 100 * block + 100):
        problem = crowded_day(seed)
        happened = executed(problem)
        order = sorted(range(len(problem.jobs)), key=lambda place: problem.jobs[place].release_unix)
        trace = cluster_trace_of(
            [problem.jobs[place] for place in order],
            happened.columns.duration_s[order],
            problem.columns.duration_s[order],
            problem.cluster,
            origin_unix=DAY.start_unix,
            source="a day",
        )
        result = replay(replace(trace, submit_s=np.maximum(trace.submit_s, 0)), policy_named("easy"), trace.requested_s)
        plan = easy_plan(problem, happened)
        inside = np.where(result.start_s < DAY.length_s, result.start_s, DEFERRED)
        assert plan.start_s[order].tolist() == inside.tolist(), seed
        for index, place in enumerate(order):
            if inside[index] != DEFERRED:
                first, last = problem.columns.unit_ptr[place : place + 2]
                nodes = result.node_of_unit[trace.unit_ptr[index] : trace.unit_ptr[index + 1]]
                assert plan.node_of_unit[first:last].tolist() == nodes.tolist(), seed


@pytest.mark.parametrize("seed", range(30))
def test_audited(seed: int) -> None:
    """With shared nodes, odd units, running work and power limits, what it starts breaks no rule of the machine."""
    problem = random_problem(np.random.default_rng(seed), jobs=20, extras=True)
    plan = easy_plan(problem, problem)
    assert plan.is_placed.any()
    assert audit(problem, plan, leaves_room=True) == []


def test_nothing_to_do() -> None:
    """A day without jobs is an empty plan."""
    assert starts(day_of()) == []


def test_a_long_queue_needs_no_more_room_than_a_node_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 500 jobs that wait at midnight at most four share a node of four cores: timelines are not widened for all."""
    widths = []

    def widened(state: State, needed: int) -> State:
        widths.append(needed)
        return grown(state, needed)

    grown = replay_loops.widened
    monkeypatch.setattr(replay_loops, "widened", widened)
    jobs = [replace(whole_nodes(f"j{k}", k, 1, 1), units=(UnitGroup.of(1, {"cores": 1}),)) for k in range(500)]
    late = [replace(job, submit_unix=job.submit_unix - 1000) for job in jobs]
    assert len(starts(day_of(*late, nodes=10))) == 500
    assert max(widths, default=0) <= 128
