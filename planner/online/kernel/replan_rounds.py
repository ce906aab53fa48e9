"""What a scheduling round does when the plan is kept true all day: promises are guarded, and work waits where it pays.

Every waiting job has a guard: a reservation as late as its promise allows, so that the promise can be kept whatever is
started before. In each round, in the order of the queue, every job starts that has room now beside the guards of all
others, unless it is held for a cheaper hour. A guard that comes due starts its job.

The promise: no job starts later than its reference start plus the largest delay that the site allows. The reference
start is when the job, on arrival, would start under plain list scheduling in submit order, with the same estimates.
"""

from __future__ import annotations

import math

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER, copy_rows
from planner.online.kernel.move_guards import make_room
from planner.online.kernel.nodes import earliest_start, hold_job, idle_now, latest_start, plan_rows
from planner.online.kernel.queue_order import begin, drop_started, mark_started
from planner.online.kernel.reservation_rounds import cancel, keep, restore, save
from planner.online.kernel.state import (
    BACKFILL,
    BROKEN,
    CANCELLED,
    CAPACITY,
    DUE,
    ESTIMATE,
    EVERY_S,
    HOLDS,
    LATEST,
    LISTED_AT,
    MACHINE,
    MAX_DELAY_S,
    NODE,
    NONE_YET,
    POWER,
    QUEUE,
    QUEUED,
    REFERENCE,
    RESERVED,
    SAVED,
    START,
    TICK,
    UNITS,
    USED_AT,
    WIDTH,
    WISH,
)

BACKWARD, BY_PROMISE, BY_SUBMISSION = range(3)
"""Ways to place all guards."""

SPARE = 0.5
"""A machine that is busy in at most this part of its room has room in every hour."""

MEMORY_S = 86400.0
"""How far back the use of the machine is remembered [s]: an hour that long ago counts a third."""

MOST_TRIES = 8
"""How many jobs of a round may fail to make others move, before the rest are only tried beside all guards."""

MILLIWATTS_PER_KW = 1e6
SECONDS_PER_HOUR = 3600.0


