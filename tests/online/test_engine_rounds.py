"""The policy ``cp``: what an engine plans beside enumeration and ``order``, and what is left when the engine fails."""

from __future__ import annotations

from dataclasses import replace as with_changes
from itertools import permutations

import numpy as np
import pytest

from planner.cp import queue_model
from planner.cp.engines import ENGINES
from planner.cp.queue_model import EngineSolver
from planner.domain.trace import Machine, Trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.errors import InputError
from planner.online import solver_rounds
from planner.online.audit_replay import violations
from planner.online.kernel.state import State
from planner.online.objectives import objective_named
from planner.online.outages import Outages
from planner.online.policies import POLICIES, EngineCounts, policy_named
from planner.online.predictors import predictor_named
from planner.online.replay import Replay, replay
from planner.online.solver_rounds import RoundPlan
from tests.online.hard_days import nothing_found
from tests.online.test_queue_search import ENOUGH, SUMS, Cost, small_queue, starts_in_order, total
from tests.online.traces import as_nodes, random_cluster_trace, random_trace

CPSAT = EngineSolver(ENGINES["cpsat"], 60.0)

INSTALLED = [EngineSolver(engine, 60.0) for engine in ENGINES.values() if engine.available()]


class Once:
    """A solver that finds nothing after its first plan, of which it notes the cost."""

    def __init__(self) -> None:
        self.cost = np.inf

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        if self.cost < np.inf:
            return QueueAnswer()
        answer = CPSAT(queue, known, from_known=from_known)
        assert answer.plan is not None
        self.cost = float(queue.cost(np.arange(len(queue)), answer.plan.start_s).sum())
        return answer


class Heard:
    """A solver that notes what each plan of another one costs, and whether it is proven."""

    def __init__(self, solver: EngineSolver) -> None:
        self.costs: list[float] = []
        self._solver = solver

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        answer = self._solver(queue, known, from_known=from_known)
        assert answer.is_proven
        assert answer.plan is not None
        self.costs.append(float(queue.cost(np.arange(len(queue)), answer.plan.start_s).sum()))
        return answer


