"""The search of PCP'21: depth first over starts and nodes, with the total cost of the best plan as a bound.

At the second that is looked at, the job of highest priority with room starts, on the lowest nodes with room; then the
next one, until none has room, and the clock goes on to when one can start. Going back, a job takes other nodes (unless
the search goes back to starts alone), then it waits until something changes, and others come first.

This finds a best plan if it is not cut short. In some best plan each job starts now, when another ends, or when the
free room changes: else it could start earlier on its nodes, as those who start after it do not mind. And jobs are
placed in the order of their starts, so that every change which a waiting job can wait for is known.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.cp.dispatch.kernel.node_choices import first_nodes, next_nodes
from planner.cp.dispatch.kernel.tables import (
    AT_ONCE,
    BEST_NODE,
    BEST_START,
    GROUP,
    IS_PLACED,
    LENGTH,
    LEVEL,
    NODE,
    PER_SECOND,
    POWER,
    SOLUTIONS,
    START,
    STEPS,
)
from planner.machine.earliest import earliest_for_many
from planner.machine.timeline import NEVER, entry_at, first_room, hold_units

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
