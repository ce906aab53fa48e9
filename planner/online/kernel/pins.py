"""Jobs pinned to nodes: the choices of nodes that the search of the policy ``order`` tries, or that an engine makes.

A job that is not pinned takes the first nodes with room. Often that is as good as any other choice, but not always: it
may take the only node that suits a later job. A pinned job waits until its own nodes have room for all its units. Take
any schedule, pin every job to its nodes and place the jobs in the order of their starts: none starts later. So some
order with some pins leads to a best plan of all.

A job is pinned with all its units or not at all; the pin of its first unit says which. Pools have no pins.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.choose_nodes import copies_in
from planner.machine.rng import below, fraction
from planner.machine.timeline import NEVER
from planner.online.kernel.nodes import add_up_units, earliest_at, earliest_start
from planner.online.kernel.queue_order import copy_order
from planner.online.kernel.state import UNPINNED

MOST_DRAWS = 8
"""How often a node is drawn for a unit until one is large enough."""


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
