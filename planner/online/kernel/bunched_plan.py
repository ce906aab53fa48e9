"""Jobs in a plan of bunches of nodes: the starts and the nodes that `planner.online.kernel.nodes` would find.

Nodes of a bunch have one timeline, so one look says when each of them has room. Nodes are chosen in order of their
numbers over all bunches with room.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.choose_nodes import copies_in
from planner.machine.earliest import fits_empty, smallest_by_weight
from planner.machine.timeline import NEVER, first_room, hold_units, least_free
from planner.online.kernel.bunches import (
    AT,
    BEFORE,
    FIRST_CHANGE,
    FIRST_FREE,
    FROM,
    HEAD,
    IS_START,
    LAST,
    LENGTH,
    NEXT,
    NOBODY,
    OF,
    ROOM,
    SIZE,
    TAKEN,
    hold_on_node,
    take_first,
)
from planner.online.kernel.nodes import add_up_units, first_power, pack_units, plan_rows


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


@part
def place_in_bunches(state, job, earliest, latest):
    """Place a job at its earliest start from ``earliest`` to ``latest``, and return that; else NEVER."""
    first, last = state.first[job].group, state.first[job + 1].group
    duration = state.jobs[job].estimate
    start = earliest
    while start <= latest:
        moved = _room_for_each_group(state, job, start, latest)
        if moved == start:
            if last - first == 1:
                _take_for_group(state, first, state.first[job].unit, start, start + duration, np.int64(1))
                _hold_power(state, job, np.int64(1), start, start + duration)
                return start
            if _take_for_groups(state, job, start, start + duration):
                _hold_power(state, job, np.int64(1), start, start + duration)
                return start
            moved = _next_change(state, start)
        start = moved
    return NEVER


@part
def has_room_in_bunches(state, job, now):
    """Whether a job has room now; the nodes that it would have are noted with its units."""
    first, last = state.first[job].group, state.first[job + 1].group
    duration = state.jobs[job].estimate
    if _room_for_each_group(state, job, now, now) != now:
        return False
    if last - first == 1:
        _take_for_group(state, first, state.first[job].unit, now, now + duration, np.int64(0))
        return True
    fits = _take_for_groups(state, job, now, now + duration)
    if fits:
        _hold_units_of(state, job, state.first[job + 1].unit, np.int64(-1), now, now + duration)
    return fits


@part
def place_on_noted_nodes(state, job, earliest):
    """Place a job on the nodes that are noted with its units and return its start; NEVER if they have no room."""
    add_up_units(state, state.units.node, job)
    duration = state.jobs[job].estimate
    start = earliest
    while True:
        moved = start
        if state.clock.limited > 0:
            moved = first_power(state, plan_rows(state) + state.clock.nodes, job, duration, moved, NEVER - 1)
        for unit in range(state.first[job].unit, state.first[job + 1].unit):
            node = state.units[unit].node
            moved = first_room(
                state.bunch_times, state.bunch_free, state.bunch[LENGTH], state.member[OF, node], state.least[node],
                np.int64(1), duration, moved, NEVER - 1,
            )  # fmt: skip
        if moved == NEVER:
            return NEVER
        if moved == start:
            break
        start = moved
    _hold_units_of(state, job, state.first[job + 1].unit, np.int64(1), start, start + duration)
    _hold_power(state, job, np.int64(1), start, start + duration)
    return start


@part
def _room_for_each_group(state, job, earliest, latest):
    """A moment before which a job cannot start, as power is short or one of its groups has no room; NEVER if none."""
    duration = state.jobs[job].estimate
    moved = earliest
    if state.clock.limited > 0:
        moved = first_power(state, plan_rows(state) + state.clock.nodes, job, duration, moved, latest)
    for group in range(state.first[job].group, state.first[job + 1].group):
        if moved <= latest:
            moved = earliest_for_units(
                state.bunch, state.bunch_times, state.bunch_free, state.clock.bunches, state.capacity, state.ready,
                state.weight, state.group_amount[group], state.group_count[group], duration, moved, latest,
            )  # fmt: skip
    return moved if moved <= latest else NEVER


@part
def _take_for_groups(state, job, start, end):
    """Give the units of a job of several groups nodes, one group after another; False if there is no room."""
    unit = state.first[job].unit
    for group in range(state.first[job].group, state.first[job + 1].group):
        forget_starts(state.bunch, state.clock.bunches, state.group_amount[group, 0], start)
        placed = _take_for_group(state, group, unit, start, end, np.int64(1))
        unit += placed
        if placed < state.group_count[group]:
            _hold_units_of(state, job, unit, np.int64(-1), start, end)
            return _take_exactly(state, job, start, end)
    return True


@part
def _take_exactly(state, job, start, end):
    """Decide by a table whether units of several sizes have room where the first nodes with room did not do."""
    for node in range(state.clock.nodes):
        bunch = state.member[OF, node]
        least_free(state.bunch_times, state.bunch_free, state.bunch[LENGTH], bunch, start, end, state.least[node])
    fits = pack_units(state, job)
    if fits:
        _hold_units_of(state, job, state.first[job + 1].unit, np.int64(1), start, end)
    return fits


@part
def _hold_units_of(state, job, last, sign, start, end):
    """Hold the nodes of a job for its units before ``last`` (sign 1), or give them back (sign -1)."""
    unit = state.first[job].unit
    for group in range(state.first[job].group, state.first[job + 1].group):
        for _ in range(state.group_count[group]):
            if unit < last:
                hold_on_node(state, state.units[unit].node, state.group_amount[group], sign, start, end)
            unit += 1


@part
def _hold_power(state, job, sign, start, end):
    """Take the power that a job draws, if the site's is limited."""
    if state.clock.limited > 0:
        state.watts[0] = state.jobs[job].power
        row = plan_rows(state) + state.clock.nodes
        hold_units(state.times, state.free, state.length, row, state.watts, sign, start, end)


