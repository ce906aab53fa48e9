"""Plans of the queue for Python to look at, what their starts count for, and starting what a plan starts now."""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.timeline import NEVER, copy_rows, least_free
from planner.online.kernel.local_objective import cost
from planner.online.kernel.nodes import earliest_start, hold_job, plan_rows
from planner.online.kernel.queue_order import begin, drop_gone
from planner.online.kernel.rounds import can_start
from planner.online.kernel.state import ESTIMATE, NODE, NODES, QUEUE, QUEUED, ROUNDS, TRIED_ORDER, UNITS


@kernel
def has_choice(state, now):
    """Whether the order of the queue can decide who starts now: two jobs wait, and one of them has room."""
    found = False
    if state.clock[QUEUED] > 1:
        for place in range(state.clock[QUEUED]):
            found = found or can_start(state, state.job[QUEUE, place], now)
    return found


@kernel
def note_startable(state, now, found):
    """Write 1 for each job of the queue that has room now, beside what runs and nothing else, and 0 for the others."""
    for place in range(state.clock[QUEUED]):
        found[place] = np.int64(can_start(state, state.job[QUEUE, place], now))


@kernel
def plan_in_order(state, now, start):
    """Write the start of each job of the tried order, NEVER for none; their nodes are noted with their units.

    As many of its first jobs are planned as there are starts to write.
    """
    plan = plan_rows(state)
    copy_rows(state.times, state.free, state.length, plan)
    for place in range(start.shape[0]):
        job = state.job[TRIED_ORDER, place]
        start[place] = earliest_start(state, plan, job, now, NEVER - 1)
        if start[place] < NEVER:
            hold_job(state, plan, job, np.int64(1), start[place], _end(state, job, start[place]))


@kernel
def shift_left(state, now, start):
    """Let each job of the tried order start as early as it can where its units are; the order is that of the starts.

    No job starts later than it did: those before it are where they were, or earlier.
    """
    plan = plan_rows(state)
    copy_rows(state.times, state.free, state.length, plan)
    for place in range(state.clock[QUEUED]):
        job = state.job[TRIED_ORDER, place]
        if start[place] < NEVER:
            moment = now
            while moment < start[place] and not _holds(state, plan, job, moment):
                moment = min(_next_change(state, plan, moment), start[place])
            if moment == start[place]:
                hold_job(state, plan, job, np.int64(1), moment, _end(state, job, moment))
            start[place] = moment


@part
def _holds(state, plan, job, start):
    """Hold the nodes of a job from a start on, if they have room for all its units; returns whether they have."""
    end = _end(state, job, start)
    hold_job(state, plan, job, np.int64(1), start, end)
    has_room = _has_no_debt(state, plan + state.clock[NODES], plan_rows(state) * 2, start, end)
    for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
        row = plan + state.unit[NODE, unit]
        has_room = has_room and _has_no_debt(state, row, row + 1, start, end)
    if not has_room:
        hold_job(state, plan, job, np.int64(-1), start, end)
    return has_room


@part
def _has_no_debt(state, first_row, last_row, start, end):
    """Whether no row has less than nothing free between two moments."""
    least = state.least[0]
    for row in range(first_row, last_row):
        least_free(state.times, state.free, state.length, row, start, end, least)
        for resource in range(least.shape[0]):
            if least[resource] < 0:
                return False
    return True


@part
def _next_change(state, plan, moment):
    """The first moment after a given one at which anything changes on a row of the plan; else NEVER."""
    change = NEVER
    for row in range(plan, plan_rows(state) * 2):
        for entry in range(state.length[row]):
            if state.times[row, entry] > moment:
                change = min(change, state.times[row, entry])
                break
    return change


@part
def _end(state, job, start):
    """When a job that starts at a moment is expected to end."""
    return start + max(np.int64(1), state.job[ESTIMATE, job])


@kernel
def costs_of(state, job, start, found):
    """Write what starts of jobs count for under the local objective, one entry each."""
    for place in range(len(job)):
        found[place] = cost(state, job[place], start[place])


@kernel
def start_planned(state, now, job, start):
    """A round that starts the jobs whose planned start is now, on the nodes that are noted with their units."""
    state.clock[ROUNDS] += 1
    for place in range(len(job)):
        if start[place] == now:
            begin(state, job[place], now)
    drop_gone(state)
