"""Timelines of what is free from now on: a step function for each row, held, released and searched in place.

A row is a node, the whole pool, or the site's power. Entry k of a row begins at ``line[row, k, 0]`` and says what is
free of each resource until the next entry, ``line[row, k, 1:]``; the last of its ``length[row]`` entries holds
for ever. Neighbouring entries always differ.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part

NEVER = np.iinfo(np.int64).max // 2
"""A moment that does not come."""


@part
def entry_at(line, length, row, moment):
    """The entry of a row that holds at a moment."""
    low, high = 0, length[row]
    while high - low > 1:
        middle = (low + high) // 2
        if line[row, middle, 0] <= moment:
            low = middle
        else:
            high = middle
    return low


@part
def first_room(line, length, row, ask, kind, copies, duration, earliest, latest):
    """Earliest start from ``earliest`` to ``latest`` at which a row has room for so many units; else NEVER.

    ``ask[kind, 1:]`` is what a unit of the kind asks of each resource.
    """
    last = length[row]
    entry = entry_at(line, length, row, earliest)
    start = earliest
    resources = ask.shape[1] - 1
    while start <= latest:
        room = True
        for resource in range(resources):
            if line[row, entry, 1 + resource] < copies * ask[kind, 1 + resource]:
                room = False
                break
        if room and (entry + 1 == last or line[row, entry + 1, 0] >= start + duration):
            return start
        entry += 1
        if entry == last:
            return NEVER
        if not room:
            start = line[row, entry, 0]
    return NEVER


@part
def copies_between(line, length, row, ask, kind, start, end, most):
    """How many equal units a row has room for all the way from start to end, at most ``most``."""
    copies = most
    entry = entry_at(line, length, row, start)
    while copies > 0 and entry < length[row] and line[row, entry, 0] < end:
        for resource in range(ask.shape[1] - 1):
            if ask[kind, 1 + resource] > 0:
                copies = min(copies, line[row, entry, 1 + resource] // ask[kind, 1 + resource])
        entry += 1
    return max(copies, 0)


@part
def least_between(line, length, row, start, end, least):
    """Write into ``least`` what a row has free of each resource all the way from start to end."""
    entry = entry_at(line, length, row, start)
    for resource in range(least.shape[0]):
        least[resource] = line[row, entry, 1 + resource]
    entry += 1
    while entry < length[row] and line[row, entry, 0] < end:
        for resource in range(least.shape[0]):
            least[resource] = min(least[resource], line[row, entry, 1 + resource])
        entry += 1


@part
def hold(line, length, row, ask, kind, sign, start, end):
    """Take a unit's room on a row from start to end (sign 1), or give it back (sign -1); needs room for two entries."""
    if start >= end:
        return
    first = _cut(line, length, row, start)
    after = _cut(line, length, row, end)
    for entry in range(first, after):
        for resource in range(ask.shape[1] - 1):
            line[row, entry, 1 + resource] -= sign * ask[kind, 1 + resource]
    _join(line, length, row, after)
    _join(line, length, row, first)


@part
def forget_past(line, length, now):
    """Let the rows of the machine, the first half, begin now."""
    for row in range(line.shape[0] // 2):
        if length[row] > 1 and line[row, 1, 0] <= now:
            first = entry_at(line, length, row, now)
            for entry in range(first, length[row]):
                for column in range(line.shape[2]):
                    line[row, entry - first, column] = line[row, entry, column]
            length[row] -= first
        line[row, 0, 0] = now


@part
def copy_rows(line, length, rows):
    """Write the first rows, so many, into those that follow them."""
    for row in range(rows):
        length[rows + row] = length[row]
        for entry in range(length[row]):
            for column in range(line.shape[2]):
                line[rows + row, entry, column] = line[row, entry, column]


@part
def _cut(line, length, row, moment):
    """Make an entry begin at a moment, and return it."""
    entry = entry_at(line, length, row, moment)
    if line[row, entry, 0] == moment:
        return entry
    for later in range(length[row], entry + 1, -1):
        for column in range(line.shape[2]):
            line[row, later, column] = line[row, later - 1, column]
    entry += 1
    line[row, entry, 0] = moment
    for resource in range(line.shape[2] - 1):
        line[row, entry, 1 + resource] = line[row, entry - 1, 1 + resource]
    length[row] += 1
    return entry


@part
def _join(line, length, row, entry):
    """Remove an entry that says the same as the one before it."""
    if entry == 0:
        return
    for resource in range(line.shape[2] - 1):
        if line[row, entry, 1 + resource] != line[row, entry - 1, 1 + resource]:
            return
    for later in range(entry + 1, length[row]):
        for column in range(line.shape[2]):
            line[row, later - 1, column] = line[row, later, column]
    length[row] -= 1
