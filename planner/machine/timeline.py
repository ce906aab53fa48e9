"""Timelines of free capacity: step functions of what each node has left, searched and changed in place.

Row n is one node, the whole pool, or the power of the site. Its entry k says what is free from ``times[n, k]`` until
``times[n, k + 1]``; the last of its ``length[n]`` entries holds forever. Neighbouring entries always differ, so a node
that is full all day has two entries however many jobs filled it.

Plain literals as arguments would make numba compile a version of every callee for each of them; hence ``np.int64(1)``.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part

NEVER = np.iinfo(np.int64).max // 2
"""A moment that does not come."""

SHORT = 8
"""Rows of so few entries are looked through one by one, which takes less time than halving."""


@part
def entry_at(times, length, node, moment):
    """The entry of a node that holds at a moment."""
    low, high = 0, length[node]
    if high <= SHORT:
        while low + 1 < high and times[node, low + 1] <= moment:
            low += 1
        return low
    while high - low > 1:
        middle = (low + high) // 2
        if times[node, middle] <= moment:
            low = middle
        else:
            high = middle
    return low


@part
def first_room(times, free, length, node, amount, copies, duration, earliest, latest):
    """Earliest start from ``earliest`` to ``latest`` at which a node has room for ``copies`` units; else NEVER."""
    if earliest > latest:
        return NEVER
    last = length[node]
    entry = entry_at(times, length, node, earliest)
    start = earliest
    while True:
        room = True
        for resource in range(amount.shape[0]):
            if free[node, entry, resource] < copies * amount[resource]:
                room = False
                break
        if room and (entry + 1 == last or times[node, entry + 1] >= start + duration):
            return start
        entry += 1
        if entry == last:
            return NEVER
        if not room:
            start = times[node, entry]
            if start > latest:
                return NEVER


@part
def least_free(times, free, length, node, start, end, least):
    """Write into ``least`` what a node has free of each resource all the way from start to end."""
    entry = entry_at(times, length, node, start)
    for resource in range(least.shape[0]):
        least[resource] = free[node, entry, resource]
    entry += 1
    while entry < length[node] and times[node, entry] < end:
        for resource in range(least.shape[0]):
            least[resource] = min(least[resource], free[node, entry, resource])
        entry += 1


@part
def hold_units(times, free, length, node, amount, copies, start, end):
    """Take units from a node from start to end; -1 of them gives one back. The row must have room for two entries."""
    first = _cut(times, free, length, node, start)
    after = _cut(times, free, length, node, end)
    for entry in range(first, after):
        for resource in range(amount.shape[0]):
            free[node, entry, resource] -= copies * amount[resource]
    _join(times, free, length, node, after)
    _join(times, free, length, node, first)


@part
def forget_past(times, free, length, rows, now):
    """Let this many of the first rows begin now."""
    for row in range(rows):
        if length[row] > 1 and times[row, 1] <= now:
            first = entry_at(times, length, row, now)
            for entry in range(first, length[row]):
                times[row, entry - first] = times[row, entry]
                for resource in range(free.shape[2]):
                    free[row, entry - first, resource] = free[row, entry, resource]
            length[row] -= first
        times[row, 0] = now


@part
def copy_rows(times, free, length, rows):
    """Write this many of the first rows into those that follow them."""
    for row in range(rows):
        copy_row(times, free, length, row, times, free, length, rows + row)


@part
def copy_row(times, free, length, row, other_times, other_free, other_length, other):
    """Write a row into another one, perhaps of another table."""
    other_length[other] = length[row]
    for entry in range(length[row]):
        other_times[other, entry] = times[row, entry]
        for resource in range(free.shape[2]):
            other_free[other, entry, resource] = free[row, entry, resource]


@part
def are_alike(times, free, length, row, other_times, other_free, other_length, other):
    """Whether two rows, perhaps of different tables, are the same timeline."""
    if length[row] != other_length[other]:
        return False
    for entry in range(length[row]):
        if times[row, entry] != other_times[other, entry]:
            return False
        for resource in range(free.shape[2]):
            if free[row, entry, resource] != other_free[other, entry, resource]:
                return False
    return True


@part
def note_tops(times, free, length, tops, bucket_s, node, start, end):
    """Write into ``tops`` the most that a node has free of the first resource in each bucket from start to end."""
    bucket = start // bucket_s
    last = min((end - 1) // bucket_s, tops.shape[0] - 1)
    if bucket > last:
        return
    entry = entry_at(times, length, node, bucket * bucket_s)
    while bucket <= last:
        bucket_end = (bucket + 1) * bucket_s
        top = free[node, entry, 0]
        while entry + 1 < length[node] and times[node, entry + 1] < bucket_end:
            entry += 1
            top = max(top, free[node, entry, 0])
        tops[bucket, node] = top
        if entry + 1 < length[node] and times[node, entry + 1] == bucket_end:
            entry += 1
        bucket += 1


@part
def _cut(times, free, length, node, moment):
    """Make an entry begin at a moment, and return it."""
    entry = entry_at(times, length, node, moment)
    if times[node, entry] == moment:
        return entry
    for later in range(length[node], entry + 1, -1):
        times[node, later] = times[node, later - 1]
        for resource in range(free.shape[2]):
            free[node, later, resource] = free[node, later - 1, resource]
    entry += 1
    times[node, entry] = moment
    for resource in range(free.shape[2]):
        free[node, entry, resource] = free[node, entry - 1, resource]
    length[node] += 1
    return entry


@part
def _join(times, free, length, node, entry):
    """Remove an entry that says the same as the one before it."""
    if entry == 0:
        return
    for resource in range(free.shape[2]):
        if free[node, entry, resource] != free[node, entry - 1, resource]:
            return
    for later in range(entry + 1, length[node]):
        times[node, later - 1] = times[node, later]
        for resource in range(free.shape[2]):
            free[node, later - 1, resource] = free[node, later, resource]
    length[node] -= 1
