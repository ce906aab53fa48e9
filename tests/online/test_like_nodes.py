"""Nodes that are alike: a replay on them is one on a pool, whatever the policy, and every job has nodes of its own."""

from __future__ import annotations

from dataclasses import replace as with_changes
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from planner.domain.trace import Machine, Trace, draw_deadlines, first_jobs, pool_trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.inputs.traces import read_pool
from planner.online.audit_replay import violations
from planner.online.estimates import IN_TICKS, estimate_named
from planner.online.initial_state import Past
from planner.online.like_nodes import with_like_nodes
from planner.online.outages import Outages
from planner.online.policies import QueueSearch, policy_named
from planner.online.replay import ROUNDS, Replay, replay
from tests.online.slow import SlowNodes
from tests.online.traces import as_nodes, random_cluster_trace, random_trace

POLICIES = (
    "strict",
    "greedy",
    "laf-greedy",
    "list",
    "sjf-list",
    "saf-list",
    "easy",
    "easy-sjbf",
    "saf-easy",
    "saf-easy-sjbf",
    "lrf-easy-labf",
    "conservative",
    "deadline",
    "order-af",
    "order-bsld+",
    "cp-af",
)


def run(trace: Trace, policy: str, estimate: str, **more: object) -> Replay:
    """A replay of a trace, with deadlines for half of the jobs and a little searching."""
    chosen, named = policy_named(policy), estimate_named(estimate)
    return replay(
        trace,
        chosen,
        (named if chosen.kind in IN_TICKS else named.rounded()).make(trace),
        deadline_s=draw_deadlines(trace, 50, 1),
        search=QueueSearch(evaluations=2),
        solver=shortest_first,
        **more,  # type: ignore[arg-type]
    )


