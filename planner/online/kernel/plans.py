"""Plans of the queue: one job after another at its earliest start beside what runs, and forgotten with the round.

A plan is kept in bunches of nodes where the policy has them (`planner.online.kernel.bunches`), else in the rows that
follow those of the machine. Both lead to the same starts and the same nodes. A plan that outgrows its bunches goes on
in the rows.

Jobs can be pinned to nodes: so the search of the policy ``order`` tries nodes, and an engine chooses them. A job that
is not pinned takes the first nodes with room. Often that is as good as any other choice, but not always: it may take
the only node that suits a later job. A pinned job waits until its own nodes have room for all its units. Take any
schedule, pin every job to its nodes and place the jobs in the order of their starts: none starts later. So some order
with some pins leads to a best plan of all. A job is pinned with all its units or not at all; the pin of its first unit
says which. Pools have no pins.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.choose_nodes import copies_in
from planner.machine.earliest import learned_start, remember
from planner.machine.rng import below, fraction
from planner.machine.timeline import NEVER, copy_row, copy_rows
from planner.online.kernel.bunched_plan import (
    has_room_in_bunches,
    place_in_bunches,
    place_on_noted_nodes,
)
from planner.online.kernel.bunches import LENGTH, OF, back_to_machine, bunch_machine, has_bunches
from planner.online.kernel.nodes import add_up_units, earliest_at, earliest_start, hold_job, plan_rows
from planner.online.kernel.queue_order import copy_order
from planner.online.kernel.state import UNPINNED

REMEMBERED_STARTS = 32
"""How many starts of a plan are kept to bound later ones."""

MOST_DRAWS = 8
"""How often a node is drawn for a unit until one is large enough."""


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


@part
def has_pins(state):
    """Whether jobs can be pinned: under policies that plan the whole queue, on several nodes."""
    return state.pins.shape[0] > 0


@part
def current_plan(state):
    """The plan of the queue: its order, and its pins."""
    return state.queue, state.pins.current


@part
def tried_plan(state):
    """The plan of the queue that is tried."""
    return state.lists.tried, state.pins.tried


@part
def best_plan(state):
    """The best plan of the queue so far."""
    return state.lists.best, state.pins.best


@part
def copy_plan(state, source, target, size):
    """Copy the order and the pins of the queue from one plan to another."""
    copy_order(source[0], target[0], size)
    if has_pins(state):
        for place in range(size):
            job = state.queue[place]
            for unit in range(state.first[job].unit, state.first[job + 1].unit):
                target[1][unit] = source[1][unit]
                if source[1][unit] == UNPINNED:
                    break


@part
def unpin_all(state, pins, size):
    """Pin no job of the queue; returns whether any was pinned."""
    found = False
    if has_pins(state):
        for place in range(size):
            first = state.first[state.queue[place]].unit
            found |= pins[first] != UNPINNED
            pins[first] = UNPINNED
    return found


@part
def unpin(state, pins, job):
    """Pin a job no more."""
    if has_pins(state):
        pins[state.first[job].unit] = UNPINNED


@part
def planned_start(state, rows, pins, job, earliest):
    """Earliest start of a job by the timelines that begin at a row; else NEVER. Its nodes are noted with its units.

    ``pins`` are the nodes that units are pinned to. They count for nothing without room there until further notice.
    """
    if note_pins(state, pins, job):
        start = earliest_at(state, rows, job, earliest)
        if start < NEVER:
            return start
    return earliest_start(state, rows, job, earliest, NEVER - 1)


@part
def note_pins(state, pins, job):
    """Note the nodes that a job is pinned to with its units; False if it is not pinned."""
    if not has_pins(state):
        return False
    first, last = state.first[job].unit, state.first[job + 1].unit
    if pins[first] == UNPINNED:
        return False
    for unit in range(first, last):
        state.units[unit].node = pins[unit]
    return True


@part
def change_pin(state, job):
    """Unpin a job of the tried plan, or pin it: where it was placed last, but for some units on random nodes.

    Returns whether the job is pinned now.
    """
    first, last = state.first[job].unit, state.first[job + 1].unit
    if state.pins[first].tried != UNPINNED and fraction(state.stream) < 0.5:
        state.pins[first].tried = UNPINNED
        return False
    for unit in range(first, last):
        state.pins[unit].tried = state.units[unit].node
    while True:
        unit = first + below(state.stream, last - first)
        state.pins[unit].tried = _large_node(state, state.group_amount[_group_of(state, job, unit)])
        if fraction(state.stream) < 0.5:
            break
    fits = _fits_when_empty(state, job)
    if not fits:
        state.pins[first].tried = UNPINNED
    return fits


@part
def _group_of(state, job, unit):
    """The group that a unit of a job belongs to."""
    group, end = state.first[job].group, state.first[job].unit + state.group_count[state.first[job].group]
    while unit >= end:
        group += 1
        end += state.group_count[group]
    return group


@part
def _large_node(state, amount):
    """A random node, large enough for a unit if one was drawn in time."""
    node = below(state.stream, state.clock.nodes)
    for _ in range(MOST_DRAWS - 1):
        if copies_in(state.capacity[node], amount, np.int64(1)) == 1:
            break
        node = below(state.stream, state.clock.nodes)
    return node


@part
def _fits_when_empty(state, job):
    """Whether the nodes that a job is pinned to in the tried plan have room for all its units when they are empty."""
    first, last = state.first[job].unit, state.first[job + 1].unit
    for unit in range(first, last):
        if state.pins[unit].tried < 0:  # a job that never had room
            return False
    add_up_units(state, state.pins.tried, job)
    for unit in range(first, last):
        node = state.pins[unit].tried
        if copies_in(state.capacity[node], state.least[node], np.int64(1)) == 0:
            return False
    return True