@part
def replan_round(state, now):
    """Guard new jobs, decide what is held, start what is due and what has room."""
    if state.clock[BROKEN] > 0:
        _guard_all(state, now)
    state.clock[LISTED_AT] = NONE_YET
    _receive(state, now)
    if now >= state.clock[TICK]:
        if state.clock[HOLDS] > 0:
            _set_level(state, now)
        for place in range(state.clock[QUEUED]):
            _wish(state, state.job[QUEUE, place], now)
        state.clock[TICK] = (now // state.clock[EVERY_S] + 1) * state.clock[EVERY_S]
    _start_due(state, now)
    _start_what_fits(state, now)
    _note_use(state, now)


@part
def next_change(state, now):
    """The next second at which a guard comes due, a hold ends or holds are decided again; else NEVER."""
    size = state.clock[QUEUED]
    change = state.clock[TICK] if size > 0 and state.clock[HOLDS] > 0 else NEVER
    for place in range(size):
        job = state.job[QUEUE, place]
        change = min(change, state.job[RESERVED, job])
        if state.job[WISH, job] > now:
            change = min(change, state.job[WISH, job])
    return change


@part
def _receive(state, now):
    """Give every new job its reference start, its promise and its guard."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        if state.job[RESERVED, job] == NONE_YET:
            reference = _reference_start(state, place, now)
            state.job[REFERENCE, job] = reference
            state.job[LATEST, job] = reference + state.clock[MAX_DELAY_S]
            _wish(state, job, now)
            guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
            if guard >= 0:
                keep(state, job, guard)
            else:
                _guard_with(state, job, now)


@part
def _guard_with(state, job, now):
    """Guard a job that has no room within its promise: move the guards of others, if that breaks no promise.

    Otherwise the others stay. The job is guarded as early as possible beside them, and no more than that is promised.
    """
    state.job[RESERVED, job] = CANCELLED
    _advance(state, now)
    guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
    if guard >= 0:
        keep(state, job, guard)
        _put_off(state, now)
        return
    broken = _broken(state)
    save(state)
    _guard_all(state, now)
    if _broken(state) > broken:
        cancel(state, job)
        restore(state)
        guard = earliest_start(state, MACHINE, job, now, NEVER - 1)
        state.job[LATEST, job] = guard
        keep(state, job, guard)


@part
def _advance(state, now):
    """In submit order, move every guard to its earliest start beside all others; none moves later."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        guard = state.job[RESERVED, job]
        if guard > now:
            _save_nodes(state, job)
            cancel(state, job)
            start = earliest_start(state, MACHINE, job, now, guard)
            if start >= guard:
                _restore_nodes(state, job)
                start = guard
            keep(state, job, start)


@part
def _put_off(state, now):
    """The latest promise first, move every guard as late as promised beside all others; none moves earlier."""
    _sort_by_promise(state)
    size = state.clock[QUEUED]
    for back in range(size):
        job = state.job[DUE, size - 1 - back]
        guard = state.job[RESERVED, job]
        if now <= guard < state.job[LATEST, job]:
            _save_nodes(state, job)
            cancel(state, job)
            start = latest_start(state, MACHINE, job, guard, state.job[LATEST, job])
            if start <= guard:
                _restore_nodes(state, job)
                start = guard
            keep(state, job, start)


@part
def _broken(state):
    """How many guards are later than promised."""
    count = np.int64(0)
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        count += state.job[RESERVED, job] > state.job[LATEST, job]
    return count


@part
def _reference_start(state, place, now):
    """When the job at a place of the submit order would start under list scheduling; the jobs before it stand.

    Jobs that arrive in one second share one list.
    """
    plan = plan_rows(state)
    first = place
    if state.clock[LISTED_AT] != now:
        copy_rows(state.times, state.free, state.length, plan)
        for other in range(state.clock[QUEUED]):
            job = state.job[BACKFILL, other]
            if state.job[RESERVED, job] >= 0:
                _lift(state, plan, job)
        first = np.int64(0)
        state.clock[LISTED_AT] = now
    start = now
    for other in range(first, place + 1):
        job = state.job[BACKFILL, other]
        _save_nodes(state, job)
        start = earliest_start(state, plan, job, now, NEVER - 1)
        hold_job(state, plan, job, np.int64(1), start, start + max(np.int64(1), state.job[ESTIMATE, job]))
        _restore_nodes(state, job)
    return start


@part
def _guard_all(state, now):
    """Make all guards anew, in the first way that keeps every promise; else in the one that keeps the most.

    As late as promised, the latest first; as early as possible, by promise; as early as possible, by submission.
    """
    fewest, best = NEVER, BACKWARD
    for way in (BACKWARD, BY_PROMISE, BY_SUBMISSION):
        broken = _guard_in_order(state, way, now)
        if broken < fewest:
            fewest, best = broken, way
        if broken == 0:
            return
    _guard_in_order(state, best, now)


@part
def _guard_in_order(state, way, now):
    """Make all guards anew in one of the ways; returns how many promises are broken."""
    size = state.clock[QUEUED]
    for place in range(size):
        if state.job[RESERVED, state.job[QUEUE, place]] >= 0:
            cancel(state, state.job[QUEUE, place])
    _sort_by_promise(state)
    broken = np.int64(0)
    for place in range(size):
        if way == BACKWARD:
            job = state.job[DUE, size - 1 - place]
        elif way == BY_PROMISE:
            job = state.job[DUE, place]
        else:
            job = state.job[BACKFILL, place]
        if state.job[RESERVED, job] == CANCELLED:
            guard = np.int64(-1)
            if way == BACKWARD:
                guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
            if guard < 0:
                guard = earliest_start(state, MACHINE, job, now, NEVER - 1)
                broken += guard > state.job[LATEST, job]
            keep(state, job, guard)
    return broken


@part
def _sort_by_promise(state):
    """List the waiting jobs by their promise, then by submit order."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        other = place
        while other > 0 and state.job[LATEST, state.job[DUE, other - 1]] > state.job[LATEST, job]:
            state.job[DUE, other] = state.job[DUE, other - 1]
            other -= 1
        state.job[DUE, other] = job


@part
def _start_due(state, now):
    """Start the jobs whose guards are due."""
    started = False
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] == now:
            mark_started(state, job, now)
            started = True
    if started:
        drop_started(state)


@part
def _start_what_fits(state, now):
    """In the order of the queue, start every job that is not held and has room now beside the guards of the others."""
    idle = idle_now(state)
    tries = MOST_TRIES
    started = False
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[START, job] >= 0 or state.job[WIDTH, job] > idle or state.job[WISH, job] > now:
            continue
        if _fits_now(state, job, now):
            begin(state, job, now)
        elif tries > 0 and make_room(state, job, now):
            mark_started(state, job, now)
        else:
            tries -= 1
            continue
        idle = idle_now(state)
        started = True
    if started:
        drop_started(state)
    _start_due(state, now)


@part
def _fits_now(state, job, now):
    """Whether a job has room now beside the guards of others; if so, its own guard is given back."""
    guard = state.job[RESERVED, job]
    _save_nodes(state, job)
    cancel(state, job)
    if earliest_start(state, MACHINE, job, now, now) == now:
        return True
    _restore_nodes(state, job)
    keep(state, job, guard)
    return False


@part
def _wish(state, job, now):
    """Note when a job had best start: the cheapest time within its promise, an hour of waiting at its price.

    Hours that are cheaper than the level count as if they cost that much: the machine is full then anyway. What a job
    costs is straight in its start between the moments at which its start or its end passes a change of price, so only
    these are looked at.
    """
    state.job[WISH, job] = now
    last = state.job[LATEST, job]
    if state.clock[HOLDS] == 0 or last <= now:
        return
    length = max(np.int64(1), state.job[ESTIMATE, job])
    kw = state.job[POWER, job] / MILLIWATTS_PER_KW
    best = kw * (_paid(state, now + length) - _paid(state, now))
    for edge in range(state.price_s.shape[0]):
        for moment in (state.price_s[edge], state.price_s[edge] - length):
            if now < moment <= last:
                cost = kw * (_paid(state, moment + length) - _paid(state, moment))
                cost += state.worth[0] * (moment - now) / SECONDS_PER_HOUR
                if cost < best:
                    best = cost
                    state.job[WISH, job] = moment
        if state.price_s[edge] - length > last:
            break


@part
def _set_level(state, now):
    """Raise every price to the level: what the dearest of the hours costs that the machine needs anyway.

    A machine that was busy lately in a part of its room, beyond what is always spare, needs as large a part of the
    hours within the promise: the cheapest ones. Waiting for a cheaper one of these gains nothing; others want it too.
    """
    edges, prices, sums = state.price_s, state.price, state.price_sum
    until = now + state.clock[MAX_DELAY_S]
    needed = max(0.0, (state.use[0] - SPARE) / (1.0 - SPARE)) * (until - now)
    level, filled = -np.inf, 0.0
    while filled < needed:
        following = np.inf
        for k in range(prices.shape[0]):
            if edges[k + 1] > now and edges[k] < until and level < prices[k] < following:
                following = prices[k]
        if following == np.inf:
            break
        level = following
        for k in range(prices.shape[0]):
            if edges[k + 1] > now and edges[k] < until and prices[k] == level:
                filled += min(edges[k + 1], until) - max(edges[k], now)
    sums[0] = 0.0
    for k in range(prices.shape[0]):
        sums[k + 1] = sums[k] + max(prices[k], level) * (edges[k + 1] - edges[k]) / SECONDS_PER_HOUR


@part
def _note_use(state, now):
    """Bring up to date which part of the machine was in use lately: the mean, older hours counting less and less."""
    passed = now - state.clock[USED_AT]
    if passed > 0:
        weight = 1.0 - math.exp(-passed / MEMORY_S)
        state.use[0] += (state.use[1] - state.use[0]) * weight
        state.clock[USED_AT] = now
    state.use[1] = 1.0 - idle_now(state) / state.clock[CAPACITY]


@part
def _paid(state, moment):
    """What a kW costs from the first moment of the prices until a given one [EUR]."""
    edges, sums = state.price_s, state.price_sum
    low, high = 0, edges.shape[0] - 1
    if moment <= edges[0]:
        return 0.0
    if moment >= edges[high]:
        return sums[high]
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= moment:
            low = middle
        else:
            high = middle
    return sums[low] + (sums[high] - sums[low]) * (moment - edges[low]) / (edges[high] - edges[low])


@part
def _lift(state, rows, job):
    """Give a job's guard back on other rows, where it was copied to."""
    start = state.job[RESERVED, job]
    hold_job(state, rows, job, np.int64(-1), start, start + max(np.int64(1), state.job[ESTIMATE, job]))


@part
def _save_nodes(state, job):
    """Note the nodes of a job."""
    for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
        state.unit[SAVED, unit] = state.unit[NODE, unit]


@part
def _restore_nodes(state, job):
    """Bring back the noted nodes of a job."""
    for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
        state.unit[NODE, unit] = state.unit[SAVED, unit]
