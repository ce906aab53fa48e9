"""Jobs pinned to nodes: the choices of nodes that the search of the policy ``order`` tries, or that an engine makes.

A job that is not pinned takes the first nodes with room. Often that is as good as any other choice, but not always: it
may take the only node that suits a later job. A pinned job waits until its own nodes have room for all its units. Take
any schedule, pin every job to its nodes and place the jobs in the order of their starts: none starts later. So some
order with some pins leads to a best plan of all.

A job is pinned with all its units or not at all; the pin of its first unit says which. Pools have no rows for pins.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.choose_nodes import copies_in
from planner.machine.rng import below, fraction
from planner.machine.timeline import NEVER
from planner.online.kernel.nodes import add_up_units, earliest_at, earliest_start
from planner.online.kernel.queue_order import copy_order
from planner.online.kernel.state import (
    BEST_ORDER,
    BEST_PIN,
    GROUPS,
    NODE,
    NODES,
    PIN,
    QUEUE,
    TRIED_ORDER,
    TRIED_PIN,
    UNITS,
    UNPINNED,
)

CURRENT, TRIED, BEST = (QUEUE, PIN), (TRIED_ORDER, TRIED_PIN), (BEST_ORDER, BEST_PIN)
"""Plans of the queue: the row of the order, and the row of the pins."""

MOST_DRAWS = 8
"""How often a node is drawn for a unit until one is large enough."""


@part
def has_pins(state):
    """Whether jobs can be pinned: under policies that plan the whole queue, on several nodes."""
    return state.unit.shape[0] > PIN


@part
def copy_plan(state, source, target, size):
    """Copy the order and the pins of the queue from one plan to another."""
    copy_order(state, source[0], target[0], size)
    if has_pins(state):
        for place in range(size):
            job = state.job[QUEUE, place]
            for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
                state.unit[target[1], unit] = state.unit[source[1], unit]
                if state.unit[source[1], unit] == UNPINNED:
                    break


@part
def unpin_all(state, pins, size):
    """Pin no job of the queue; returns whether any was pinned."""
    found = False
    if has_pins(state):
        for place in range(size):
            first = state.ptr[UNITS, state.job[QUEUE, place]]
            found |= state.unit[pins, first] != UNPINNED
            state.unit[pins, first] = UNPINNED
    return found


@part
def unpin(state, pins, job):
    """Pin a job no more."""
    if has_pins(state):
        state.unit[pins, state.ptr[UNITS, job]] = UNPINNED


@part
def planned_start(state, rows, pins, job, earliest):
    """Earliest start of a job by the timelines that begin at a row; else NEVER. Its nodes are noted with its units.

    ``pins`` is the row of the pins. A pin counts for nothing where its nodes have no room until further notice.
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
    first, last = state.ptr[UNITS, job], state.ptr[UNITS, job + 1]
    if state.unit[pins, first] == UNPINNED:
        return False
    for unit in range(first, last):
        state.unit[NODE, unit] = state.unit[pins, unit]
    return True


@part
def change_pin(state, job):
    """Unpin a job of the tried plan, or pin it: where it was placed last, but for some units on random nodes.

    Returns whether the job is pinned now.
    """
    first, last = state.ptr[UNITS, job], state.ptr[UNITS, job + 1]
    if state.unit[TRIED_PIN, first] != UNPINNED and fraction(state.stream) < 0.5:
        state.unit[TRIED_PIN, first] = UNPINNED
        return False
    for unit in range(first, last):
        state.unit[TRIED_PIN, unit] = state.unit[NODE, unit]
    while True:
        unit = first + below(state.stream, last - first)
        state.unit[TRIED_PIN, unit] = _large_node(state, state.group_amount[_group_of(state, job, unit)])
        if fraction(state.stream) < 0.5:
            break
    fits = _fits_when_empty(state, job)
    if not fits:
        state.unit[TRIED_PIN, first] = UNPINNED
    return fits


@part
def _group_of(state, job, unit):
    """The group that a unit of a job belongs to."""
    group, end = state.ptr[GROUPS, job], state.ptr[UNITS, job] + state.group_count[state.ptr[GROUPS, job]]
    while unit >= end:
        group += 1
        end += state.group_count[group]
    return group


@part
def _large_node(state, amount):
    """A random node, large enough for a unit if one was drawn in time."""
    node = below(state.stream, state.clock[NODES])
    for _ in range(MOST_DRAWS - 1):
        if copies_in(state.capacity[node], amount, np.int64(1)) == 1:
            break
        node = below(state.stream, state.clock[NODES])
    return node


@part
def _fits_when_empty(state, job):
    """Whether the nodes that a job is pinned to in the tried plan have room for all its units when they are empty."""
    first, last = state.ptr[UNITS, job], state.ptr[UNITS, job + 1]
    for unit in range(first, last):
        if state.unit[TRIED_PIN, unit] < 0:  # a job that never had room
            return False
    add_up_units(state, TRIED_PIN, job)
    for unit in range(first, last):
        node = state.unit[TRIED_PIN, unit]
        if copies_in(state.capacity[node], state.least[node], np.int64(1)) == 0:
            return False
    return True
