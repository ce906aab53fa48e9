"""The placement kernel: jobs in a given order, each at the earliest start at which all its units have room.

For a job of U equal units from time t on, every node names its own earliest start with room for one unit, for two at
once, and so on. The U-th smallest of these is the next time at which the job can possibly start; when it is t itself,
the job starts there. No time is stepped through, and no start is passed over.

Two more things make it quick. A timeline joins equal neighbours, so full nodes are short. And what is learned of one
job serves later ones: reservations are only ever added, so a job that asks at least as much (units, amounts, time,
release) as an earlier one cannot start before the earliest start found for that one.

Odd units (those outside the job's largest group) are put one by one where they cost the fewest units of that group.
With at most one odd unit the start is exactly the earliest; with more, the earliest at which this rule finds room.

Cost of one placement: O(N log E) for N nodes with E timeline entries each, times the rounds until the U-th smallest
stands still (one or two as a rule).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from planner.search.timeline import NEVER, first_room, least_free, reserve

REMEMBERED = 48
"""How many earlier jobs' starts are kept to bound later ones."""


@njit(cache=True, nogil=True)
def place_in_order(  # type: ignore[no-untyped-def]
    order,
    release,
    duration,
    power,
    group_ptr,
    group_count,
    group_amount,
    unit_ptr,
    capacity,
    running_node,
    running_end,
    running_amount,
    running_job_end,
    running_job_power,
    power_limit,
    day_end,
):
    """Place jobs one by one; returns the start of each job and the node of each unit, -1 where deferred.

    ``power_limit`` below 0 means none. All times are seconds of the day, all amounts whole numbers.
    """
    # Plain literals would make numba compile a version of every callee for each of them.
    one, midnight, site = np.int64(1), np.int64(0), np.int64(0)
    node_count, resource_count = capacity.shape
    times = np.zeros((node_count, 8), np.int64)
    free = np.zeros((node_count, 8, resource_count), np.int64)
    length = np.ones(node_count, np.int64)
    for node in range(node_count):
        for resource in range(resource_count):
            free[node, 0, resource] = capacity[node, resource]
    site_times = np.zeros((1, 2 * (order.shape[0] + running_job_end.shape[0]) + 3), np.int64)
    site_free = np.full((1, site_times.shape[1], 1), power_limit, np.int64)
    site_length = np.ones(1, np.int64)
    job_power = np.zeros(1, np.int64)

    for unit in range(running_node.shape[0]):
        node = running_node[unit]
        if length[node] + 2 > times.shape[1]:
            times, free = _wider(times, free)
        reserve(times, free, length, node, running_amount[unit], midnight, running_end[unit])
    if power_limit >= 0:
        for job in range(running_job_end.shape[0]):
            job_power[0] = running_job_power[job]
            reserve(site_times, site_free, site_length, site, job_power, midnight, running_job_end[job])

    start_of = np.full(release.shape[0], -1, np.int64)
    node_of_unit = np.full(unit_ptr[-1], -1, np.int64)
    least = np.zeros((node_count, resource_count), np.int64)
    taken = np.zeros(node_count, np.int64)
    ready = np.zeros(max(64, node_count), np.int64)
    memory = np.zeros((REMEMBERED, resource_count + 5), np.int64)
    remembered = np.int64(0)

    for position in range(order.shape[0]):
        job = order[position]
        first, last = group_ptr[job], group_ptr[job + 1]
        main = first
        for group in range(first + 1, last):
            if group_count[group] > group_count[main]:
                main = group
        span = duration[job]
        job_power[0] = power[job]
        limited = power[job] if power_limit >= 0 else 0
        asked = group_amount[main]
        kept = min(remembered, REMEMBERED)
        start = _learned(memory, kept, asked, group_count[main], span, release[job], limited)

        while start < day_end:
            moved = start
            if power_limit >= 0:
                moved = first_room(site_times, site_free, site_length, site, job_power, one, span, moved, day_end - 1)
            for group in range(first, last):
                if moved < day_end:
                    moved, ready = earliest_for_group(
                        times,
                        free,
                        length,
                        capacity,
                        group_amount[group],
                        group_count[group],
                        span,
                        moved,
                        day_end - 1,
                        ready,
                    )
            if last - first == 1 and (moved == start or power_limit < 0):
                start = moved
                break
            if moved == start:
                if _pack_mixed(
                    times,
                    free,
                    length,
                    group_ptr,
                    group_count,
                    group_amount,
                    unit_ptr,
                    job,
                    main,
                    start,
                    start + span,
                    least,
                    taken,
                    node_of_unit,
                ):
                    break
                moved = _next_change(times, length, start)
            start = moved

        if last - first == 1:
            _remember(memory, remembered, asked, group_count[main], span, release[job], limited, start)
            remembered += 1
        if start >= day_end:
            continue

        start_of[job] = start
        if last - first == 1:
            _pack_equal(
                times,
                free,
                length,
                group_amount[main],
                start,
                start + span,
                least,
                node_of_unit[unit_ptr[job] : unit_ptr[job + 1]],
            )
        unit = unit_ptr[job]
        for group in range(first, last):
            for _ in range(group_count[group]):
                node = node_of_unit[unit]
                if length[node] + 2 > times.shape[1]:
                    times, free = _wider(times, free)
                reserve(times, free, length, node, group_amount[group], start, start + span)
                unit += 1
        if power_limit >= 0:
            reserve(site_times, site_free, site_length, site, job_power, start, start + span)
    return start_of, node_of_unit


