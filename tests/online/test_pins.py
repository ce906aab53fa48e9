"""Jobs that the policy ``order`` pins to nodes: plans that no order alone leads to, and pins that help nobody."""

from __future__ import annotations

import numpy as np
import pytest

from planner.domain.trace import Machine, Trace
from planner.online.audit_replay import violations
from planner.online.initial_state import initial_state
from planner.online.outages import UNTIL_FURTHER_NOTICE, Outages
from planner.online.policies import QueueSearch, policy_named
from planner.online.replay import replay
from planner.online.replay_loops import FixedReplay

FREE = -1


def jobs_at(submit_s: list[int], runtime_s: list[int], units: list[list[int]], machine: Machine) -> Trace:
    """Jobs of equal units: of each job what a unit asks of every resource and, last, how many units there are."""
    count, runtime = len(submit_s), np.array(runtime_s)
    counts, amounts = np.array([unit[-1] for unit in units]), np.array([unit[:-1] for unit in units])
    unknown = np.full(count, -1)
    return Trace(
        ids=tuple(f"j{k}" for k in range(count)),
        submit_s=np.array(submit_s),
        runtime_s=runtime,
        requested_s=runtime,
        width=counts * amounts[:, 0],
        machine=machine,
        group_ptr=np.arange(count + 1),
        group_count=counts,
        group_amount=amounts,
        unit_ptr=np.cumsum([0, *counts]),
        power_mw=np.full(count, 1000),
        user=unknown,
        name=unknown,
        group=unknown,
        queue=unknown,
    )


def tight_queue() -> Trace:
    """Three jobs of two units each that fill the memory of three nodes to the last piece, at once."""
    machine = Machine(np.array([[2, 3], [3, 2], [2, 3]]))
    return jobs_at([0, 0, 0], [20, 10, 20], [[1, 2, 2], [1, 1, 2], [1, 1, 2]], machine)


def played(trace: Trace, pins: list[int], evaluations: int = 0) -> tuple[list[int], list[int]]:
    """Starts and nodes of a replay in which units were pinned before it begins."""
    nobody = np.full(len(trace), -1)
    policy, search = policy_named("order-af"), QueueSearch(evaluations)
    state = initial_state(trace, policy, trace.runtime_s, nobody, search=search)
    state.pins["current"] = pins
    playing = FixedReplay(state, None)
    playing.run_until(UNTIL_FURTHER_NOTICE)
    return playing.state.jobs["start"].tolist(), playing.state.units["node"].tolist()


def test_the_search_finds_nodes_that_no_order_leads_to() -> None:
    """All three have room at once, but the first nodes with room are wrong for one of them in every order."""
    trace, policy = tight_queue(), policy_named("order-af")
    seeds = replay(trace, policy, trace.runtime_s, search=QueueSearch(0))
    assert max(seeds.start_s) > 0
    found = replay(trace, policy, trace.runtime_s, search=QueueSearch(200))
    assert found.start_s.tolist() == [0, 0, 0]
    assert violations(found) == []


def test_a_plan_with_pins_is_kept_and_carried_out() -> None:
    """Without a single change the pins of the last round are the best plan known, and jobs start on their nodes."""
    pins = [0, 2, 0, 1, 1, 2]
    assert played(tight_queue(), pins) == ([0, 0, 0], pins)


def test_pins_that_help_nobody_are_dropped() -> None:
    """A long job is on node 0. Who is pinned to that node alone, or with another to node 2, starts now on node 1."""
    machine = Machine(np.array([[2], [2], [2]]))
    alone = jobs_at([0, 5], [100, 10], [[2, 1], [2, 1]], machine)
    assert played(alone, [FREE, 0]) == ([0, 5], [0, 1])
    both = jobs_at([0, 5, 5], [100, 10, 10], [[2, 1], [1, 1], [1, 1]], machine)
    assert played(both, [FREE, 2, 2]) == ([0, 5, 5], [0, 1, 1])


@pytest.mark.parametrize("limit_mw", [-1, 2000])
def test_nobody_is_pinned_to_a_node_that_does_not_return(limit_mw: int) -> None:
    """Two of three nodes go down at once, for good; a job that would wait for them would count for nothing."""
    machine = Machine(np.array([[2], [2], [2]]), limit_mw)
    trace = jobs_at([0, 5, 5, 5], [20] * 4, [[2, 1]] * 4, machine)
    moments = np.array([6, 6])
    outages = Outages(
        np.array([1, 2]), moments, np.full(2, UNTIL_FURTHER_NOTICE), moments, np.zeros(2, bool), np.zeros(2, bool)
    )
    result = replay(trace, policy_named("order-af"), trace.runtime_s, search=QueueSearch(50), outages=outages)
    assert violations(result) == []
    assert sorted(result.start_s.tolist()) == [0, 20, 40, 60]
