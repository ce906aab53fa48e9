"""The dispatchers as policies: which jobs are planned and in which order, what is carried out, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as with_changes

import numpy as np
import pytest

from planner.cp.dispatchers import dispatcher_named
from planner.domain.trace import Machine, Trace, pool_trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, QueueSolver, WaitingQueue
from planner.errors import InputError
from planner.online import solver_rounds
from planner.online.audit_replay import violations
from planner.online.outages import Outages
from planner.online.policies import DISPATCHERS, Policy, policy_named
from planner.online.predictors import predictor_named
from planner.online.replay import Replay, replay
from planner.online.solver_rounds import RoundPlan
from tests.online.hard_days import nothing_found
from tests.online.traces import random_cluster_trace, random_trace


def dispatcher(name: str, *, time_limit_s: float = 0.01, steps: int = 50) -> QueueSolver:
    """A dispatcher with small limits."""
    return dispatcher_named(name, engine="cpsat", time_limit_s=time_limit_s, steps=steps, seed=0)


class Told:
    """A solver that notes the queues that it is given, and starts nobody but the first of each, or what it is told."""

    def __init__(self, answer: Callable[[WaitingQueue, QueuePlan], QueueAnswer] | None = None) -> None:
        self.queues: list[WaitingQueue] = []
        self._answer = answer or only_the_first

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        assert not from_known
        self.queues.append(queue)
        return self._answer(queue, known)

    @property
    def lengths(self) -> list[list[int]]:
        """The estimates of each queue."""
        return [queue.length_s.tolist() for queue in self.queues]


def only_the_first(queue: WaitingQueue, known: QueuePlan) -> QueueAnswer:
    """The first job now, all others later."""
    return QueueAnswer(QueuePlan(np.minimum(np.arange(len(queue)), 1), known.node_of_unit))


def pool(*jobs: tuple[int, int, int], processors: int = 4) -> Trace:
    """Jobs on a pool: submission, runtime and width of each."""
    submit, runtime, width = (np.array(each) for each in zip(*jobs, strict=True))
    return pool_trace(tuple(f"j{k}" for k in range(len(jobs))), submit, runtime, runtime, width, processors)


def dispatched(trace: Trace, policy: str, solver: QueueSolver, **options: object) -> Replay:
    """A replay of a dispatcher that breaks no rule; runtimes are known."""
    result = replay(trace, policy_named(policy), trace.runtime_s, solver=solver, **options)  # type: ignore[arg-type]
    assert violations(result) == []
    return result


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("policy", DISPATCHERS)
def test_whole_replays_break_no_rule(policy: str) -> None:
    """Nodes of two classes, two resources, units of two sizes, limited power; wrong estimates, lost nodes; a pool."""
    times = (np.array([0, 3, 1]), np.array([40, 60, 50]), np.array([90, 200, 300]), np.array([40, 10, 50]))
    outages = Outages(*times, np.array([False, True, False]), np.array([False, False, True]))
    nodes, wide = random_cluster_trace(7, jobs=14, power_limit=60), random_trace(7, jobs=12)
    for trace, estimate, lost in (
        (nodes, nodes.requested_s, outages),
        (nodes, predictor_named("last2")(nodes), Outages()),
        (wide, wide.runtime_s, Outages()),
    ):
        result = replay(trace, policy_named(policy), estimate, solver=dispatcher(policy), outages=lost)
        assert violations(result) == []
        assert result.is_started.all()
        assert result.engine_counts is not None
        assert result.engine_counts.rounds > 5


@pytest.mark.parametrize(("policy", "at_10"), [("pcp21", [4, 4, 8]), ("hcp19", [4, 8, 4])])
def test_jobs_that_could_start_are_planned_by_slowdown_then_ties(policy: str, at_10: list[int]) -> None:
    """At second 10 three of four processors are free, so the widest job is not looked at.

    The job that came at 3 has a slowdown of 11/4. Two came just now: one of 8 s and area 8, one of 4 s and area 12.
    """
    told = Told()
    dispatched(pool((0, 10, 3), (0, 30, 1), (2, 9, 4), (3, 4, 1), (10, 8, 1), (10, 4, 3)), policy, told)
    assert at_10 in told.lengths


@pytest.mark.parametrize("policy", [name for name in DISPATCHERS if name != "hcp19"])
def test_nobody_is_asked_where_all_start_at_once(policy: str) -> None:
    """A list plan in which nobody waits is the best there is; the third job has to wait, so the solver is asked."""
    told = Told()
    result = dispatched(pool((0, 10, 3), (0, 10, 1), (20, 5, 3), (20, 9, 2)), policy, told)
    assert told.lengths == [[5, 9]]
    assert result.start_s.tolist()[:3] == [0, 0, 20]
    assert result.engine_counts is not None
    # One round at 0, one at 20 with the solver, one at 25 for the last job.
    assert (result.engine_counts.rounds, result.engine_counts.proven, result.engine_counts.fallbacks) == (3, 2, 0)


def test_nodes_that_are_chosen_afterwards_are_always_asked_for() -> None:
    """HCP'19 has its own way to choose nodes, also where all jobs start at once."""
    told = Told()
    dispatched(pool((0, 10, 3), (0, 10, 1)), "hcp19", told)
    assert told.lengths == [[10, 10], [10]]