@njit(cache=True, nogil=True)
def earliest_for_group(  # type: ignore[no-untyped-def]
    times, free, length, capacity, amount, count, duration, earliest, latest, ready
):
    """Earliest start from ``earliest`` to ``latest`` at which ``count`` equal units have room at once; else NEVER.

    ``ready`` is scratch space, returned because it may have to grow.
    """
    node_count = times.shape[0]
    one = np.int64(1)
    if count == 1:
        best = NEVER
        for node in range(node_count):
            start = first_room(times, free, length, node, amount, one, duration, earliest, min(latest, best - 1))
            if start < best:
                best = start
                if best == earliest:
                    break
        return best, ready
    while earliest <= latest:
        at_once, found = np.int64(0), np.int64(0)
        for node in range(node_count):
            copies = one
            while copies <= count:
                fits = True
                for resource in range(amount.shape[0]):
                    if copies * amount[resource] > capacity[node, resource]:
                        fits = False
                        break
                if not fits:
                    break
                start = first_room(times, free, length, node, amount, copies, duration, earliest, latest)
                if start == NEVER:
                    break
                if start == earliest:
                    at_once += 1
                    if at_once == count:
                        return earliest, ready
                if found == ready.shape[0]:
                    ready = _longer(ready)
                ready[found] = start
                found += 1
                copies += 1
        if found < count:
            return NEVER, ready
        earliest = _smallest(ready, found, count)
    return NEVER, ready