def backwards(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
    """A solver with the worst of plans: one job after the other, the last one first."""
    starts = 10**6 + np.cumsum(queue.length_s[::-1])[::-1]
    return QueueAnswer(QueuePlan(starts, known.node_of_unit))


def planned(trace: Trace, policy: str, solver: object = CPSAT, **options: object) -> Replay:
    """A replay of a policy that breaks no rule; runtimes are known."""
    result = replay(trace, policy_named(policy), trace.runtime_s, solver=solver, **options)  # type: ignore[arg-type]
    assert violations(result) == []
    return result


def value(result: Replay, cost: Cost) -> float:
    """The objective of the jobs that come at once."""
    return total(result.trace, cost, {job: int(result.start_s[job]) for job in range(1, len(result.trace))})


def small_cluster_queue(seed: int, jobs: int) -> Trace:
    """Jobs of one or two groups of units that all come at once, on three nodes of two classes with two resources."""
    trace = random_cluster_trace(seed, jobs=jobs + 1)
    nodes = Machine(trace.machine.capacity[[0, 1, 3]])
    return with_changes(trace, submit_s=np.array([0, *[5] * jobs]), requested_s=trace.runtime_s, machine=nodes)


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("solver", INSTALLED, ids=lambda solver: solver.engine.name)
@pytest.mark.parametrize("seed", range(12))
def test_no_order_of_a_small_queue_is_better(solver: EngineSolver, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runtimes are known and nobody comes later: the replay is worth the best of all orders, and what order finds."""
    monkeypatch.setattr(queue_model, "PRECISION", 1e-9)
    trace = small_queue(seed, 2 + seed % 5, longest=20)
    plans = [starts_in_order(trace, each) for each in permutations(range(1, len(trace)))]
    for objective, cost in SUMS.items():
        best = min(total(trace, cost, starts) for starts in plans)
        assert value(planned(trace, f"order-{objective}", search=ENOUGH), cost) == pytest.approx(best)
        assert value(planned(trace, f"cp-{objective}", Heard(solver)), cost) == pytest.approx(best), objective
        if len(trace) < 6:
            assert value(planned(as_nodes(trace), f"cp-{objective}", Heard(solver)), cost) == pytest.approx(best)


@pytest.mark.slow
def test_on_nodes_the_engine_is_as_good_as_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two resources, units of two sizes: nothing is lost between the engine's plan and the replay."""
    monkeypatch.setattr(queue_model, "PRECISION", 1e-9)
    asked = 0
    for seed in range(24):
        trace = small_cluster_queue(seed, 2 + seed % 5)
        for objective in ("af", "awf", "bsld", "p2sf"):
            cost, heard = SUMS[objective], Heard(CPSAT)
            found = value(planned(trace, f"cp-{objective}", heard), cost)
            best = value(planned(trace, f"order-{objective}", search=ENOUGH), cost)
            assert found == pytest.approx(best), (seed, objective)
            if heard.costs:
                unit = 86_400.0**4 if objective == "p2sf" else 1.0
                assert found == pytest.approx(heard.costs[0] * unit), (seed, objective)
                asked += 1
    assert asked > 60


def test_a_round_begins_with_what_is_left_of_the_last_plan() -> None:
    """An engine that finds a best plan once and then nothing: runtimes are known, so that the plan is carried out."""
    for seed in (0, 3, 7, 13):
        for trace in (small_queue(seed, 7, processors=8), small_cluster_queue(seed, 5)):
            solver = Once()
            found = value(planned(trace, "cp-af", solver), SUMS["af"])
            assert solver.cost == np.inf or found == pytest.approx(solver.cost)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("policy", ["cp-af", "cp-bsld", "cp-bsld+", "cp-p2sf+"])
def test_a_round_is_never_worse_than_its_seeds(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the engine plans well, makes it worse or finds nothing: the plan of every round is looked at."""
    chosen = policy_named(policy)
    assert chosen.objective is not None
    seeds = ["fcfs", *(chosen.objective.seeds if chosen.plus else ())]
    carry_out, better = solver_rounds.carry_out, []

    def look_first(state: State, now: int, plan: RoundPlan) -> None:
        best = min(solver_rounds._seed_plan(state, now, order).rank for order in seeds)
        assert plan.rank <= best
        better.append(plan.rank < best)
        carry_out(state, now, plan)

    monkeypatch.setattr(solver_rounds, "carry_out", look_first)
    for solver in (EngineSolver(ENGINES["cpsat"], 2.0), backwards, nothing_found):
        for seed in range(2 if isinstance(solver, EngineSolver) else 5):
            for trace in (small_queue(seed, 9, processors=8), small_cluster_queue(seed, 6)):
                planned(trace, policy, solver)
        assert any(better) != (solver is nothing_found)
        better.clear()


def test_a_plus_begins_with_each_published_seed_and_with_nothing() -> None:
    """The others begin with the list plan in submit order alone; a proof ends the round."""
    trace = small_queue(1, 9, processors=8)
    for policy, begins in (("cp-bsld", [True]), ("cp-bsld+", [True] * 3 + [False]), ("cp-p2sf+", [True, False])):
        told: list[bool] = []

        def note(queue: WaitingQueue, known: QueuePlan, *, from_known: bool, told: list[bool] = told) -> QueueAnswer:
            told.append(from_known)
            return QueueAnswer()

        counts = planned(trace, policy, note).engine_counts
        assert counts is not None
        assert counts.fallbacks == counts.rounds > 0
        assert told == begins * counts.rounds
        heard = Heard(CPSAT)
        counts = planned(trace, policy, heard).engine_counts
        assert counts == EngineCounts(len(heard.costs), len(heard.costs), 0)


def test_an_engine_that_finds_nothing_leaves_the_list_plan() -> None:
    """Every round falls back and is counted; the starts are those of list, in rounds of either kind."""
    for trace in (random_trace(4), random_cluster_trace(4, power_limit=60)):
        for rounds in ("second", "event"):
            result = planned(trace, "cp-af", nothing_found, rounds=rounds)
            assert result.start_s.tolist() == planned(trace, "list", rounds=rounds).start_s.tolist()
            assert result.round_count == planned(trace, "list", rounds=rounds).round_count
            counts = result.engine_counts
            assert counts is not None
            assert 5 < counts.rounds == counts.fallbacks
            assert counts.proven == 0


@pytest.mark.slow
def test_whole_replays_break_no_rule() -> None:
    """Jobs on a pool and on nodes with limited power; wrong estimates, predictions; nodes that go down and drain.

    The third outage has no end that anybody knows beforehand.
    """
    times = (np.array([0, 3, 1]), np.array([40, 60, 50]), np.array([90, 200, 300]), np.array([40, 10, 50]))
    outages = Outages(*times, np.array([False, True, False]), np.array([False, False, True]))
    pool, nodes = random_trace(7, jobs=30), random_cluster_trace(7, jobs=12, power_limit=60)
    for trace, policy, estimate, lost, limit_s in (
        (pool, "cp-bsld+", pool.requested_s, Outages(), 0.05),
        (pool, "cp-p2sf", predictor_named("last2")(pool), Outages(), 0.05),
        (nodes, "cp-awf", nodes.requested_s, outages, 0.5),
        (nodes, "cp-af", predictor_named("last2")(nodes), outages, 0.5),
    ):
        solver = EngineSolver(ENGINES["cpsat"], limit_s)
        result = replay(trace, policy_named(policy), estimate, solver=solver, outages=lost)
        assert violations(result) == []
        assert result.is_started.all()
        assert result.engine_counts is not None
        assert result.engine_counts.rounds > 5


def test_a_policy_without_an_engine_is_refused() -> None:
    """The replay has no engine of its own."""
    with pytest.raises(InputError, match="cp-af needs a CP search"):
        replay(random_trace(0), policy_named("cp"), random_trace(0).runtime_s)


def test_names_say_what_is_planned() -> None:
    """Every sum can be planned for; what is not known is named with what is."""
    named = [name for name in POLICIES if name.startswith("cp")]
    sums = ("af", "awf", "bsld", "p2sf", "bsld-ahead", "af-ahead", "stretch", "bsld+", "p2sf+")
    assert named == [f"cp-{each}" for each in sums]
    assert all(policy_named(name).name == name for name in named)
    assert policy_named("cp-p3sf+").objective == objective_named("p3sf")
    with pytest.raises(InputError, match="unknown local objective 'speed'; known: af, awf, bsld, p2sf"):
        policy_named("cp-speed")
    with pytest.raises(
        InputError, match="cp-p2sf-ratio: engines plan for sums that no wait lowers; known: af, awf, bsld, p2sf"
    ):
        policy_named("cp-p2sf-ratio")
    with pytest.raises(InputError, match="cp-af\\+: no seeds were published"):
        policy_named("cp-af+")
