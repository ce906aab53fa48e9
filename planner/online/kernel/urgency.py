"""Which jobs of a long queue are searched: the most urgent ones.

An hour of waiting makes the objective worse by so much for every core-second that a job asks: that is how urgent it is
(Smith's rule: on one machine, jobs in the order of weight per length have the least weighted sum of ends). For the
response time the smallest jobs are most urgent, for the slowdown those that are short as well. For the work all are
alike, so that the oldest come first.

Cost: n jobs are sorted, n log n.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.local_objective import cost
from planner.online.kernel.pins import unpin
from planner.online.kernel.queue_order import URGENT, copy_order, is_before, sort_by
from planner.online.kernel.state import BEST_ORDER, ESTIMATE, PIN, QUEUE, QUEUED, TRIED_ORDER, URGENCY, WIDTH

HOUR_S = 3600
"""For so long a job is thought to wait on [s]."""

STEPS_PER_OCTAVE = 1000.0
"""Urgencies that differ by less than one in so many count as equal."""


@part
def urgent_first(state, now, count):
    """Put the most urgent jobs to the front of the queue, in the order they have; the others follow by urgency."""
    size = state.clock[QUEUED]
    for place in range(size):
        job = state.job[QUEUE, place]
        state.job[URGENCY, job] = _urgency(state, job, now)
    sort_by(state, TRIED_ORDER, URGENT, size)
    next_job = state.job[TRIED_ORDER, count]
    front = 0
    for place in range(size):
        job = state.job[QUEUE, place]
        if is_before(state, URGENT, job, next_job):
            state.job[BEST_ORDER, front] = job
            front += 1
    copy_order(state, BEST_ORDER, QUEUE, count)
    for place in range(count, size):
        state.job[QUEUE, place] = state.job[TRIED_ORDER, place]
        unpin(state, PIN, state.job[QUEUE, place])


@part
def _urgency(state, job, now):
    """A number that is smaller for more urgent jobs."""
    worse = cost(state, job, now + HOUR_S) - cost(state, job, now)
    rate = worse / (state.job[WIDTH, job] * max(np.int64(1), state.job[ESTIMATE, job]))
    return np.int64(np.round(-STEPS_PER_OCTAVE * np.log2(max(rate, 1e-300))))
