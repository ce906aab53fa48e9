"""The search of PCP'21: depth first over starts and nodes, with the total cost of the best plan as a bound.

At the second that is looked at, the job of highest priority with room starts, on the lowest nodes with room; then the
next one, until none has room, and the clock goes on to when one can start. Going back, a job takes other nodes (unless
the search goes back to starts alone), then it waits until something changes, and others come first.

This finds a best plan if it is not cut short. In some best plan each job starts now, when another ends, or when the
free room changes: else it could start earlier on its nodes, as those who start after it do not mind. And jobs are
placed in the order of their starts, so that every change which a waiting job can wait for is known.

The positions of a node are alike: a unit has room in a node that has enough of every resource left, whether or not the
free positions are neighbours. So a choice of positions is a choice of nodes. Equal units of a job stand in the order of
their nodes. Of nodes with equal timelines that hold nothing of the job yet, one is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, kernel, part
from planner.domain.columns import Floats, Ints
from planner.machine.choose_nodes import copies_in
from planner.machine.earliest import earliest_for_many
from planner.machine.timeline import NEVER, are_alike, entry_at, first_room, hold_units, least_free

# Places in the table of counters.
LEVEL, STEPS, SOLUTIONS, IS_CUT = np.arange(4, dtype=np.int64)
COUNTERS = 4

# Rows of the table of units: the node of each unit now, and in the best plan; its group.
NODE, BEST_NODE, GROUP = np.arange(3, dtype=np.int64)

# Rows of the table of jobs: how long it runs and what it draws; whether it is placed, and when; the best start.
LENGTH, POWER, IS_PLACED, START, BEST_START = np.arange(5, dtype=np.int64)

# Rows of the table of costs: of a start now, and of every second later.
AT_ONCE, PER_SECOND = np.arange(2, dtype=np.int64)


@by_address
class Tables(NamedTuple):
    """Everything of one search; jobs in order of priority.

    Attributes
    ----------
    job, cost
        One column per job; the rows are named above.
    group_ptr, group_count, group_amount, unit_ptr
        Groups of equal units: where those of each job begin, how many units each has, and what a unit asks of every
        resource; where the units of each job begin.
    unit
        One column per unit; the rows are named above.
    times, free, length
        Timelines of what is free (`planner.machine.timeline`): one row per node, then one for power if it is limited.
    capacity, most
        The most that each node ever has free of every resource, and of the first one alone.
    earliest
        One row per level: before when no job can start beside those that are placed.
    moment, chosen, spent
        Per level: the second that is looked at, the job that is placed there (-1: none yet), and what the jobs of the
        levels before cost.
    known, ready, least, watts
        Scratch space.
    counter, best
        Counters, named above, and what the best plan costs.
    """

    job: Ints
    cost: Floats
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    unit_ptr: Ints
    unit: Ints
    times: Ints
    free: Ints
    length: Ints
    capacity: Ints
    most: Ints
    earliest: Ints
    moment: Ints
    chosen: Ints
    spent: Floats
    known: Ints
    ready: Ints
    least: Ints
    watts: Ints
    counter: Ints
    best: Floats


ROUNDING = 1e-12
"""A plan is better if it costs less by more than this part."""


@kernel
def search(tables, steps, tries_nodes):
    """Go on for so many steps, each a job that is placed or a node that is tried; whether all has been tried.

    Without ``tries_nodes`` a job that is placed has the lowest nodes with room, or none.
    """
    until = tables.counter[STEPS] + steps
    while tables.counter[LEVEL] >= 0:
        if tables.counter[STEPS] >= until:
            return False
        level = tables.counter[LEVEL]
        if level == tables.job.shape[1]:
            _note_plan(tables)
            tables.counter[LEVEL] -= 1
            continue
        job = tables.chosen[level]
        if job >= 0:
            _hold(tables, job, np.int64(-1))
            tables.job[IS_PLACED, job] = 0
            if tries_nodes and next_nodes(tables, job, tables.moment[level]):
                _place(tables, level, job)
                continue
            tables.earliest[level, job] = tables.moment[level] + 1
            tables.chosen[level] = -1
        job = _choose(tables, level, tries_nodes)
        if job >= 0:
            _place(tables, level, job)
        else:
            tables.counter[LEVEL] -= 1
    return True


@part
def _choose(tables, level, tries_nodes):
    """The job of highest priority among those that can start first, with nodes; -1 if nothing here can be better."""
    earliest = tables.earliest[level]
    while _is_worth_a_look(tables, level):
        now = tables.moment[level]
        for job in range(tables.job.shape[1]):
            if tables.job[IS_PLACED, job] == 1 or earliest[job] > now:
                continue
            earliest[job] = _earliest_start(tables, job, now)
            if earliest[job] == now:
                if first_nodes(tables, job, now, tries_nodes):
                    return job
                earliest[job] = now + 1
        _go_on(tables, level)
    return np.int64(-1)


@part
def _is_worth_a_look(tables, level):
    """Whether every job can still start, and all of them as early as they can cost less than the best plan."""
    least = tables.spent[level]
    for job in range(tables.job.shape[1]):
        if tables.job[IS_PLACED, job] == 0:
            if tables.earliest[level, job] >= NEVER:
                return False
            least += _cost(tables, job, tables.earliest[level, job])
    return least < tables.best[0] * (1 - ROUNDING)


@part
def _go_on(tables, level):
    """Let the clock of a level go to when a job can start; those that wait for a change wait until there is one."""
    now, change, soonest = tables.moment[level], NEVER, NEVER
    for row in range(tables.length.shape[0]):
        entry = entry_at(tables.times, tables.length, row, now) + 1
        if entry < tables.length[row]:
            change = min(change, tables.times[row, entry])
    for job in range(tables.job.shape[1]):
        if tables.job[IS_PLACED, job] == 0:
            tables.earliest[level, job] = max(tables.earliest[level, job], change)
            soonest = min(soonest, tables.earliest[level, job])
    tables.moment[level] = soonest


@part
def _place(tables, level, job):
    """Place a job at the second that is looked at, on the nodes that are noted, and go to the next level."""
    now, deeper = tables.moment[level], level + 1
    tables.job[START, job], tables.job[IS_PLACED, job] = now, 1
    _hold(tables, job, np.int64(1))
    tables.chosen[level], tables.chosen[deeper] = job, -1
    tables.moment[deeper] = now
    tables.spent[deeper] = tables.spent[level] + _cost(tables, job, now)
    for other in range(tables.job.shape[1]):
        tables.earliest[deeper, other] = tables.earliest[level, other]
    tables.counter[LEVEL] = deeper
    tables.counter[STEPS] += 1


@part
def _note_plan(tables):
    """Keep a plan of all jobs if it is the best."""
    cost = tables.spent[tables.job.shape[1]]
    if cost < tables.best[0] * (1 - ROUNDING):
        tables.best[0] = cost
        tables.counter[SOLUTIONS] += 1
        for job in range(tables.job.shape[1]):
            tables.job[BEST_START, job] = tables.job[START, job]
        for unit in range(tables.unit.shape[1]):
            tables.unit[BEST_NODE, unit] = tables.unit[NODE, unit]


@part
def _earliest_start(tables, job, earliest):
    """The first moment from a given one on at which power and each group of a job, by itself, have room; else NEVER."""
    duration, nodes = tables.job[LENGTH, job], tables.capacity.shape[0]
    start, moved = earliest - 1, earliest
    while moved < NEVER and moved != start:
        start = moved
        if tables.length.shape[0] > nodes:
            tables.watts[0] = tables.job[POWER, job]
            moved = first_room(
                tables.times, tables.free, tables.length, nodes, tables.watts, np.int64(1), duration, moved, NEVER - 1
            )
        for group in range(tables.group_ptr[job], tables.group_ptr[job + 1]):
            if moved < NEVER:
                for node in range(nodes):
                    tables.known[node] = -1
                moved = earliest_for_many(
                    tables.times, tables.free, tables.length, np.int64(0), tables.capacity, tables.most, tables.known,
                    tables.ready, tables.group_amount[group], tables.group_count[group], duration, moved, NEVER - 1,
                    NEVER - 1,
                )  # fmt: skip
    return min(moved, NEVER)


@part
def _hold(tables, job, sign):
    """Hold the nodes and the power of a job from its start to its end (sign 1), or give them back (sign -1)."""
    start = tables.job[START, job]
    end = start + tables.job[LENGTH, job]
    for unit in range(tables.unit_ptr[job], tables.unit_ptr[job + 1]):
        amount = tables.group_amount[tables.unit[GROUP, unit]]
        hold_units(tables.times, tables.free, tables.length, tables.unit[NODE, unit], amount, sign, start, end)
    if tables.length.shape[0] > tables.capacity.shape[0]:
        tables.watts[0] = tables.job[POWER, job]
        row = tables.capacity.shape[0]
        hold_units(tables.times, tables.free, tables.length, row, tables.watts, sign, start, end)


@part
def _cost(tables, job, start):
    """What a start of a job counts for."""
    return tables.cost[AT_ONCE, job] + tables.cost[PER_SECOND, job] * start


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