@njit(cache=True, nogil=True)
def _smallest(values, length, rank):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def _copies(least, amount, most):  # type: ignore[no-untyped-def]
    """How many equal units fit into what is free, at most ``most``."""
    copies = most
    for resource in range(amount.shape[0]):
        if amount[resource] > 0:
            copies = min(copies, least[resource] // amount[resource])
    return max(copies, 0)


@njit(cache=True, nogil=True)
def _copies_beside(least, other, amount, most):  # type: ignore[no-untyped-def]
    """How many equal units fit into what is free beside one other unit, at most ``most``."""
    copies = most
    for resource in range(amount.shape[0]):
        if amount[resource] > 0:
            copies = min(copies, (least[resource] - other[resource]) // amount[resource])
    return max(copies, 0)


@njit(cache=True, nogil=True)
def _pack_equal(times, free, length, amount, start, end, least, chosen):  # type: ignore[no-untyped-def]
    """Choose nodes for equal units in order of node number; there is room for all of them."""
    unit = 0
    for node in range(times.shape[0]):
        least_free(times, free, length, node, start, end, least[node])
        for _ in range(_copies(least[node], amount, chosen.shape[0] - unit)):
            chosen[unit] = node
            unit += 1
        if unit == chosen.shape[0]:
            return


@njit(cache=True, nogil=True)
def _pack_mixed(  # type: ignore[no-untyped-def]
    times,
    free,
    length,
    group_ptr,
    group_count,
    group_amount,
    unit_ptr,
    job,
    main,
    start,
    end,
    least,
    taken,
    node_of_unit,
):
    """Choose nodes for units of several sizes; returns whether all found room.

    Each odd unit goes where it costs the fewest units of the main group, ties to the lowest node number.
    """
    node_count = times.shape[0]
    one = np.int64(1)
    wanted = group_count[main]
    room = 0
    for node in range(node_count):
        least_free(times, free, length, node, start, end, least[node])
        taken[node] = _copies(least[node], group_amount[main], wanted)
        room += taken[node]
    unit = unit_ptr[job]
    main_unit = unit
    for group in range(group_ptr[job], group_ptr[job + 1]):
        if group == main:
            main_unit = unit
            unit += wanted
            continue
        for _ in range(group_count[group]):
            best, best_loss = -1, NEVER
            for node in range(node_count):
                if _copies(least[node], group_amount[group], one) == 0:
                    continue
                loss = taken[node] - _copies_beside(least[node], group_amount[group], group_amount[main], wanted)
                if loss < best_loss:
                    best, best_loss = node, loss
                    if loss == 0:
                        break
            if best < 0 or room - best_loss < wanted:
                return False
            for resource in range(group_amount.shape[1]):
                least[best, resource] -= group_amount[group, resource]
            taken[best] -= best_loss
            room -= best_loss
            node_of_unit[unit] = best
            unit += 1
    placed = 0
    for node in range(node_count):
        for _ in range(min(taken[node], wanted - placed)):
            node_of_unit[main_unit + placed] = node
            placed += 1
    return placed == wanted


@njit(cache=True, nogil=True)
def _next_change(times, length, moment):  # type: ignore[no-untyped-def]
    """The next time after a moment at which anything changes on any node."""
    soonest = NEVER
    for node in range(times.shape[0]):
        for entry in range(length[node]):
            if times[node, entry] > moment:
                soonest = min(soonest, times[node, entry])
                break
    return soonest


@njit(cache=True, nogil=True)
def _learned(memory, kept, amount, count, duration, release, power):  # type: ignore[no-untyped-def]
    """Latest start found for an earlier job that asked no more than this one; at least the release."""
    start = release
    resources = amount.shape[0]
    for row in range(kept):
        if (
            memory[row, resources + 4] > start
            and memory[row, resources] <= count
            and memory[row, resources + 1] <= duration
            and memory[row, resources + 2] <= release
            and memory[row, resources + 3] <= power
        ):
            asks_more = True
            for resource in range(resources):
                if memory[row, resource] > amount[resource]:
                    asks_more = False
                    break
            if asks_more:
                start = memory[row, resources + 4]
    return start


@njit(cache=True, nogil=True)
def _remember(memory, remembered, amount, count, duration, release, power, start):  # type: ignore[no-untyped-def]
    """Keep what a job asked and where it could start, in place of a like one or of the oldest."""
    resources = amount.shape[0]
    row = remembered % REMEMBERED
    for resource in range(resources):
        memory[row, resource] = amount[resource]
    memory[row, resources] = count
    memory[row, resources + 1] = duration
    memory[row, resources + 2] = release
    memory[row, resources + 3] = power
    memory[row, resources + 4] = start


@njit(cache=True, nogil=True)
def _wider(times, free):  # type: ignore[no-untyped-def]
    """Copies of the timelines with twice the room for entries."""
    node_count, width = times.shape
    more_times = np.zeros((node_count, 2 * width), np.int64)
    more_free = np.zeros((node_count, 2 * width, free.shape[2]), np.int64)
    for node in range(node_count):
        for entry in range(width):
            more_times[node, entry] = times[node, entry]
            for resource in range(free.shape[2]):
                more_free[node, entry, resource] = free[node, entry, resource]
    return more_times, more_free


@njit(cache=True, nogil=True)
def _longer(values):  # type: ignore[no-untyped-def]
    """A copy with twice the room."""
    more = np.zeros(2 * values.shape[0], np.int64)
    for index in range(values.shape[0]):
        more[index] = values[index]
    return more
