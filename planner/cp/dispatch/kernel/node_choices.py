"""The nodes of a job at a start: the lowest that have room first, then every other choice that makes a difference.

The positions of a node are alike: a unit has room in a node that has enough of every resource left, whether or not the
free positions are neighbours. So a choice of positions is a choice of nodes. Equal units of a job stand in the order of
their nodes. Of nodes with equal timelines that hold nothing of the job yet, one is tried.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.cp.dispatch.kernel.tables import GROUP, IS_CUT, LENGTH, NODE, STEPS
from planner.machine.choose_nodes import copies_in
from planner.machine.timeline import are_alike, least_free

MOST_TRIES = 10_000
"""So often a unit goes back to another node for one choice; then there is none as far as the search knows."""


@part
def first_nodes(tables, job, start, tries_others):
    """Choose the lowest nodes for all units of a job; whether all have room.

    Without ``tries_others`` a unit that finds no room ends the choice.
    """
    _look(tables, job, start)
    return _fill(tables, job, tables.unit_ptr[job], np.int64(0), tries_others)


@part
def next_nodes(tables, job, start):
    """Choose the nodes after those that a job has, in order of their numbers; whether there are any."""
    _look(tables, job, start)
    for unit in range(tables.unit_ptr[job], tables.unit_ptr[job + 1]):
        _take(tables, unit, np.int64(1))
    last = tables.unit_ptr[job + 1] - 1
    _take(tables, last, np.int64(-1))
    return _fill(tables, job, last, _node_after(tables, job, last), True)


@part
def _look(tables, job, start):
    """Write what each node has left for a job from a start on."""
    end = start + tables.job[LENGTH, job]
    for node in range(tables.capacity.shape[0]):
        least_free(tables.times, tables.free, tables.length, node, start, end, tables.least[node])


@part
def _fill(tables, job, unit, node, tries_others):
    """Give a unit the first node with room from a node on, and the units after it theirs; go back where one has none.

    The units before it stay where they are, unless it has to go back to them.
    """
    first, last = tables.unit_ptr[job], tables.unit_ptr[job + 1]
    tries = 0
    while unit < last:
        amount = tables.group_amount[tables.unit[GROUP, unit]]
        if unit > first and tables.unit[GROUP, unit] == tables.unit[GROUP, unit - 1]:
            node = max(node, tables.unit[NODE, unit - 1])
        while node < tables.capacity.shape[0] and copies_in(tables.least[node], amount, np.int64(1)) == 0:
            node += 1
        if node < tables.capacity.shape[0]:
            tables.unit[NODE, unit] = node
            _take(tables, unit, np.int64(1))
            unit, node = unit + 1, np.int64(0)
        else:
            unit -= 1
            if unit < first or not tries_others:
                return False
            tries += 1
            tables.counter[STEPS] += 1
            if tries > MOST_TRIES:
                tables.counter[IS_CUT] = 1
                return False
            _take(tables, unit, np.int64(-1))
            node = _node_after(tables, job, unit)
    return True


@part
def _node_after(tables, job, unit):
    """The first node after that of a unit which differs from it; the units after this one have none."""
    old = tables.unit[NODE, unit]
    node = old + 1
    while node < tables.capacity.shape[0] and _are_alike(tables, job, unit, old, node):
        node += 1
    return node


@part
def _are_alike(tables, job, unit, one, other):
    """Whether two nodes have equal timelines and hold none of the job's units before this one."""
    for before in range(tables.unit_ptr[job], unit):
        if tables.unit[NODE, before] == one or tables.unit[NODE, before] == other:
            return False
    times, free, length = tables.times, tables.free, tables.length
    return are_alike(times, free, length, one, times, free, length, other)


@part
def _take(tables, unit, sign):
    """Take what a unit asks from what its node has left for the job (sign 1), or give it back (sign -1)."""
    amount = tables.group_amount[tables.unit[GROUP, unit]]
    for resource in range(amount.shape[0]):
        tables.least[tables.unit[NODE, unit], resource] -= sign * amount[resource]
