"""Holding work for cheaper hours: until when a job is held, where the hours still have room for it."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.energy import energy_cost, entry_after
from planner.online.kernel.likely import (
    backlog,
    length_like,
    likely_length,
    load_lately,
    remembered,
    shows_the_way,
)
from planner.online.kernel.state import (
    AHEAD_S,
    CAPACITY,
    END_JOB,
    ESTIMATE,
    EUR_PER_WAITING_HOUR,
    EXPECTED_END,
    HOLDS,
    LATEST,
    MAY_HOLD,
    QUEUE,
    QUEUED,
    RUNNING,
    START,
    WIDTH,
    WISH,
)

MOST_BACKLOG = 0.125
"""Where more work waits for room than fills this part of the time ahead, nothing is held: there are no spare hours."""

MOST_LOAD = 1.0
"""Where more work came lately than the machine can do, nothing is held: what idles today is not earned today."""

SECONDS_PER_HOUR = 3600.0


@part
def hold_all(state, now):
    """Decide anew for every waiting job until when it is held, in the order of the queue; only with hours to spare."""
    if state.clock[MAY_HOLD] == 0:
        return
    is_clear = backlog(state, now) <= MOST_BACKLOG * state.clock[CAPACITY] * state.clock[AHEAD_S]
    state.clock[HOLDS] = np.int64(is_clear and load_lately(state, now) <= MOST_LOAD)
    _clear_room(state, now)
    for place in range(state.clock[QUEUED]):
        hold(state, state.job[QUEUE, place], now)


@part
def hold(state, job, now):
    """Note when a job had best start: the cheapest time within its promise, an hour of waiting at its price.

    Only hours count in which there is room beside what runs and what is held for them already. What a job costs is
    straight in its start between the moments at which its start or its end passes a change of price, so only these are
    looked at.
    """
    state.job[WISH, job] = now
    last = state.job[LATEST, job]
    if state.clock[HOLDS] == 0 or last <= now or shows_the_way(state, job):
        return
    length = likely_length(state, job)
    best = _expected_cost(state, job, now)
    edge = entry_after(state, now)
    while edge < state.price_s.shape[0] and state.price_s[edge] - length <= last:
        for moment in (state.price_s[edge], state.price_s[edge] - length):
            if now < moment <= last:
                cost = _expected_cost(state, job, moment)
                cost += state.worth[EUR_PER_WAITING_HOUR] * (moment - now) / SECONDS_PER_HOUR
                if cost < best and _has_room(state, job, moment, moment + length):
                    best = cost
                    state.job[WISH, job] = moment
        edge += 1
    if state.job[WISH, job] > now:
        _take_room(state, job, state.job[WISH, job], state.job[WISH, job] + length)
    else:
        _take_first_room(state, job, now, length)


@part
def _expected_cost(state, job, start):
    """What a job's energy costs on average if it starts at a moment and lasts like one of those remembered [EUR]."""
    row, count = remembered(state, job)
    if count == 0:
        return energy_cost(state, job, start, start + max(np.int64(1), state.job[ESTIMATE, job]))
    cost = 0.0
    for place in range(count):
        cost += energy_cost(state, job, start, start + length_like(state, job, row, place))
    return cost / count


@part
def _clear_room(state, now):
    """Note the room of every stretch of one price from now on, beside what runs for as long as is likely."""
    for k in range(state.room.shape[0]):
        length = max(np.int64(0), state.price_s[k + 1] - max(now, state.price_s[k]))
        state.room[k] = float(state.clock[CAPACITY]) * length
    for place in range(state.clock[RUNNING]):
        job = state.job[END_JOB, place]
        end = state.job[START, job] + likely_length(state, job)
        _take_room(state, job, now, end if end > now else state.job[EXPECTED_END, job])


@part
def _has_room(state, job, start, end):
    """Whether all stretches that a run would touch have room for it."""
    k = max(np.int64(0), entry_after(state, start) - 1)
    while k < state.room.shape[0] and state.price_s[k] < end:
        if state.room[k] < state.job[WIDTH, job] * _overlap(state, k, start, end):
            return False
        k += 1
    return True


@part
def _take_room(state, job, start, end):
    """Take the room of a run from the stretches that it touches."""
    k = max(np.int64(0), entry_after(state, start) - 1)
    while k < state.room.shape[0] and state.price_s[k] < end:
        state.room[k] -= state.job[WIDTH, job] * _overlap(state, k, start, end)
        k += 1


@part
def _take_first_room(state, job, now, length):
    """Take the room of a job that is not held from the first stretches that have any: others may be in its way."""
    work = float(state.job[WIDTH, job]) * length
    k = max(np.int64(0), entry_after(state, now) - 1)
    while k < state.room.shape[0] and work > 0:
        taken = min(max(state.room[k], 0.0), work)
        state.room[k] -= taken
        work -= taken
        k += 1


@part
def _overlap(state, k, start, end):
    """How long a run lasts within a stretch of one price [s]."""
    return max(np.int64(0), min(end, state.price_s[k + 1]) - max(start, state.price_s[k]))