@part
def _take_for_group(state, group, unit, start, end, holds):
    """Give the units of a group the first nodes with room, held if ``holds`` is 1; returns how many have one."""
    wanted, part_of_last = state.group_count[group], np.int64(0)
    fitting = list_fitting(
        state.bunch, state.bunch_times, state.bunch_free, state.clock.bunches, state.known, state.least[0],
        state.group_amount[group], state.group_count[group], start, end,
    )  # fmt: skip
    while wanted > 0:
        bunch, next_head = first_listed(state.bunch, state.known, fitting)
        if bunch == NOBODY:
            break
        node = state.bunch[AT, bunch]
        while node != NOBODY and node < next_head and wanted > 0:
            copies = min(state.bunch[ROOM, bunch], wanted)
            for _ in range(copies):
                state.units[unit].node = node
                unit += 1
            wanted -= copies
            part_of_last = copies
            state.bunch[TAKEN, bunch] += 1
            state.bunch[LAST, bunch] = node
            node = state.member[NEXT, node]
        state.bunch[AT, bunch] = node
        if wanted == 0 and holds > 0 and part_of_last < state.bunch[ROOM, bunch]:
            _hold_part_of_last(state, bunch, group, part_of_last, start, end)
    if holds > 0:
        for place in range(fitting):
            bunch = state.known[place]
            if state.bunch[TAKEN, bunch] > 0:
                count, last = state.bunch[TAKEN, bunch], state.bunch[LAST, bunch]
                take_first(state, bunch, count, last, group, state.bunch[ROOM, bunch], start, end)
    return state.group_count[group] - wanted


@part
def _hold_part_of_last(state, bunch, group, copies, start, end):
    """Hold the last node that was taken of a bunch for fewer units than it has room for."""
    last = state.bunch[LAST, bunch]
    state.bunch[TAKEN, bunch] -= 1
    state.bunch[LAST, bunch] = state.member[BEFORE, last]
    hold_on_node(state, last, state.group_amount[group], copies, start, end)


@part
def _next_change(state, moment):
    """The first moment after a given one at which anything changes on a node; else NEVER."""
    change = NEVER
    for bunch in range(state.clock.bunches):
        if state.bunch[SIZE, bunch] > 0:
            for entry in range(state.bunch[LENGTH, bunch]):
                if state.bunch_times[bunch, entry] > moment:
                    change = min(change, state.bunch_times[bunch, entry])
                    break
    return change
