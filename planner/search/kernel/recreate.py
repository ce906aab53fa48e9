"""How a step puts its jobs back: one by one, at their earliest starts, where they pay best, or anywhere."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.compiled.edges import piece_at
from planner.machine.choose_nodes import pack_anywhere, pack_equal
from planner.machine.node_timelines import BEFORE
from planner.machine.place import earliest_start, first_turn
from planner.machine.rng import below, fraction
from planner.search.kernel.money import (
    bought_kwh,
    cooling_share,
    counted_seconds,
    end_of_row,
    fed_kwh,
    table_row,
    waiting_eur,
)
from planner.search.kernel.search_state import EARLIEST, PRICED, THRIFTY, WANDERING, put_on
from planner.units import MILLIWATT_SECONDS_PER_KWH

LOOKS = 3
"""How many of the best-paying times are looked at for a job."""

THRIFTY_CHANCE = 0.4
"""Chance that jobs go back by their profit for their power, instead of by a size drawn at random."""

NOISE = 0.3
"""Largest part by which chance raises a job's size when the order is made."""

REFUSAL_CHANCE = 0.25
"""Chance that a wandering job is left waiting, where the rules allow that."""

STAYS_CHANCE = 0.25
"""Chance that a wandering job takes its earliest start."""

STARTS_AT_EDGE_CHANCE, ENDS_AT_EDGE_CHANCE = 0.3, 0.6
"""Chance that a wandering job starts at an edge of the day's pieces; and, with that, that it starts or ends at one."""

OVERLOOKED_CHANCE = 0.2
"""Chance that a good time is overlooked."""


@part
def recreate(timelines, jobs, money, tally, state, habits, count):
    """Place the chosen jobs again, one by one, in an order by one of their sizes with some chance in it.

    None goes before one that it waits for.
    """
    key = below(state.stream, state.keys.shape[0] + 1)
    if fraction(state.stream) < THRIFTY_CHANCE:
        key = np.int64(THRIFTY)
    way = _way(state, habits)
    has_links = jobs.link.shape[1] > 0
    for index in range(count):
        noise = fraction(state.stream)
        state.rank[index] = noise
        if key < state.keys.shape[0]:
            state.rank[index] = state.keys[key, state.out[index]] * (1.0 + NOISE * noise)
    # The chosen jobs stay in place, so that they can be put back; `rank` is consumed from the smallest on.
    for _ in range(count):
        best = np.int64(-1)
        for index in range(count):
            is_less = state.rank[index] < np.inf and (best < 0 or state.rank[index] < state.rank[best])
            if is_less and (not has_links or _has_its_turn(jobs, state, count, state.out[index])):
                best = index
        state.rank[best] = np.inf
        _insert(timelines, jobs, money, tally, state, habits, state.out[best], way)


@part
def _has_its_turn(jobs, state, count, job):
    """Whether none of the chosen jobs that are not placed again yet must come before a job."""
    for row in range(jobs.link_ptr[BEFORE, job], jobs.link_ptr[BEFORE, job + 1]):
        for index in range(count):
            if state.out[index] == jobs.link[BEFORE, row, 0] and state.rank[index] < np.inf:
                return False
    return True


@part
def _way(state, habits):
    """Where this step puts its jobs back."""
    if habits.wanders > 0 and fraction(state.stream) < habits.wanders:
        return np.int64(WANDERING)
    return np.int64(PRICED) if fraction(state.stream) < habits.priced else np.int64(EARLIEST)


@part
def _insert(timelines, jobs, money, tally, state, habits, job, way):
    """Place one job, or leave it waiting where the rules allow that and every start found loses money.

    One whose deadline falls on it today goes anywhere before it, or as early as it can, and is not left waiting.
    """
    day_end = timelines.day_end_s
    last = min(state.latest[job], day_end - 1)
    may_refuse = habits.may_refuse and state.latest[job] >= day_end
    start = earliest_start(timelines, jobs, job, first_turn(jobs, job, state.start_of), state.node_of_unit)
    if way == WANDERING:
        start = _some_start(timelines, jobs, money, state, job, start, last)
        if may_refuse and fraction(state.stream) < REFUSAL_CHANCE:
            start = day_end
    elif way == PRICED or may_refuse:
        value = _gain(money, tally, jobs, state, job, start, last, True)
        if way == PRICED and start <= last:
            at = start
            _best_times(money, tally, jobs, state, job, start, last, habits.exact)
            for look in range(LOOKS):
                if state.times[look] < 0:
                    continue
                other = earliest_start(timelines, jobs, job, state.times[look], state.node_of_unit)
                gained = _gain(money, tally, jobs, state, job, other, last, True)
                if gained > value:
                    at, value = other, gained
            start = earliest_start(timelines, jobs, job, at, state.node_of_unit)
        if may_refuse and value < 0:
            start = day_end
    _put(timelines, jobs, money, tally, state, job, start, way)


