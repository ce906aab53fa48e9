"""Plans by bunches of nodes beside plans node by node: the same starts and the same nodes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from planner.domain.trace import Machine, Trace
from planner.machine.earliest import smallest_by_weight
from planner.online.initial_state import initial_state
from planner.online.kernel.bunches import BUNCH_ROWS
from planner.online.kernel.state import State, widened
from planner.online.kernel.steps import plan_in_order
from planner.online.outages import UNTIL_FURTHER_NOTICE
from planner.online.policies import QueueSearch, policy_named
from planner.online.replay_loops import FixedReplay
from tests.online.traces import as_nodes, one_group_each, random_cluster_trace, random_trace

NODES = 24


def crowd(seed: int, *, one_group: bool = False) -> Trace:
    """Jobs of many units, of one or two sizes, on nodes of two classes that lie mixed; at times with a power limit."""
    rng = np.random.default_rng(seed)
    small = random_cluster_trace(seed, jobs=40, power_limit=150 if seed % 3 == 0 else -1)
    if one_group:
        small = one_group_each(small)
    counts = rng.integers(1, NODES // 3, len(small.group_count))
    units = np.concatenate([[0], np.cumsum(counts)])[small.group_ptr]
    width = np.array([int(counts[a:b] @ small.group_amount[a:b, 0]) for a, b in pairwise(small.group_ptr.tolist())])
    capacity = rng.permutation(np.array([[4, 8]] * (NODES // 2) + [[8, 4]] * (NODES // 2)))
    machine = Machine(capacity, small.machine.power_limit)
    return replace(small, machine=machine, group_count=counts, unit_ptr=units, width=width)


def state_of(trace: Trace, policy: str = "order-af", evaluations: int = 2) -> State:
    """A replay before its first event."""
    nobody = np.full(len(trace), -1)
    search = QueueSearch(evaluations)
    return initial_state(trace, policy_named(policy), trace.requested_s, nobody, search=search)


def node_by_node(state: State) -> State:
    """The same state without bunches, and with tables of its own."""
    return deepcopy(state)._replace(bunch=np.zeros((BUNCH_ROWS, 0), dtype=np.int64))


def filled(state: State, seed: int) -> tuple[State, int]:
    """The state with random timelines, of which several nodes have the same; and how many different ones there are."""
    rng = np.random.default_rng(seed)
    state = widened(state, 256)
    shapes = []
    for _ in range(6):
        moments = np.unique(rng.integers(1, 80, rng.integers(0, 5)))
        shapes.append((np.array([0, *moments]), rng.integers(0, 5, (len(moments) + 1, 2))))
    seen = set()
    for node in range(NODES):
        moments, taken = shapes[rng.integers(len(shapes))]
        free = np.maximum(state.capacity[node] - taken, 0)
        free[-1] = state.capacity[node]
        differs = np.array([True, *(np.any(free[1:] != free[:-1], axis=1))])
        moments, free = moments[differs], free[differs]
        state.length[node] = len(moments)
        state.times[node, : len(moments)], state.free[node, : len(moments)] = moments, free
        seen.add((moments.tobytes(), free.tobytes()))
    return state, len(seen)


def planned(state: State, seed: int) -> tuple[list[int], list[int]]:
    """Starts and nodes of a plan of all jobs in a random order, of which some are pinned to random nodes."""
    rng = np.random.default_rng(seed)
    jobs = state.jobs.shape[0]
    state.lists["tried"] = rng.permutation(jobs)
    state.pins["tried"] = -1
    for job in rng.integers(0, jobs, 5).tolist():
        units = slice(state.first["unit"][job], state.first["unit"][job + 1])
        state.pins["tried"][units] = rng.integers(0, NODES, units.stop - units.start)
    starts = np.zeros(jobs, dtype=np.int64)
    plan_in_order(state, 0, starts)
    return starts.tolist(), state.units["node"].tolist()


@pytest.mark.slow(keep=16)
@pytest.mark.parametrize("seed", range(40))
def test_a_plan_by_bunches_is_that_of_the_nodes(seed: int) -> None:
    """On random timelines, with pins, units of two sizes and a power limit; with as few bunches as there can be."""
    state, different = filled(state_of(crowd(seed, one_group=seed % 2 == 0)), seed)
    plain = node_by_node(state)
    assert planned(state, seed) == planned(plain, seed)
    assert state.clock.bunched == 1
    assert plain.clock.bunched == 0
    assert state.clock.machine_bunches == different < NODES


@pytest.mark.parametrize("seed", range(10))
def test_a_plan_that_outgrows_its_bunches_goes_on_node_by_node(seed: int) -> None:
    """With timelines of twelve entries: the plan begins with bunches, leaves them, and is the same."""
    state, _ = filled(state_of(crowd(seed)), seed)
    plain = node_by_node(state)
    short = state._replace(
        bunch_times=np.zeros((2 * NODES, 12), dtype=np.int64), bunch_free=np.zeros((2 * NODES, 12, 2), dtype=np.int64)
    )
    assert planned(short, seed) == planned(plain, seed)
    assert short.clock.machine_bunches > 0
    assert short.clock.bunched == 0


@pytest.mark.parametrize("policy", ["list", "order-stretch"])
def test_replays_are_the_same_with_and_without_bunches(policy: str) -> None:
    """Starts and nodes of whole replays, in which estimates are too long."""
    for seed in range(6):
        for trace in (crowd(seed), as_nodes(random_trace(seed))):
            found = []
            for state in (state_of(trace, policy), node_by_node(state_of(trace, policy))):
                playing = FixedReplay(state, None)
                playing.run_until(UNTIL_FURTHER_NOTICE)
                found.append((playing.state.jobs["start"].tolist(), playing.state.units["node"].tolist()))
            assert found[0] == found[1]


def test_the_kth_smallest_counts_by_weight() -> None:
    """The same as in a sorted list that has every value as often as it weighs."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(1, 12))
        values, weights = rng.integers(0, 8, size), rng.integers(1, 5, size)
        listed = np.sort(np.repeat(values, weights))
        for rank in (1, len(listed) // 2 + 1, len(listed)):
            found = smallest_by_weight.py_func(values.copy(), weights.copy(), size, rank)
            assert found == listed[rank - 1]
