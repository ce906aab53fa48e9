"""A slice of the small dispatches; ``python -m tests.small_dispatches --count 300`` compares many more."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cp.dispatchers import Pcp21
from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from tests.cp.test_queue_model import least_cost as slow_least_cost
from tests.cp.test_queue_model import one_after_another, random_queue
from tests.online.test_queue_search import small_queue
from tests.small_dispatches.compare import ENOUGH, compare
from tests.small_dispatches.queues import breaks_nothing, dispatch_queue, least_cost, value
from tests.small_queues.enumeration import best_sum


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("seed", range(24))
def test_dispatchers_find_the_best_of_all_plans(seed: int) -> None:
    """Two to five jobs on two to four nodes; every plan is audited."""
    row = compare(seed)
    assert row.wrong == []
    assert set(row.found) == {"pcp21", "pcp21s", "pcp19"}


@pytest.mark.parametrize("seed", range(12))
def test_the_enumeration_is_that_of_all_starts_and_nodes(seed: int) -> None:
    """Two jobs at every second and on every node."""
    queue = random_queue(seed, 2, nodes=2, power=5 if seed % 2 else None)
    assert least_cost(queue) == pytest.approx(slow_least_cost(queue))


def slowdown(width: int, length: int, wait: int) -> float:
    """What a job adds to the total slowdown."""
    return (wait + length) / length


@pytest.mark.parametrize("seed", range(8))
def test_on_a_pool_the_best_plan_is_that_of_the_small_queues(seed: int) -> None:
    """A pool is one node; the enumeration there is another one, over orders."""
    trace = small_queue(seed, 2 + seed % 5, longest=20)
    length, width = trace.runtime_s[1:], trace.width[1:]

    def cost(job: Ints, start_s: Ints) -> Floats:
        return (start_s + length[job]) / length[job]

    capacity, busy_s = int(trace.machine.processors), int(trace.runtime_s[0]) - 5
    queue = WaitingQueue(
        length_s=length,
        power_mw=np.zeros_like(length),
        group_ptr=np.arange(len(length) + 1),
        group_count=np.ones_like(length),
        group_amount=width[:, None].copy(),
        nodes=(FreeRoom(np.array([0, busy_s]), np.array([[capacity - trace.width[0]], [capacity]])),),
        power=None,
        cost=cost,
    )
    answer = Pcp21(ENOUGH)(queue, one_after_another(queue))
    assert answer.is_proven
    assert answer.plan is not None
    assert value(queue, answer.plan) == pytest.approx(best_sum(trace, slowdown, trace.width[:1, None]))


def halves() -> WaitingQueue:
    """Three equal jobs of one unit, 2 of 4 cores each, on two empty nodes; nobody needs to wait."""

    def cost(job: Ints, start_s: Ints) -> Floats:
        return (start_s + 10.0) / np.full(len(job), 10)

    return WaitingQueue(
        length_s=np.array([10, 10, 10]),
        power_mw=np.zeros(3, dtype=np.int64),
        group_ptr=np.arange(4),
        group_count=np.ones(3, dtype=np.int64),
        group_amount=np.full((3, 1), 2),
        nodes=tuple(FreeRoom(np.array([0]), np.array([[4]])) for _ in range(2)),
        power=None,
        cost=cost,
    )


def test_equal_units_part_where_that_makes_room() -> None:
    """Two nodes of 4 cores and 3 GB; two units of (2, 1) and two of (2, 2). One of each on either node, and none waits.

    The lowest nodes put the first two units on node 0, with 1 GB left there. The nodes are alike as long as they are
    empty: the second unit must be tried on the other one all the same.
    """
    plain = halves()
    queue = WaitingQueue(
        length_s=np.array([10, 10]),
        power_mw=np.zeros(2, dtype=np.int64),
        group_ptr=np.arange(3),
        group_count=np.array([2, 2]),
        group_amount=np.array([[2, 1], [2, 2]]),
        nodes=tuple(FreeRoom(np.array([0]), np.array([[4, 3]])) for _ in range(2)),
        power=None,
        cost=plain.cost,
    )
    answer = Pcp21(ENOUGH)(queue, one_after_another(queue))
    assert answer.plan is not None
    assert answer.plan.node_of_unit is not None
    assert answer.plan.start_s.tolist() == [0, 0]
    assert answer.plan.node_of_unit.tolist() == [0, 1, 0, 1]


def test_the_first_plan_takes_the_lowest_nodes_in_order_of_priority() -> None:
    """As many steps as jobs are enough for it. The first two jobs share node 0, the third has node 1."""
    plan = Pcp21(3)(halves(), QueuePlan(np.zeros(3, dtype=np.int64), None)).plan
    assert plan is not None
    assert plan.node_of_unit is not None
    assert plan.node_of_unit.tolist() == [0, 0, 1]
    assert plan.start_s.tolist() == [0, 0, 0]


@pytest.mark.slow
def test_going_back_to_starts_alone_is_followed_by_nodes() -> None:
    """Lowest nodes do not always lead to the best plan; PCP'21s finds it all the same, when it goes back to nodes."""
    found = 0
    for seed in range(60):
        queue = dispatch_queue(seed)
        known = one_after_another(queue)
        best = least_cost(queue)
        starts_alone = _starts_alone(queue)
        both = Pcp21(ENOUGH, starts_first=True)(queue, known)
        assert both.plan is not None
        assert value(queue, both.plan) == pytest.approx(best)
        assert starts_alone >= best * (1 - 1e-9)
        found += starts_alone > best * (1 + 1e-9)
    assert found > 3


def _starts_alone(queue: WaitingQueue) -> float:
    """The best plan of PCP'21s before it goes back to nodes."""
    from planner.cp.dispatchers import tables_of
    from planner.cp.kernel.pcp21_search import search

    tables = tables_of(queue)
    assert search(tables, ENOUGH, False)
    return float(tables.best[0])


def test_few_steps_leave_a_plan_without_a_proof() -> None:
    """The same in every run, and every node has room for it."""
    unproven = 0
    for seed in range(3, 60, 4):
        queue = dispatch_queue(seed)
        known = one_after_another(queue)
        one, other = (Pcp21(len(queue))(queue, known) for _ in range(2))
        unproven += not one.is_proven
        if one.plan is not None and other.plan is not None:
            assert breaks_nothing(queue, one.plan)
            assert one.plan.start_s.tolist() == other.plan.start_s.tolist()
    assert unproven > 3


def test_all_that_the_search_held_is_given_back() -> None:
    """After a whole search the timelines are what they were."""
    from planner.cp.dispatchers import tables_of
    from planner.cp.kernel.pcp21_search import search

    for seed in range(8):
        queue = dispatch_queue(seed)
        before, after = tables_of(queue), tables_of(queue)
        assert search(after, ENOUGH, True)
        assert np.array_equal(before.length, after.length)
        for row, length in enumerate(before.length.tolist()):
            assert np.array_equal(before.times[row, :length], after.times[row, :length])
            assert np.array_equal(before.free[row, :length], after.free[row, :length])