@part
def _put(timelines, jobs, money, tally, state, job, start, way):
    """Put a job on the timelines at a start that has room; one from the end of the day on leaves it waiting."""
    units = state.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    if start >= timelines.day_end_s:
        for unit in range(units.shape[0]):
            units[unit] = -1
        return
    end = start + jobs.duration[job]
    if way == WANDERING and not pack_anywhere(timelines, jobs, job, start, end, state.stream, state.node_of_unit):
        earliest_start(timelines, jobs, job, start, state.node_of_unit)
        way = np.int64(EARLIEST)
    if way != WANDERING and jobs.group_ptr[job + 1] - jobs.group_ptr[job] == 1:
        pack_equal(timelines, jobs.group_amount[jobs.main[job]], start, end, units)
    put_on(timelines, jobs, money, tally, state, job, start)


@part
def _some_start(timelines, jobs, money, state, job, start, last):
    """A start that has room, up to the last one: from any moment on, from an edge, or such that the job ends at one."""
    if start > last or fraction(state.stream) < STAYS_CHANCE:
        return start
    moment = start + below(state.stream, last + 1 - start)
    draw = fraction(state.stream)
    if draw < ENDS_AT_EDGE_CHANCE:
        edge = money.edges[below(state.stream, money.edges.shape[0])]
        moment = edge if draw < STARTS_AT_EDGE_CHANCE else edge - jobs.duration[job]
    if moment <= start:
        return start
    found = earliest_start(timelines, jobs, job, moment, state.node_of_unit)
    return found if found <= last else earliest_start(timelines, jobs, job, start, state.node_of_unit)


@part
def _best_times(money, tally, jobs, state, job, start, last, exact):
    """Fill ``times`` with the best-paying starts after a given one, room or not.

    Looked at are starts at an edge of a piece of the day or that end at one, and where it is exact, those with which
    the job uses up the sun of a segment, or just reaches the next row of the table. Now and then a good time is
    overlooked, so that jobs do not all crowd into the same hour.
    """
    for look in range(LOOKS):
        state.times[look] = -1
        state.gains[look] = -np.inf
    for piece in range(money.segment_of.shape[0]):
        _consider(money, tally, jobs, state, job, money.edges[piece], start, last, exact)
        _consider(money, tally, jobs, state, job, money.edges[piece + 1] - jobs.duration[job], start, last, exact)
    if not exact or jobs.power[job] == 0:
        return
    first = np.int64(0)
    for segment in range(money.length.shape[0]):
        end = first + money.length[segment]
        energy = tally.by_segment[segment]
        sunny = money.solar[segment] * MILLIWATT_SECONDS_PER_KWH / (1.0 + cooling_share(money, segment, energy))
        for goal in (sunny, np.float64(end_of_row(money, segment, table_row(money, segment, energy)))):
            # A second less than it takes keeps the job within the sun or below the row.
            seconds = np.int64((goal - energy) / jobs.power[job])
            if 0 < seconds < money.length[segment]:
                _consider(money, tally, jobs, state, job, end - seconds, start, last, exact)
                _consider(money, tally, jobs, state, job, first + seconds - jobs.duration[job], start, last, exact)
        first = end


@part
def _consider(money, tally, jobs, state, job, moment, start, last, exact):
    """Note a start among the best if it is one; now and then it is overlooked."""
    if moment <= start or fraction(state.stream) < OVERLOOKED_CHANCE:
        return
    gained = _gain(money, tally, jobs, state, job, moment, last, exact)
    for look in range(LOOKS):
        if gained > state.gains[look]:
            for later in range(LOOKS - 1, look, -1):
                state.times[later], state.gains[later] = state.times[later - 1], state.gains[later - 1]
            state.times[look], state.gains[look] = moment, gained
            return


@part
def _gain(money, tally, jobs, state, job, start, last, exact):
    """What a job would earn at a start, with the waiting that it saves; minus infinity after the last one.

    Exact with the sun and the table's rows, or else at the present rates. Idle power and the demand charge are left to
    the profit of the whole plan.
    """
    if start > last:
        return -np.inf
    end = min(start + jobs.duration[job], money.edges[-1])
    gain = state.earns[job] * counted_seconds(money, start, end)
    if money.waits.shape[0] > 0:
        gain += waiting_eur(money, job, money.edges[-1]) - waiting_eur(money, job, start)
    piece, pieces = piece_at(money.edges, start), money.segment_of.shape[0]
    while piece < pieces and money.edges[piece] < end:
        segment = money.segment_of[piece]
        seconds = np.int64(0)
        while piece < pieces and money.segment_of[piece] == segment and money.edges[piece] < end:
            seconds += min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
            piece += 1
        added = jobs.power[job] * seconds
        if exact:
            before = tally.by_segment[segment]
            more = bought_kwh(money, segment, before + added) - bought_kwh(money, segment, before)
            gain -= more * money.price[segment]
            if money.feed[segment] > 0:
                lost = fed_kwh(money, segment, before) - fed_kwh(money, segment, before + added)
                gain -= lost * money.feed[segment]
        else:
            gain -= added / MILLIWATT_SECONDS_PER_KWH * tally.rate[segment]
    return gain
