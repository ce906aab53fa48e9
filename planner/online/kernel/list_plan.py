"""Plans of the queue for Python to look at, what their starts count for, and starting what a plan starts now."""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, kernel_of
from planner.online.kernel.local_objective import cost
from planner.online.kernel.plans import begin_plan, look_at_machine, place_in_plan
from planner.online.kernel.queue_order import begin, drop_gone
from planner.online.kernel.rounds import can_any_start, can_start

has_startable = kernel_of(can_any_start)


@kernel
def has_choice(state, now):
    """Whether the order of the queue can decide who starts now: two jobs wait, and one of them has room."""
    return state.clock.queued > 1 and can_any_start(state, now)


@kernel
def note_startable(state, now, found):
    """Write 1 for each job of the queue that has room now, beside what runs and nothing else, and 0 for the others."""
    for place in range(state.clock.queued):
        found[place] = np.int64(can_start(state, state.queue[place], now))


@kernel
def plan_in_order(state, now, start):
    """Write the start of each job of the tried order, NEVER for none; their nodes are noted with their units.

    As many of its first jobs are planned as there are starts to write.
    """
    look_at_machine(state)
    begin_plan(state)
    for place in range(start.shape[0]):
        start[place] = place_in_plan(state, state.pins.tried, state.lists[place].tried, now)


@kernel
def costs_of(state, job, start, found):
    """Write what starts of jobs count for under the local objective, one entry each."""
    for place in range(len(job)):
        found[place] = cost(state, job[place], start[place])


@kernel
def start_planned(state, now, job, start):
    """A round that starts the jobs whose planned start is now, on the nodes that are noted with their units."""
    state.clock.rounds += 1
    for place in range(len(job)):
        if start[place] == now:
            begin(state, job[place], now)
    drop_gone(state)
