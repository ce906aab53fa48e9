"""The main loop of RebuildSearch: take a few jobs out, put them back otherwise, keep what pays.

One step: choose jobs that lie near each other (`_ruin`), lift them off the board, let some waiting jobs compete with
them, and place them all again one by one in a new order (`_recreate`). The day's profit is that of `settle`. A worse
plan is kept with a probability that falls with the loss and with the temperature; otherwise everything goes back to
where it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planner.compiled import kernel
from planner.domain.columns import Floats, Ints
from planner.search.kernel.chance import below, fraction
from planner.search.kernel.money import add_job, piece_at, profit
from planner.search.kernel.pack import pack_equal
from planner.search.kernel.place import earliest_start, hold_job, lift_job

STEPS, ACCEPTED, IMPROVED = 0, 1, 2
"""Counts of a search."""

CURRENT, BEST = 0, 1
"""Profits of a search [EUR]."""

LARGE, LONG, WIDE, SHORT, THRIFTY = 0, 1, 2, 3, 4
"""The sizes that jobs can be put back by; each is smallest for the job that goes first."""

LOOKS = 3
"""How many of the best-paying times are looked at for a job."""


class Walk(NamedTuple):
    """Where a search stands; the rest is scratch space.

    Attributes
    ----------
    start_of, node_of_unit
        The present placement.
    best_start_of, best_node_of_unit
        The best one so far.
    members, slot, placed
        The jobs that may be moved, the placed ones first; where each stands in that list (-1: it may not be moved); how
        many are placed.
    keys
        Sizes of the jobs that they can be put back by; shape (keys, jobs).
    near, near_at
        The jobs in the order of their start, and in that of their first node and start, as they were when the search
        was last looked at; and where each stands in these orders.
    margin
        Profit of each job per core-equivalent and second, at the day's mean cost [EUR].
    first_node
        Node of the first unit of each placed job.
    earns
        What each job earns a second on the first class that it fits [EUR].
    profits, counts, stream
        Profit now and at best; steps, accepted and improving ones; random numbers.
    out, rank, old_start_of, old_nodes, times, gains
        Jobs of this step, their order, where they were, and times to look at.
    """

    start_of: Ints
    node_of_unit: Ints
    best_start_of: Ints
    best_node_of_unit: Ints
    members: Ints
    slot: Ints
    placed: Ints
    keys: Floats
    near: Ints
    near_at: Ints
    margin: Floats
    first_node: Ints
    earns: Floats
    profits: Floats
    counts: Ints
    stream: npt.NDArray[np.uint64]
    out: Ints
    rank: Floats
    old_start_of: Ints
    old_nodes: Ints
    times: Ints
    gains: Floats


class Habits(NamedTuple):
    """How a search goes about it.

    Attributes
    ----------
    largest
        Most jobs taken out in a step.
    guests
        Most waiting jobs that compete in a step.
    priced
        Chance that jobs go where they cost least among a few times, instead of at their earliest start.
    may_refuse
        Whether jobs that lose money may be left waiting.
    """

    largest: int
    guests: int
    priced: float
    may_refuse: bool


@kernel
def rebuild(board, jobs, money, tally, walk, habits, temperature, steps):
    """Take a number of steps; returns how many were taken: fewer when a timeline may run out of room."""
    walk.profits[CURRENT] = profit(money, tally, board)
    for step in range(steps):
        if _is_tight(board, habits):
            return step
        count = _ruin(walk, habits)
        if count == 0:
            return steps
        _lift(board, jobs, money, tally, walk, count)
        _recreate(board, jobs, money, tally, walk, habits, count)
        found = profit(money, tally, board)
        walk.counts[STEPS] += 1
        loss = walk.profits[CURRENT] - found
        if loss <= 0 or (temperature > 0 and fraction(walk.stream) < np.exp(-loss / temperature)):
            walk.profits[CURRENT] = found
            walk.counts[ACCEPTED] += 1
            if found > walk.profits[BEST]:
                walk.counts[IMPROVED] += 1
                walk.profits[BEST] = found
                _note_best(walk)
        else:
            _undo(board, jobs, money, tally, walk, count)
    return steps


@kernel
def _is_tight(board, habits):
    """Whether a timeline might run out of room within one step."""
    margin = 4 * (habits.largest + habits.guests)
    longest = np.int64(0)
    for node in range(board.length.shape[0]):
        longest = max(longest, board.length[node])
    return longest + margin > board.times.shape[1]


@kernel
def _ruin(walk, habits):
    """Choose the jobs of a step: some placed ones near each other in time or on the machine, and some waiting ones."""
    stream, out, placed = walk.stream, walk.out, walk.placed[0]
    waiting = walk.members.shape[0] - placed
    count = np.int64(0)
    if placed > 0:
        wanted = min(placed, 1 + below(stream, habits.largest))
        seed = walk.members[below(stream, placed)]
        for _ in range(below(stream, 9)):
            rival = walk.members[below(stream, placed)]
            if walk.margin[rival] < walk.margin[seed]:
                seed = rival
        out[0] = seed
        count = np.int64(1)
        row = below(stream, walk.near.shape[0])
        reach = 1 + wanted * (1 + below(stream, 3))
        for _ in range(4 * wanted):
            if count >= wanted:
                break
            place = walk.near_at[row, seed] + below(stream, 2 * reach + 1) - reach
            if 0 <= place < walk.near.shape[1]:
                other = walk.near[row, place]
                if walk.start_of[other] >= 0 and walk.slot[other] >= 0 and not _is_out(out, count, other):
                    out[count] = other
                    count += 1
    if waiting > 0:
        guests = min(waiting, 1 + below(stream, habits.guests))
        tries = 1 + below(stream, 24)
        longest, widest = np.inf, np.inf
        if count > 0 and fraction(stream) < 0.8:
            longest, widest = 0.0, 0.0
            for index in range(count):
                longest = max(longest, walk.keys[SHORT, out[index]])
                widest -= walk.keys[WIDE, out[index]]
        for _ in range(guests):
            other, best_margin = walk.members[placed + below(stream, waiting)], -np.inf
            for _ in range(tries):
                rival = walk.members[placed + below(stream, waiting)]
                fits = walk.keys[SHORT, rival] <= longest and -walk.keys[WIDE, rival] <= widest
                if fits and walk.margin[rival] > best_margin:
                    other, best_margin = rival, walk.margin[rival]
            if not _is_out(out, count, other):
                out[count] = other
                count += 1
    return count


@kernel
def _is_out(out, count, job):
    """Whether a job is among the chosen ones."""
    found = False
    for index in range(count):
        found |= out[index] == job
    return found


@kernel
def _lift(board, jobs, money, tally, walk, count):
    """Take the chosen jobs off the board, and note where they were."""
    base = np.int64(0)
    for index in range(count):
        job = walk.out[index]
        walk.old_start_of[index] = walk.start_of[job]
        units = walk.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            walk.old_nodes[base + unit] = units[unit]
        base += units.shape[0]
        if walk.start_of[job] >= 0:
            _take_off(board, jobs, money, tally, walk, job)


@kernel
def _recreate(board, jobs, money, tally, walk, habits, count):
    """Place the chosen jobs again, one by one, in an order by one of their sizes with some chance in it."""
    key = below(walk.stream, walk.keys.shape[0] + 1)
    if fraction(walk.stream) < 0.4:
        key = np.int64(THRIFTY)
    priced = fraction(walk.stream) < habits.priced
    for index in range(count):
        noise = fraction(walk.stream)
        walk.rank[index] = noise
        if key < walk.keys.shape[0]:
            walk.rank[index] = walk.keys[key, walk.out[index]] * (1.0 + 0.3 * noise)
    # The chosen jobs stay in place, so that they can be put back; `rank` is consumed from the smallest on.
    for _ in range(count):
        best = np.int64(-1)
        for index in range(count):
            if walk.rank[index] < np.inf and (best < 0 or walk.rank[index] < walk.rank[best]):
                best = index
        walk.rank[best] = np.inf
        _insert(board, jobs, money, tally, walk, habits, walk.out[best], priced)


@kernel
def _insert(board, jobs, money, tally, walk, habits, job, priced):
    """Place one job, at its earliest start or where it costs least among a few times, or leave it waiting."""
    day_end = board.rules[1]
    start = earliest_start(board, jobs, job, jobs.release[job], walk.node_of_unit)
    if priced or habits.may_refuse:
        value = _gain(money, tally, jobs, walk, job, start, day_end)
        if priced and start < day_end:
            at = start
            _best_times(money, tally, jobs, walk, job, start, day_end)
            for look in range(LOOKS):
                if walk.times[look] < 0:
                    continue
                other = earliest_start(board, jobs, job, walk.times[look], walk.node_of_unit)
                gained = _gain(money, tally, jobs, walk, job, other, day_end)
                if gained > value:
                    at, value = other, gained
            start = earliest_start(board, jobs, job, at, walk.node_of_unit)
        if habits.may_refuse and value < 0:
            start = day_end
    units = walk.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    if start >= day_end:
        for unit in range(units.shape[0]):
            units[unit] = -1
        return
    end = start + jobs.duration[job]
    if jobs.group_ptr[job + 1] - jobs.group_ptr[job] == 1:
        pack_equal(board, jobs.group_amount[jobs.main[job]], start, end, units)
    _put_on(board, jobs, money, tally, walk, job, start)


@kernel
def _best_times(money, tally, jobs, walk, job, start, day_end):
    """Fill ``times`` with the best-paying starts after a given one, room or not: at an edge, or ending at one.

    Now and then a good time is overlooked, so that jobs do not all crowd into the same hour.
    """
    for look in range(LOOKS):
        walk.times[look] = -1
        walk.gains[look] = -np.inf
    for edge in range(money.segment_of.shape[0]):
        for aligned in range(2):
            moment = money.edges[edge]
            if aligned == 1:
                moment = money.edges[edge + 1] - jobs.duration[job]
            if moment <= start or fraction(walk.stream) < 0.2:
                continue
            gained = _gain(money, tally, jobs, walk, job, moment, day_end)
            for look in range(LOOKS):
                if gained > walk.gains[look]:
                    for later in range(LOOKS - 1, look, -1):
                        walk.times[later], walk.gains[later] = walk.times[later - 1], walk.gains[later - 1]
                    walk.times[look], walk.gains[look] = moment, gained
                    break


@kernel
def _gain(money, tally, jobs, walk, job, start, day_end):
    """What a job would earn at a start, at the present rates; minus infinity when it cannot start today."""
    if start >= day_end:
        return -np.inf
    end = min(start + jobs.duration[job], day_end)
    gain = walk.earns[job] * (end - start)
    per_s = jobs.power[job] / 3.6e9
    piece = piece_at(money.edges, start)
    while piece < money.segment_of.shape[0] and money.edges[piece] < end:
        seconds = min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
        gain -= per_s * seconds * tally.rate[money.segment_of[piece]]
        piece += 1
    return gain


@kernel
def _put_on(board, jobs, money, tally, walk, job, start):
    """Reserve a job's nodes, count its money, and list it as placed."""
    units = walk.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    hold_job(board, jobs, job, start, start + jobs.duration[job], units)
    add_job(money, tally, jobs, job, start, units, np.int64(1))
    walk.start_of[job] = start
    walk.first_node[job] = units[0]
    _swap(walk, walk.slot[job], walk.placed[0])
    walk.placed[0] += 1


