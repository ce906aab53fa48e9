"""All moments of a schedule on one pool in a chain: jobs are taken out of it and put back without a look at the rest.

Every job has three moments: 3 x job is its submission, the next one its start, the next one its end. Behind those of
all jobs come the beginning and the end of time. ``free`` says what is free from a moment until the one after it. Of
moments in the same second ends come first, so that nothing in between has less room than the second itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, part
from planner.domain.columns import Ints
from planner.machine.timeline import NEVER


@by_address
class Moments(NamedTuple):
    """The chain: when each moment is [s], what is free from then on, and the moments after and before it."""

    time: Ints
    free: Ints
    after: Ints
    before: Ints


def moments_of(submit_s: Ints, start_s: Ints, runtime_s: Ints, width: Ints, processors: int) -> Moments:
    """The chain of a schedule."""
    count = len(submit_s)
    time = np.append(np.column_stack([submit_s, start_s, start_s + runtime_s]).ravel(), [-NEVER, NEVER])
    change = np.append(np.column_stack([np.zeros_like(width), -width, width]).ravel(), [processors, 0])
    rank = np.append(np.tile([1, 2, 0], count), [0, 0])
    order = np.lexsort((rank, time))
    free, after, before = np.zeros_like(time), np.zeros_like(time), np.zeros_like(time)
    free[order] = np.cumsum(change[order])
    after[order] = np.append(order[1:], order[-1])
    before[order] = np.append(order[0], order[:-1])
    return Moments(time, free, after, before)


@part
def take_out(moments, job, width):
    """Take the start and the end of a job out of the chain; they still know what was before them."""
    start = 3 * job + 1
    end = start + 1
    moment = moments.after[start]
    while moment != end:
        moments.free[moment] += width
        moment = moments.after[moment]
    for gone in (end, start):
        moments.after[moments.before[gone]] = moments.after[gone]
        moments.before[moments.after[gone]] = moments.before[gone]


@part
def put_back(moments, job, width, start_s, end_s, known):
    """Put a job that was taken out back into the chain; ``known`` is a moment no later than its start."""
    start = 3 * job + 1
    end = start + 1
    while moments.time[moments.after[known]] <= start_s:
        known = moments.after[known]
    moments.time[start], moments.free[start] = start_s, moments.free[known] - width
    _link(moments, start, known)
    last = start
    while moments.time[moments.after[last]] < end_s:
        last = moments.after[last]
        moments.free[last] -= width
    moments.time[end], moments.free[end] = end_s, moments.free[last] + width
    _link(moments, end, last)


@part
def _link(moments, moment, before):
    after = moments.after[before]
    moments.after[before], moments.before[moment] = moment, before
    moments.after[moment], moments.before[after] = after, moment