def test_only_the_first_hundred_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half as many after each round that was not solved, at least one; all of them again after one that was."""
    monkeypatch.setattr(solver_rounds, "MOST_JOBS", 8)
    trace = pool(*[(0, 10, 1)] * 40, processors=1)
    answers = iter([False, False, False, False, False, True, True, False, True] + [True] * 40)
    told = Told(lambda queue, known: only_the_first(queue, known) if next(answers) else QueueAnswer())
    counts = dispatched(trace, "hcp19", told).engine_counts
    assert [len(queue) for queue in told.queues][:10] == [8, 4, 2, 1, 1, 1, 8, 8, 4, 8]
    assert counts is not None
    assert (counts.rounds, counts.proven, counts.fallbacks) == (40, 0, 6)


def test_a_dispatcher_that_finds_nothing_leaves_the_list_plan() -> None:
    """Of jobs that come at once and all have room alone: that by priority, shorter first where slowdowns are equal."""
    trace = pool((0, 9, 2), (0, 3, 3), (0, 5, 2), (0, 4, 2))
    result = dispatched(trace, "pcp21", nothing_found)
    # At 0 all have a slowdown of 1: 3 s; then 4 s with 5 s beside it from 3 on; then 9 s at 7, when the 4 s end.
    assert result.start_s.tolist() == [7, 0, 3, 3]
    assert result.engine_counts is not None
    # Someone waits at 0 and at 3; at 7 the last job starts at once.
    assert (result.engine_counts.rounds, result.engine_counts.fallbacks) == (3, 2)


def test_nobody_is_left_on_an_idle_machine() -> None:
    """A plan in which nobody starts now counts as none where nothing runs; beside a running job it is carried out."""

    def never_now(queue: WaitingQueue, known: QueuePlan) -> QueueAnswer:
        return QueueAnswer(QueuePlan(known.start_s + 5, known.node_of_unit), is_proven=True)

    result = dispatched(pool((0, 10, 2), (0, 10, 3), (1, 4, 1)), "hcp19", Told(never_now))
    assert result.start_s.tolist() == [0, 10, 10]
    assert result.engine_counts is not None
    assert (result.engine_counts.rounds, result.engine_counts.proven, result.engine_counts.fallbacks) == (3, 1, 2)


@pytest.mark.parametrize(("policy", "asked"), [("pcp21", [1, 2, 10]), ("pcp19", [1, 10])])
def test_those_of_2019_skip_a_round_in_which_nothing_changed(policy: str, asked: list[int]) -> None:
    """One of two narrow jobs could start from second 1 on; at 2 a wide one comes, which has no room until 10."""
    told = Told(lambda queue, known: QueueAnswer(QueuePlan(known.start_s + 1, known.node_of_unit)))
    trace = pool((0, 10, 2), (1, 4, 2), (1, 4, 2), (2, 4, 4))
    assert dispatched(trace, policy, told).start_s.tolist() == [0, 10, 10, 14]
    waits = [float(queue.cost(np.array([0]), np.array([0]))[0] - 1) * int(queue.length_s[0]) for queue in told.queues]
    assert [round(wait) + 1 for wait in waits] == asked


def test_priorities_of_jobs_count_in_their_slowdown() -> None:
    """A slowdown of 1 counts three times for a job of priority 3."""
    trace = with_changes(pool((0, 4, 3), (0, 9, 3), (0, 5, 3)), priority=np.array([1.0, 1.0, 3.0]))
    told = Told()
    result = dispatched(trace, "pcp21", told)
    assert told.lengths[0] == [5, 4, 9]
    assert result.start_s[2] == 0


def halves() -> Trace:
    """Two nodes of four cores and two GPUs, one of eight cores and none; jobs that share and jobs that do not."""
    trace = random_cluster_trace(3, jobs=16)
    nodes = Machine(np.array([[4, 2], [4, 2], [8, 0]], dtype=np.int64))
    amount = np.minimum(trace.group_amount, [4, 2])
    amount[:, 1] = np.where(np.arange(len(amount)) % 3 == 0, amount[:, 1], 0)
    count = np.ones_like(trace.group_count)
    units = np.concatenate([[0], np.cumsum(count)])[trace.group_ptr]
    soon = trace.submit_s // 20
    return with_changes(trace, submit_s=soon, machine=nodes, group_amount=amount, group_count=count, unit_ptr=units)


@pytest.mark.parametrize("policy", ["pcp19", "pcp21", "pcp21s"])
def test_rounds_carry_out_what_was_planned(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every job that a plan starts now has started at that second on the nodes of the plan, be it the list plan."""
    trace = halves()
    seen: list[tuple[WaitingQueue, QueuePlan]] = []
    listed: list[RoundPlan] = []
    carry_out = solver_rounds.carry_out
    monkeypatch.setattr(solver_rounds, "carry_out", lambda *given: (listed.append(given[2]), carry_out(*given)))
    solver = dispatcher(policy, time_limit_s=1.0, steps=10_000)

    def note(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        answer = solver(queue, known, from_known=from_known)
        assert answer.plan is not None
        seen.append((queue, answer.plan))
        return answer

    result = dispatched(trace, policy, note)
    at_once = sum(len(plan.order) for plan in listed)
    planned = sum(int(np.sum(plan.start_s == 0)) for _, plan in seen)
    assert planned >= 6
    assert planned + at_once == len(trace)
    nodes = [plan.node_of_unit[np.repeat(plan.start_s == 0, _units(queue))].tolist() for queue, plan in seen]  # type: ignore[index]
    nodes += [each.tolist() for plan in listed for each in plan.nodes.values()]
    assert sorted(node for each in nodes for node in each) == sorted(result.node_of_unit.tolist())


def _units(queue: WaitingQueue) -> list[int]:
    """How many units each job has."""
    return np.add.reduceat(queue.group_count, queue.group_ptr[:-1]).tolist()


def test_replays_by_steps_are_the_same_in_every_run() -> None:
    """The limit of the search is a number of steps."""
    trace = random_cluster_trace(11, jobs=20)
    for policy in ("pcp21", "pcp21s"):
        one, other = (dispatched(trace, policy, dispatcher(policy)) for _ in range(2))
        assert one.start_s.tolist() == other.start_s.tolist()
        assert one.node_of_unit.tolist() == other.node_of_unit.tolist()


def test_names_of_dispatchers() -> None:
    """They are policies of the kind cp; those of 2021 with a search of their own need no engine."""
    assert [name for name in DISPATCHERS if policy_named(name).needs_engine] == ["hcp19", "pcp19"]
    assert policy_named("cp-af").needs_engine
    assert not policy_named("easy").needs_engine
    with pytest.raises(InputError, match="unknown dispatcher 'pcp22'; known: hcp19, pcp19, pcp21"):
        Policy("cp", dispatcher="pcp22")
    with pytest.raises(InputError, match="'pcp21' is of the kind cp and plans for total slowdown"):
        Policy("cp", dispatcher="pcp21")
    with pytest.raises(InputError, match="unknown dispatcher 'pcp22'"):
        dispatcher("pcp22")
    with pytest.raises(InputError, match="pcp21 needs a CP search"):
        replay(random_trace(0), policy_named("pcp21"), random_trace(0).runtime_s)