@kernel
def _take_off(board, jobs, money, tally, walk, job):
    """Give a job's nodes back, discount its money, and list it as waiting."""
    start = walk.start_of[job]
    units = walk.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    add_job(money, tally, jobs, job, start, units, np.int64(-1))
    lift_job(board, jobs, job, start, start + jobs.duration[job], units)
    walk.start_of[job] = -1
    walk.placed[0] -= 1
    _swap(walk, walk.slot[job], walk.placed[0])


@kernel
def _swap(walk, one, other):
    """Exchange two places of the list of jobs."""
    first, second = walk.members[one], walk.members[other]
    walk.members[one], walk.members[other] = second, first
    walk.slot[first], walk.slot[second] = other, one


@kernel
def _undo(board, jobs, money, tally, walk, count):
    """Put the jobs of a step back to where they were."""
    for index in range(count):
        if walk.start_of[walk.out[index]] >= 0:
            _take_off(board, jobs, money, tally, walk, walk.out[index])
    base = np.int64(0)
    for index in range(count):
        job = walk.out[index]
        units = walk.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            units[unit] = walk.old_nodes[base + unit]
        base += units.shape[0]
        if walk.old_start_of[index] >= 0:
            _put_on(board, jobs, money, tally, walk, job, walk.old_start_of[index])


@kernel
def _note_best(walk):
    """Copy the present placement to the best one."""
    for job in range(walk.start_of.shape[0]):
        walk.best_start_of[job] = walk.start_of[job]
    for unit in range(walk.node_of_unit.shape[0]):
        walk.best_node_of_unit[unit] = walk.node_of_unit[unit]
