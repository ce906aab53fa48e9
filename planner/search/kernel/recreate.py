"""How a step puts its jobs back: one by one, at their earliest starts or where they pay best."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.search.kernel.chance import below, fraction
from planner.search.kernel.money import piece_at
from planner.search.kernel.pack import pack_equal
from planner.search.kernel.place import earliest_start
from planner.search.kernel.stand import LOOKS, THRIFTY, put_on


@part
def recreate(board, jobs, money, tally, stand, habits, count):
    """Place the chosen jobs again, one by one, in an order by one of their sizes with some chance in it."""
    key = below(stand.stream, stand.keys.shape[0] + 1)
    if fraction(stand.stream) < 0.4:
        key = np.int64(THRIFTY)
    priced = fraction(stand.stream) < habits.priced
    for index in range(count):
        noise = fraction(stand.stream)
        stand.rank[index] = noise
        if key < stand.keys.shape[0]:
            stand.rank[index] = stand.keys[key, stand.out[index]] * (1.0 + 0.3 * noise)
    # The chosen jobs stay in place, so that they can be put back; `rank` is consumed from the smallest on.
    for _ in range(count):
        best = np.int64(-1)
        for index in range(count):
            if stand.rank[index] < np.inf and (best < 0 or stand.rank[index] < stand.rank[best]):
                best = index
        stand.rank[best] = np.inf
        _insert(board, jobs, money, tally, stand, habits, stand.out[best], priced)


@part
def _insert(board, jobs, money, tally, stand, habits, job, priced):
    """Place one job, at its earliest start or where it costs least among a few times, or leave it waiting."""
    day_end = board.rules[1]
    start = earliest_start(board, jobs, job, jobs.release[job], stand.node_of_unit)
    if priced or habits.may_refuse:
        value = _gain(money, tally, jobs, stand, job, start, day_end)
        if priced and start < day_end:
            at = start
            _best_times(money, tally, jobs, stand, job, start, day_end)
            for look in range(LOOKS):
                if stand.times[look] < 0:
                    continue
                other = earliest_start(board, jobs, job, stand.times[look], stand.node_of_unit)
                gained = _gain(money, tally, jobs, stand, job, other, day_end)
                if gained > value:
                    at, value = other, gained
            start = earliest_start(board, jobs, job, at, stand.node_of_unit)
        if habits.may_refuse and value < 0:
            start = day_end
    units = stand.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    if start >= day_end:
        for unit in range(units.shape[0]):
            units[unit] = -1
        return
    end = start + jobs.duration[job]
    if jobs.group_ptr[job + 1] - jobs.group_ptr[job] == 1:
        pack_equal(board, jobs.group_amount[jobs.main[job]], start, end, units)
    put_on(board, jobs, money, tally, stand, job, start)


@part
def _best_times(money, tally, jobs, stand, job, start, day_end):
    """Fill ``times`` with the best-paying starts after a given one, room or not: at an edge, or ending at one.

    Now and then a good time is overlooked, so that jobs do not all crowd into the same hour.
    """
    for look in range(LOOKS):
        stand.times[look] = -1
        stand.gains[look] = -np.inf
    for edge in range(money.segment_of.shape[0]):
        for aligned in range(2):
            moment = money.edges[edge]
            if aligned == 1:
                moment = money.edges[edge + 1] - jobs.duration[job]
            if moment <= start or fraction(stand.stream) < 0.2:
                continue
            gained = _gain(money, tally, jobs, stand, job, moment, day_end)
            for look in range(LOOKS):
                if gained > stand.gains[look]:
                    for later in range(LOOKS - 1, look, -1):
                        stand.times[later], stand.gains[later] = stand.times[later - 1], stand.gains[later - 1]
                    stand.times[look], stand.gains[look] = moment, gained
                    break


@part
def _gain(money, tally, jobs, stand, job, start, day_end):
    """What a job would earn at a start, at the present rates; minus infinity when it cannot start today."""
    if start >= day_end:
        return -np.inf
    end = min(start + jobs.duration[job], day_end)
    gain = stand.earns[job] * (end - start)
    per_s = jobs.power[job] / 3.6e9
    piece = piece_at(money.edges, start)
    while piece < money.segment_of.shape[0] and money.edges[piece] < end:
        seconds = min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
        gain -= per_s * seconds * tally.rate[money.segment_of[piece]]
        piece += 1
    return gain
