"""When bunches of nodes have room for equal units, and which of them have it at a given start.

These functions are called for every job of every plan, and get the tables of bunches alone: compiled code takes the
whole state apart in every call.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.choose_nodes import copies_in
from planner.machine.earliest import fits_empty
from planner.machine.kth_smallest import smallest_by_weight
from planner.machine.timeline import NEVER, first_room, least_free
from planner.online.kernel.bunches import (
    AT,
    FIRST_CHANGE,
    FIRST_FREE,
    FROM,
    HEAD,
    IS_START,
    LENGTH,
    NOBODY,
    ROOM,
    SIZE,
    TAKEN,
)


@part
def earliest_for_units(bunch, times, free, bunches, capacity, ready, weight, amount, count, duration, earliest, latest):
    """Earliest start at which so many equal units have room at once; else NEVER.

    Every bunch names its earliest start for one unit on each of its nodes, for two, and so on. Once enough are named
    nobody needs to look further than to the latest of them.
    """
    length = bunch[LENGTH]
    forget_starts(bunch, bunches, amount[0], earliest)
    if _is_room_at(bunch, times, free, bunches, amount, count, duration, earliest):
        return earliest
    while earliest <= latest:
        at_once, named, found, until, largest = np.int64(0), np.int64(0), np.int64(0), latest, earliest
        for one in range(bunches):
            size, copies = bunch[SIZE, one], np.int64(1)
            if size == 0:
                continue
            start = _start_in(bunch, times, free, length, one, amount, duration, earliest, until)
            while start <= until:
                if start == earliest:
                    at_once += size
                    if at_once >= count:
                        return earliest
                ready[named], weight[named] = start, size
                named += 1
                found += size
                largest = max(largest, start)
                if found >= count and until == latest:
                    until = largest
                copies += 1
                if copies > count or not fits_empty(capacity, bunch[HEAD, one], amount, copies):
                    break
                start = first_room(times, free, length, one, amount, copies, duration, earliest, until)
        if found < count:
            return NEVER
        earliest = smallest_by_weight(ready, weight, named, count)
    return NEVER


@part
def _is_room_at(bunch, times, free, bunches, amount, count, duration, start):
    """Whether so many nodes have room for a unit at a start; of most bunches the beginning says enough."""
    room = np.int64(0)
    for one in range(bunches):
        if bunch[FROM, one] > start or bunch[SIZE, one] == 0:
            continue
        if _start_in(bunch, times, free, bunch[LENGTH], one, amount, duration, start, start) == start:
            room += bunch[SIZE, one]
            if room >= count:
                return True
    return False


@part
def forget_starts(bunch, bunches, first_amount, earliest):
    """Know no more of when bunches have room than that it is not before a moment, and not while the first is short."""
    for one in range(bunches):
        is_short = bunch[FIRST_FREE, one] < first_amount and bunch[FIRST_CHANGE, one] > earliest
        bunch[FROM, one] = bunch[FIRST_CHANGE, one] if is_short else earliest
        bunch[IS_START, one] = 0


@part
def _start_in(bunch, times, free, length, one, amount, duration, earliest, until):
    """Earliest start from ``earliest`` to ``until`` of a unit on each node of one bunch; else a moment after that.

    What was found is kept: the bunch has no room before FROM, and then it has if IS_START. That holds for all later
    ``earliest`` up to it.
    """
    known = bunch[FROM, one]
    if known > until or (known >= earliest and bunch[IS_START, one] > 0):
        return known
    start = first_room(times, free, length, one, amount, np.int64(1), duration, max(known, earliest), until)
    bunch[IS_START, one] = np.int64(start < NEVER)
    bunch[FROM, one] = start if start < NEVER else until + 1
    return start


@part
def list_fitting(bunch, times, free, bunches, listed, least, amount, count, start, end):
    """List the bunches whose nodes have room for a unit from start to end, and note for how many; returns how many.

    What is known of starts is of the same units and the same time, and no later than ``start``.
    """
    length, fitting = bunch[LENGTH], np.int64(0)
    for one in range(bunches):
        if bunch[SIZE, one] == 0:
            continue
        if _start_in(bunch, times, free, length, one, amount, end - start, start, start) != start:
            continue
        copies = np.int64(1)
        if count > 1:
            least_free(times, free, length, one, start, end, least)
            copies = copies_in(least, amount, count)
        bunch[ROOM, one], bunch[AT, one], bunch[TAKEN, one] = copies, bunch[HEAD, one], 0
        listed[fitting] = one
        fitting += 1
    return fitting


@part
def first_listed(bunch, listed, fitting):
    """The listed bunch whose next node has the lowest number, and the lowest number of all others."""
    best, best_head, next_head = np.int64(NOBODY), NEVER, NEVER
    for place in range(fitting):
        head = bunch[AT, listed[place]]
        if head == NOBODY or head > next_head:
            continue
        if head < best_head:
            best, best_head, next_head = listed[place], head, best_head
        else:
            next_head = head
    return best, next_head
