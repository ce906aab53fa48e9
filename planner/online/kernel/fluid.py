"""A whole machine that works as one: each moment all of it on the job that is worth most per work, until it is done."""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel
from planner.machine.heap import pop, push


@kernel
def mean_busy_times(release, work, worth, keys, jobs, ties, left, since_release):
    """From release to the mean moment at which each job is worked on, to ``since_release``.

    ``release`` in order and ``work`` in one unit of time; the other arrays are room, one entry per job.
    """
    count = len(release)
    now = np.int64(0)
    arrived = np.int64(0)
    size = np.int64(0)
    while arrived < count or size > 0:
        if size == 0:
            now = max(now, release[arrived])
        while arrived < count and release[arrived] <= now:
            ties[arrived], left[arrived], since_release[arrived] = arrived, work[arrived], 0.0
            push(keys, jobs, ties, size, -worth[arrived], arrived)
            size += 1
            arrived += 1
        job = pop(keys, jobs, ties, size)
        size -= 1
        span = left[job]
        if arrived < count:
            span = min(span, release[arrived] - now)
        since_release[job] += span * (now - release[job] + 0.5 * span) / work[job]
        now += span
        left[job] -= span
        if left[job] > 0:
            push(keys, jobs, ties, size, -worth[job], job)
            size += 1
