"""A plan on one pool of processors: jobs placed one after another in a flat step function.

Faster than a timeline of `planner.machine.timeline`, since nothing is ever given back: entries are not joined.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER


@part
def place_on_pool(times, free, length, width, duration):
    """Hold a width at its earliest start from the first entry on; returns the start, or NEVER, and the new length.

    Entry k says what is free from ``times[k]`` until ``times[k + 1]``, the last one holds forever. There must be room
    for one more entry.
    """
    first = np.int64(0)
    while True:
        while free[first] < width:
            first += 1
            if first == length:
                return NEVER, length
        end = times[first] + duration
        after = first + 1
        while after < length and times[after] < end and free[after] >= width:
            after += 1
        if after == length or times[after] >= end:
            break
        first = after
    if after == length or times[after] > end:
        for later in range(length, after, -1):
            times[later], free[later] = times[later - 1], free[later - 1]
        times[after], free[after] = end, free[after - 1]
        length += 1
    for entry in range(first, after):
        free[entry] -= width
    return times[first], length
