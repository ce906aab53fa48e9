"""The replay as Python calls it: many seconds at once, or steps of the event loop one by one with Python between them.

All steps are one kernel, since most of its code stands behind several of them: it is compiled and kept once. Where
Python plans the queue there are plans for it to look at, what their starts count for, and the start of what a plan
starts now.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, kernel_of
from planner.online.kernel import event_loop, queue_order
from planner.online.kernel.easy_list_rounds import can_any_start, can_start
from planner.online.kernel.local_objective import cost
from planner.online.kernel.plans import begin_plan, look_at_machine, place_in_plan
from planner.online.kernel.queue_order import begin, drop_gone

_ADVANCE, _NEXT_SECOND, _ENTRIES, _OPEN, _ARRIVAL, _COMPLETION, _IS_DUE, _LIST_ROUND, _IS_ANOTHER_DUE, _ROUNDS = range(
    10
)

reorder = kernel_of(queue_order.reorder)
sort_by = kernel_of(queue_order.sort_by)


@kernel
def step(state, what, number):
    """Do a step; the number is the second that it is now, or how many seconds to go. Returns what the step tells."""
    told = np.int64(0)
    if what == _ADVANCE:
        told = event_loop.advance(state, number)
    elif what == _NEXT_SECOND:
        told = event_loop.next_second(state)
    elif what == _ENTRIES:
        told = event_loop.entries_needed(state, number)
    elif what == _OPEN:
        event_loop.open_second(state, number)
    elif what == _ARRIVAL:
        event_loop.take_arrival(state)
    elif what == _COMPLETION:
        event_loop.take_completion(state, number)
    elif what == _IS_DUE:
        told = np.int64(event_loop.is_due(state, number))
    elif what == _LIST_ROUND:
        event_loop.run_list_round(state, number)
    elif what == _IS_ANOTHER_DUE:
        told = np.int64(event_loop.is_another_due(state, number))
    else:
        event_loop.schedule(state, number)
    return told


def _step(what):
    """A step as a function of the state and, if it needs one, a number; the event loop has it by the same name."""

    def call(state, number=0):
        return step(state, what, number)

    return call


advance, next_second, entries_needed = _step(_ADVANCE), _step(_NEXT_SECOND), _step(_ENTRIES)
open_second, take_arrival, take_completion = _step(_OPEN), _step(_ARRIVAL), _step(_COMPLETION)
is_due, run_list_round, is_another_due = _step(_IS_DUE), _step(_LIST_ROUND), _step(_IS_ANOTHER_DUE)
schedule = _step(_ROUNDS)


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