def shortest_first(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
    """A solver that would have the shortest job first."""
    order = np.argsort(queue.length_s, kind="stable")
    starts = np.zeros(len(queue), dtype=np.int64)
    starts[order] = np.arange(len(queue))
    return QueueAnswer(QueuePlan(starts, None))


@pytest.mark.slow(keep=32)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("estimate", ["actual", "requested", "actual*0.5", "last2"])
@pytest.mark.parametrize("policy", POLICIES)
def test_nodes_of_one_processor_are_a_pool(policy: str, estimate: str, rounds: str) -> None:
    """w units on nodes of one processor each start when w processors of a pool would: every job, every policy."""
    for seed in range(4):
        trace = random_trace(300 + seed, processors=4 + 3 * seed)
        nodes = run(as_nodes(trace), policy, estimate, rounds=rounds)
        assert violations(nodes) == []
        assert nodes.start_s.tolist() == run(trace, policy, estimate, rounds=rounds).start_s.tolist(), f"seed {seed}"


@pytest.mark.parametrize("policy", ["easy", "list", "conservative", "deadline"])
def test_a_reservation_keeps_no_node(policy: str) -> None:
    """By hand, three nodes: a has one until 5, b the others until 12, when c gets two of them. d has the one from 5 on.

    Were c to keep the first two nodes, d could not begin before 12, as it needs its node for 15 s.
    """
    runtime = np.array([5, 10, 5, 15])
    trace = pool_trace(tuple("abcd"), np.array([0, 2, 2, 2]), runtime, runtime, np.array([1, 2, 2, 1]), 3)
    result = replay(as_nodes(trace), policy_named(policy), runtime)
    assert result.start_s.tolist() == [0, 2, 12, 5]
    assert result.node_of_unit.tolist() == [0, 1, 2, 1, 2, 0]


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("policy", ["easy", "easy-sjbf", "saf-easy", "list", "saf-list", "conservative", "deadline"])
def test_a_real_trace_on_nodes_of_one_processor(policy: str, planner_data: Path) -> None:
    """The first 3,000 jobs of KTH-SP2 on 100 processors and on 100 nodes, job by job."""
    trace = first_jobs(read_pool(planner_data / "swf" / "KTH-SP2-filtered.swf.gz").trace, 3000)
    for estimate in ("actual", "requested"):
        nodes = run(as_nodes(trace), policy, estimate)
        assert violations(nodes) == []
        assert np.array_equal(nodes.start_s, run(trace, policy, estimate).start_s), estimate


def wide(trace: Trace, capacity: list[int], amounts: np.ndarray) -> Trace:
    """The jobs of a trace on nodes of one kind; each unit of a job asks for its amounts."""
    nodes = as_nodes(trace)
    machine = Machine(np.array([capacity] * len(nodes.machine.capacity), dtype=np.int64))
    return with_changes(nodes, machine=machine, group_amount=amounts, width=nodes.group_count * amounts[:, 0])


@pytest.mark.parametrize("policy", ["greedy", "list", "easy", "conservative", "deadline"])
def test_who_has_nodes_to_himself_is_in_a_pool_of_nodes(policy: str) -> None:
    """Units of 5 to 8 of 8 cores, with any part of the memory: no two share a node."""
    for seed in range(6):
        trace = random_trace(500 + seed)
        rng = np.random.default_rng(seed)
        amounts = np.column_stack([rng.integers(5, 9, len(trace)), rng.integers(0, 17, len(trace))])
        nodes = run(wide(trace, [8, 16], amounts), policy, "requested")
        assert violations(nodes) == []
        assert nodes.start_s.tolist() == run(trace, policy, "requested").start_s.tolist(), f"seed {seed}"


@pytest.mark.parametrize("policy", POLICIES)
def test_equal_units_share_nodes_as_a_pool(policy: str) -> None:
    """Units of 2 of 5 cores, two to a node, on five nodes: as many as ten processors take."""
    for seed in range(3):
        trace = random_trace(600 + seed, processors=10)
        amounts = np.column_stack([np.full(len(trace), 2), np.random.default_rng(seed).integers(0, 4, len(trace))])
        shared = wide(trace, [5, 6], amounts)
        shared = with_changes(shared, machine=Machine(shared.machine.capacity[:5]))
        nodes = run(shared, policy, "requested")
        assert violations(nodes) == []
        assert nodes.start_s.tolist() == run(trace, policy, "requested").start_s.tolist(), f"seed {seed}"


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("policy", ["strict", "greedy", "list", "saf-list", "easy", "easy-sjbf", "conservative"])
def test_several_classes_are_a_pool_each(policy: str) -> None:
    """Small nodes, large ones that some jobs need, and between them nodes that jobs of other sizes share.

    The witness knows the classes as large nodes, with a column for what only the large ones have.
    """
    for seed in range(6):
        trace, rows = classes_of_nodes(seed)
        for estimate in (trace.runtime_s, trace.requested_s):
            ours = replay(trace, policy_named(policy), estimate)
            assert violations(ours) == []
            assert ours.start_s.tolist() == slow(rows, policy, estimate), f"seed {seed}"


def classes_of_nodes(seed: int, jobs: int = 40) -> tuple[Trace, Trace]:
    """Five nodes [2 cores, 0 cards] and four [4 cores, 1 card], mixed; and the same as two large nodes."""
    rng = np.random.default_rng(seed)
    trace = as_nodes(random_trace(seed, jobs=jobs, processors=6))
    needs_card = rng.random(jobs) < 0.4
    count = np.where(needs_card, np.minimum(trace.group_count, 4), trace.group_count)
    capacity = np.array([[2, 0], [4, 1], [2, 0], [2, 0], [4, 1], [4, 1], [2, 0], [4, 1], [2, 0]], dtype=np.int64)
    # whoever needs no card takes 2 cores, so that large nodes would take two: a column of the site stops that
    alone = np.column_stack([capacity, np.ones(len(capacity), dtype=np.int64)])
    amount = np.column_stack([np.where(needs_card, 3, 2), needs_card.astype(np.int64), np.ones(jobs, dtype=np.int64)])
    units = np.concatenate([[0], np.cumsum(count)])
    given = with_changes(
        trace,
        machine=Machine(alone),
        group_count=count,
        group_amount=amount,
        unit_ptr=units,
        width=count * amount[:, 0],
    )
    asked = np.column_stack([np.ones(jobs, dtype=np.int64), needs_card.astype(np.int64)])
    rows = with_changes(given, machine=Machine(np.array([[5, 0], [4, 4]], dtype=np.int64)), group_amount=asked)
    return given, rows


def slow(trace: Trace, policy: str, estimate: np.ndarray) -> list[int]:
    """Starts by the slow simulator of nodes."""
    chosen = policy_named(policy)
    columns = (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width, estimate)
    machine = SlowNodes(
        *(column.tolist() for column in columns),
        processors=0,
        trace=trace,
        scans_only_if_fits=policy == "easy",
    )
    area = lambda job: (trace.width[job] * estimate[job], job)  # noqa: E731
    length = lambda job: (estimate[job], trace.width[job], job)  # noqa: E731
    return machine.run(
        chosen.kind,
        area if chosen.order == "saf" else None,
        length if chosen.backfill_order == "sjf" else area if chosen.order == "saf" else None,
    )


def test_units_that_fill_a_node_are_counted() -> None:
    """The number of units of a node against all ways to fill it: any k fit, no k + 1 do; else there is none."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(300):
        capacity = rng.integers(1, 9, 2)
        units = rng.integers(0, 6, (rng.integers(1, 4), 2))
        units[:, 0] += units.sum(axis=1) == 0
        able = [unit for unit in units.tolist() if np.all(unit <= capacity)]
        if not able:
            continue
        per_node = next(
            (
                k
                for k in range(1, 10)
                if not any(fit(capacity, ways) for ways in combinations_with_replacement(able, k + 1))
            ),
            0,
        )
        if not all(fit(capacity, ways) for ways in combinations_with_replacement(able, per_node)):
            per_node = 0
        count = len(able)
        trace = with_changes(
            as_nodes(random_trace(0, jobs=count)),
            machine=Machine(np.array([capacity, capacity])),
            group_amount=np.array(able),
        )
        like = with_like_nodes(trace)
        found.append(0 if like is None else int(like.units_per_node[0]))
        assert found[-1] in (0, per_node), (capacity, able)
        # Where one resource decides, the number is found.
        if per_node == 1 and any(min(unit[r] for unit in able) * 2 > capacity[r] for r in (0, 1)):
            assert found[-1] == 1
    assert len(set(found)) > 3


def fit(capacity: np.ndarray, units: tuple[list[int], ...]) -> bool:
    """Whether some units fit on a node together."""
    return bool(np.all(np.sum(units, axis=0) <= capacity))


def test_the_nodes_are_the_first_with_room() -> None:
    """By hand: a on 0 and 1, b on 2 and 3; when a ends, c of three units gets 0, 1 and 4."""
    submit, runtime = np.array([0, 0, 1]), np.array([5, 9, 4])
    trace = pool_trace(tuple("abc"), submit, runtime, runtime, np.array([2, 2, 3]), 5)
    assert run(as_nodes(trace), "easy", "actual").node_of_unit.tolist() == [0, 1, 2, 3, 0, 1, 4]


def test_a_node_of_its_own_before_like_ones_keeps_its_jobs() -> None:
    """By hand: units of one and of two cores share node 0, which has three; nodes 1 and 2 have one core each."""
    submit, runtime = np.array([0, 0, 0]), np.array([5, 5, 5])
    trace = as_nodes(pool_trace(tuple("abc"), submit, runtime, runtime, np.array([1, 1, 1]), 3))
    trace = with_changes(trace, machine=Machine(np.array([[3], [1], [1]])), group_amount=np.array([[2], [1], [1]]))
    like = with_like_nodes(trace)
    assert like is not None
    assert like.units_per_node.tolist() == [0, 1, 1]
    assert run(trace, "easy", "actual").node_of_unit.tolist() == [0, 0, 1]


def test_nodes_of_running_jobs_are_taken() -> None:
    """By hand: a has run on node 1 of three since before, so b of two units gets 0 and 2; when a ends, c gets 1."""
    submit, runtime = np.array([0, 1, 1]), np.array([5, 9, 4])
    trace = as_nodes(pool_trace(tuple("abc"), submit, runtime, runtime, np.array([1, 2, 1]), 3))
    like = with_like_nodes(trace)
    assert like is not None
    none = np.full(3, -1)
    past = Past(1, np.array([0, -1, -1]), np.array([1, -1, -1, -1]), reference_s=none, latest_s=none)
    nodes = like.nodes(np.array([0, 0, 0]), np.array([0, 1, 5]), np.array([5, 10, 9]), past)
    assert nodes.tolist() == [1, 0, 2, 1]


def test_a_node_that_is_lost_is_not_like_the_others() -> None:
    """Nodes 0 and 1 are lost one after the other: a job of 15 s has room on neither of the two, though one is idle."""
    one = np.array([1])
    trace = as_nodes(pool_trace(("a",), np.array([0]), one * 15, one * 15, one, 2))
    node, start, end = np.array([0, 1]), np.array([5, 10]), np.array([10, 15])
    no = np.zeros(2, dtype=np.bool_)
    lost = Outages(node, start, end, np.zeros(2, dtype=np.int64), no, no)
    result = replay(trace, policy_named("easy"), trace.runtime_s, outages=lost)
    assert violations(result) == []
    assert result.start_s.tolist() == [10]


def test_where_sizes_differ_nodes_keep_their_rows() -> None:
    """Units of one and of two cores share nodes of two: what has room depends on who is where."""
    assert with_like_nodes(random_cluster_trace(0)) is None


@pytest.mark.parametrize(
    ("policy", "start_s"),
    [("easy", 0), ("list", 10), ("conservative", 10), ("deadline", 10)],
)
def test_whose_reservations_hold_nodes_where_sizes_differ(policy: str, start_s: int) -> None:
    """Two nodes of 4 cores, 2 cores of the first and the whole second one in use until 10; then 3 and 2 cores wait.

    The 3 cores are reserved from 10 on, on the first node. The 2 cores have room now on that node alone, for 20 s: they
    start at once if the reservation can go to the second node at the same time, else at 10 on the second.
    """
    zeros = np.zeros(4, dtype=np.int64)
    lasts = np.array([10, 10, 10, 20])
    jobs = pool_trace(("a", "b", "wide", "long"), zeros, lasts, lasts, np.array([2, 4, 3, 2]), 8)
    trace = with_changes(jobs, machine=Machine(np.array([[4], [4]], dtype=np.int64)))
    result = replay(trace, policy_named(policy), trace.requested_s)
    assert violations(result) == []
    assert result.start_s.tolist() == [0, 0, 10, start_s]
    assert result.node_of_unit[2] == (1 if start_s == 0 else 0)
