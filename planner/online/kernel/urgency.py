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

HOUR_S = 3600
"""For so long a job is thought to wait on [s]."""

STEPS_PER_OCTAVE = 1000.0
"""Urgencies that differ by less than one in so many count as equal."""


@part
def urgent_first(state, now, count):
    """Put the most urgent jobs to the front of the queue, in the order they have; the others follow by urgency."""
    size = state.clock.queued
    for place in range(size):
        job = state.queue[place]
        state.jobs[job].urgency = _urgency(state, job, now)
    sort_by(state, state.lists.tried, URGENT, size)
    next_job = state.lists[count].tried
    front = 0
    for place in range(size):
        job = state.queue[place]
        if is_before(state, URGENT, job, next_job):
            state.lists[front].best = job
            front += 1
    copy_order(state.lists.best, state.queue, count)
    for place in range(count, size):
        state.queue[place] = state.lists[place].tried
        unpin(state, state.pins.current, state.queue[place])


@part
def _urgency(state, job, now):
    """A number that is smaller for more urgent jobs."""
    worse = cost(state, job, now + HOUR_S) - cost(state, job, now)
    rate = worse / (state.jobs[job].width * max(np.int64(1), state.jobs[job].estimate))
    return np.int64(np.round(-STEPS_PER_OCTAVE * np.log2(max(rate, 1e-300))))
