"""Plans of the queue: one job after another at its earliest start beside what runs, and forgotten with the round.

A plan is kept in bunches of nodes where the policy has them (`planner.online.kernel.bunches`), else in the rows that
follow those of the machine. Both lead to the same starts and the same nodes. A plan that outgrows its bunches goes on
in the rows.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER, copy_rows
from planner.online.kernel.bunched_plan import (
    has_room_in_bunches,
    place_in_bunches,
    place_on_noted_nodes,
)
from planner.online.kernel.bunches import LENGTH, OF, back_to_machine, bunch_machine, has_bunches
from planner.online.kernel.floors import floor_of, learn
from planner.online.kernel.nodes import earliest_start, hold_job, plan_rows
from planner.online.kernel.pins import has_pins, note_pins, planned_start


@part
def look_at_machine(state):
    """Note what runs, for the plans that follow until something starts or ends."""
    state.clock.can_bunch = np.int64(has_bunches(state) and bunch_machine(state))


@part
def begin_plan(state):
    """Begin a plan without jobs, beside what `look_at_machine` noted."""
    state.clock.bunched, state.clock.learned = state.clock.can_bunch, 0
    if state.clock.bunched == 0:
        copy_rows(state.times, state.free, state.length, plan_rows(state))
        return
    back_to_machine(state)
    if state.clock.limited > 0:
        _copy_row(state, state.clock.nodes, plan_rows(state) + state.clock.nodes)


@part
def place_in_plan(state, pins, job, earliest):
    """Place a job in the plan at its earliest start, by the pins in a row, and return that; NEVER if it has none.

    Its nodes are noted with its units.
    """
    if state.clock.bunched > 0 and state.clock.crowded > 0:
        _leave_bunches(state)
    floor, is_free = floor_of(state, job, earliest), True
    if state.clock.bunched > 0:
        if note_pins(state, pins, job):
            start = place_on_noted_nodes(state, job, earliest)
            if start < NEVER:
                return start
        state.clock.looks += state.clock.bunches
        start = place_in_bunches(state, job, floor, NEVER - 1)
    else:
        state.clock.looks += state.clock.nodes
        plan, is_free = plan_rows(state), not has_pins(state)
        start = planned_start(state, plan, pins, job, floor)
        if start < NEVER:
            hold_job(state, plan, job, np.int64(1), start, start + max(np.int64(1), state.jobs[job].estimate))
    if is_free and start > earliest:
        learn(state, job, start)
    return start


@part
def is_pool(state):
    """Whether the machine is one pool of one resource, so that width and estimate say all that a job asks."""
    return state.free.shape[0] == 2 and state.free.shape[2] == 1


@part
def has_room_in_plan(state, job, now):
    """Whether a job has room now beside what is planned; the nodes that it would have are noted with its units."""
    if state.clock.bunched > 0 and state.clock.crowded > 0:
        _leave_bunches(state)
    if state.clock.bunched > 0:
        return has_room_in_bunches(state, job, now)
    return earliest_start(state, plan_rows(state), job, now, now) == now


@part
def _leave_bunches(state):
    """Write the plan into the rows of the nodes."""
    plan = plan_rows(state)
    for node in range(state.clock.nodes):
        bunch, row = state.member[OF, node], plan + node
        state.length[row] = state.bunch[LENGTH, bunch]
        for entry in range(state.length[row]):
            state.times[row, entry] = state.bunch_times[bunch, entry]
            for resource in range(state.free.shape[2]):
                state.free[row, entry, resource] = state.bunch_free[bunch, entry, resource]
    state.clock.bunched = 0


@part
def _copy_row(state, source, target):
    """Write one row of the timelines into another one."""
    state.length[target] = state.length[source]
    for entry in range(state.length[source]):
        state.times[target, entry] = state.times[source, entry]
        for resource in range(state.free.shape[2]):
            state.free[target, entry, resource] = state.free[source, entry, resource]
