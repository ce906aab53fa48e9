"""Plans of the queue: one job after another at its earliest start beside what runs, and forgotten with the round.

A plan is kept in bunches of nodes where the policy has them (`planner.online.kernel.bunches`), else in the rows that
follow those of the machine. Both lead to the same starts and the same nodes. A plan that outgrows its bunches goes on
in the rows.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.earliest import learned_start, remember
from planner.machine.timeline import NEVER, copy_row, copy_rows
from planner.online.kernel.bunched_plan import (
    has_room_in_bunches,
    place_in_bunches,
    place_on_noted_nodes,
)
from planner.online.kernel.bunches import LENGTH, OF, back_to_machine, bunch_machine, has_bunches
from planner.online.kernel.nodes import earliest_start, hold_job, plan_rows
from planner.online.kernel.pins import has_pins, note_pins, planned_start

REMEMBERED_STARTS = 32
"""How many starts of a plan are kept to bound later ones."""


@part
def look_at_machine(state):
    """Note what runs, for the plans that follow until something starts or ends."""
    state.clock.can_bunch = np.int64(has_bunches(state) and bunch_machine(state))


@part
def begin_plan(state):
    """Begin a plan without jobs, beside what `look_at_machine` noted."""
    state.clock.bunched, state.clock.learned = state.clock.can_bunch, 0
    plan = plan_rows(state)
    if state.clock.bunched == 0:
        copy_rows(state.times, state.free, state.length, plan)
        return
    back_to_machine(state)
    if state.clock.limited > 0:
        power = state.clock.nodes
        copy_row(state.times, state.free, state.length, power, state.times, state.free, state.length, plan + power)


@part
def place_in_plan(state, pins, job, earliest):
    """Place a job in the plan at its earliest start, by the pins in a row, and return that; NEVER if it has none.

    Its nodes are noted with its units.
    """
    if state.clock.bunched > 0 and state.clock.crowded > 0:
        _leave_bunches(state)
    floor, is_free = _floor_of(state, job, earliest), True
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
            hold_job(state, plan, job, np.int64(1), start, start + state.jobs[job].estimate)
    if is_free and start > earliest:
        _learn(state, job, earliest, start)
    return start


@part
def _floor_of(state, job, earliest):
    """A moment before which a job cannot start: where one began that asks no more, since a plan only fills up."""
    group = state.first[job].group
    return learned_start(
        state.learned, state.clock.learned, state.group_amount[group], state.group_count[group],
        state.jobs[job].estimate, earliest, _counted_power(state, job),
    )  # fmt: skip


@part
def _learn(state, job, earliest, start):
    """Remember the start of a job that was free to take any nodes, if all its units are of one size."""
    group = state.first[job].group
    if state.first[job + 1].group - group == 1:
        remember(
            state.learned, state.clock.learned, state.group_amount[group], state.group_count[group],
            state.jobs[job].estimate, earliest, _counted_power(state, job), start,
        )  # fmt: skip
        state.clock.learned += 1


@part
def _counted_power(state, job):
    """What a job draws where the site's power is limited, else 0."""
    return state.jobs[job].power if state.clock.limited > 0 else np.int64(0)


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
        copy_row(
            state.bunch_times, state.bunch_free, state.bunch[LENGTH], state.member[OF, node],
            state.times, state.free, state.length, plan + node,
        )  # fmt: skip
    state.clock.bunched = 0
