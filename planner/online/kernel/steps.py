"""The replay as Python calls it: many seconds at once, or the steps of the clock one by one with Python between them.

All are one kernel, since most of its code stands behind several of them: it is compiled and kept once.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, kernel_of
from planner.online.kernel import clock, queue_order

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
        told = clock.advance(state, number)
    elif what == _NEXT_SECOND:
        told = clock.next_second(state)
    elif what == _ENTRIES:
        told = clock.entries_needed(state, number)
    elif what == _OPEN:
        clock.open_second(state, number)
    elif what == _ARRIVAL:
        clock.take_arrival(state)
    elif what == _COMPLETION:
        clock.take_completion(state, number)
    elif what == _IS_DUE:
        told = np.int64(clock.is_due(state, number))
    elif what == _LIST_ROUND:
        clock.run_list_round(state, number)
    elif what == _IS_ANOTHER_DUE:
        told = np.int64(clock.is_another_due(state, number))
    else:
        clock.schedule(state, number)
    return told


def advance(state, seconds):
    """Replay up to so many event seconds; returns 0 when all is done, the entries needed to go on, or -1 to go on."""
    return step(state, _ADVANCE, seconds)


def next_second(state):
    """The next second at which anything happens, or NEVER."""
    return step(state, _NEXT_SECOND, 0)


def entries_needed(state, now):
    """Entries that a row of the timeline may need in this second."""
    return step(state, _ENTRIES, now)


def open_second(state, now):
    """Begin a second."""
    step(state, _OPEN, now)


def take_arrival(state):
    """Let the next job arrive."""
    step(state, _ARRIVAL, 0)


def take_completion(state, now):
    """Let the next job that ends in this second give its nodes back."""
    step(state, _COMPLETION, now)


def schedule(state, now):
    """The scheduling rounds that are due."""
    step(state, _ROUNDS, now)


def is_due(state, now):
    """Whether the policy looks at the queue now."""
    return step(state, _IS_DUE, now) != 0


def run_list_round(state, now):
    """A round of list scheduling, whatever the policy."""
    step(state, _LIST_ROUND, now)


def is_another_due(state, now):
    """Begin to note anew what happens until the next round; whether that is now."""
    return step(state, _IS_ANOTHER_DUE, now) != 0
