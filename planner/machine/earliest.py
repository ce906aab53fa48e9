"""The earliest start of equal units, bucket by bucket.

Nodes that have too few cores at every moment of a bucket cannot start a unit in it, so a bucket in which too few nodes
are left is passed over at a glance.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER, first_room


@part
def earliest_for_group(timelines, amount, count, duration, earliest, latest):
    """Earliest start from ``earliest`` to ``latest`` at which ``count`` equal units have room at once; else NEVER."""
    for node in range(timelines.known.shape[0]):
        timelines.known[node] = -1
    start = earliest
    while start <= latest:
        bucket = start // timelines.bucket_s
        end = min(latest, (bucket + 1) * timelines.bucket_s - 1)
        if _crest(timelines, bucket, amount[0]) < amount[0]:
            found = end + 1
        elif count == 1:
            found = _for_one(timelines, timelines.tops[bucket], amount, duration, start, end, latest)
        else:
            found = earliest_for_many(
                timelines.times, timelines.free, timelines.length, np.int64(0), timelines.capacity,
                timelines.tops[bucket], timelines.known, timelines.ready, amount, count, duration, start, end, latest,
            )  # fmt: skip
        if found <= end:
            return found
        start = found
    return NEVER


@part
def _crest(timelines, bucket, cores):
    """An upper limit on the free cores of any node in a bucket, looked up afresh while it would let the job in."""
    if timelines.crests[bucket] >= cores:
        crest = np.int64(0)
        for node in range(timelines.tops.shape[1]):
            crest = max(crest, timelines.tops[bucket, node])
        timelines.crests[bucket] = crest
    return timelines.crests[bucket]


@part
def _for_one(timelines, top, amount, duration, earliest, end, latest):
    """Earliest start of a single unit within a bucket, or the time after it.

    ``known`` keeps what each node said: its earliest start from some time on holds for every later time up to it.
    """
    known, cores = timelines.known, amount[0]
    best = end + 1
    for node in range(top.shape[0]):
        if known[node] < earliest and top[node] >= cores:
            until = latest if best > end else best - 1
            known[node] = first_room(
                timelines.times, timelines.free, timelines.length, node, amount, np.int64(1), duration, earliest, until
            )
        if earliest <= known[node] < best:
            best = known[node]
            if best == earliest:
                break
    return best


@part
def earliest_for_many(
    times, free, length, rows, capacity, top, known, ready, amount, count, duration, earliest, end, latest
):
    """Earliest start of several equal units up to ``end``, or a later time before which there is none; NEVER if none.

    The nodes are the rows from ``rows`` on. ``top`` is the most that each has free of the first resource until ``end``,
    or more; ``known`` what each said before, -1 for nothing; ``ready`` scratch space.
    """
    if _room_at_most(top, amount[0], count) < count:
        return end + 1
    while earliest <= end:
        at_once, found = np.int64(0), np.int64(0)
        for node in range(top.shape[0]):
            copies, row = np.int64(1), rows + node
            while copies <= count and fits_empty(capacity, node, amount, copies):
                start = end + 1
                if top[node] >= copies * amount[0]:
                    if copies > 1:
                        start = first_room(times, free, length, row, amount, copies, duration, earliest, latest)
                    else:
                        if known[node] < earliest:
                            known[node] = first_room(
                                times, free, length, row, amount, copies, duration, earliest, latest
                            )
                        start = known[node]
                elif copies == 1 and known[node] > end:
                    start = known[node]
                if start == NEVER:
                    break
                if start == earliest:
                    at_once += 1
                    if at_once == count:
                        return earliest
                ready[found] = start
                found += 1
                copies += 1
        if found < count:
            return NEVER
        earliest = smallest(ready, found, count)
    return earliest


@part
def _room_at_most(top, cores, count):
    """An upper limit on how many units of that many cores can start in a bucket, counted up to ``count``."""
    if cores == 0:
        return count
    room = np.int64(0)
    for node in range(top.shape[0]):
        if top[node] >= cores:
            room += 1 if top[node] < 2 * cores else top[node] // cores
    return room


@part
def fits_empty(capacity, node, amount, copies):
    """Whether a node has room for ``copies`` units when it is empty."""
    fits = True
    for resource in range(amount.shape[0]):
        fits &= copies * amount[resource] <= capacity[node, resource]
    return fits


UNITS, DURATION, RELEASE, POWER, START = 0, 1, 2, 3, 4
"""Columns of a row after the amounts."""

BOUND_COLUMNS = 5


@part
def learned_start(rows, remembered, amount, count, duration, release, power):
    """The latest start found for an earlier job that asked no more than this one; at least the release."""
    start = release
    resources = amount.shape[0]
    for row in range(min(remembered, rows.shape[0])):
        if (
            rows[row, resources + START] > start
            and rows[row, resources + UNITS] <= count
            and rows[row, resources + DURATION] <= duration
            and rows[row, resources + RELEASE] <= release
            and rows[row, resources + POWER] <= power
        ):
            asks_more = True
            for resource in range(resources):
                if rows[row, resource] > amount[resource]:
                    asks_more = False
                    break
            if asks_more:
                start = rows[row, resources + START]
    return start


@part
def remember(rows, remembered, amount, count, duration, release, power, start):
    """Keep what a job asked and where it could start, in place of the oldest."""
    resources = amount.shape[0]
    row = remembered % rows.shape[0]
    for resource in range(resources):
        rows[row, resource] = amount[resource]
    rows[row, resources + UNITS] = count
    rows[row, resources + DURATION] = duration
    rows[row, resources + RELEASE] = release
    rows[row, resources + POWER] = power
    rows[row, resources + START] = start


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


@part
def smallest(values, length, rank):
    """The rank-th smallest (from 1) of the first values, which are reordered (Hoare's selection)."""
    low, high, wanted = 0, length - 1, rank - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return values[wanted]


@part
def smallest_by_weight(values, weights, length, rank):
    """The rank-th smallest (from 1) of the first values, each counted as often as it weighs; both are reordered."""
    low, high, wanted = 0, length - 1, rank
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                weights[left], weights[right] = weights[right], weights[left]
                left += 1
                right -= 1
        below = 0
        for place in range(low, right + 1):
            below += weights[place]
        between = 0
        for place in range(right + 1, left):
            between += weights[place]
        if wanted <= below:
            high = right
        elif wanted <= below + between:
            return pivot
        else:
            wanted -= below + between
            low = left
    return values[low]
