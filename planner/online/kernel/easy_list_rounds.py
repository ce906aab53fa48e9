"""What a scheduling round does under the policies that keep no reservations: strict, greedy, easy and list.

Every function gets the state and the second. The first rows of the timelines say what the running jobs leave free
until and after their expected ends.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER, entry_at
from planner.online.kernel.hold_one_job import has_left, is_kept_back
from planner.online.kernel.nodes import (
    earliest_start,
    hold_job,
    idle_now,
    may_start_now,
    plan_rows,
    restore_nodes,
    save_nodes,
)
from planner.online.kernel.plans import begin_plan, has_room_in_plan, is_pool, look_at_machine, place_in_plan
from planner.online.kernel.queue_order import begin, drop_gone
from planner.online.kernel.state import MACHINE


@part
def can_start(state, job, now):
    """Whether a job has room from now until its expected end, beside all that is held."""
    return earliest_start(state, MACHINE, job, now, now) == now


@part
def can_any_start(state, now):
    """Whether any waiting job has room from now until its expected end, beside all that is held."""
    idle = idle_now(state)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].width <= idle and can_start(state, job, now):
            return True
    return False


@part
def start_or_hold(state, job, now):
    """Start a job that has room now, unless it is held for cheaper hours; returns the width that it takes."""
    if is_kept_back(state, job, now):
        return np.int64(0)
    begin(state, job, now)
    return state.jobs[job].width


@part
def strict_round(state, now):
    """In order, start what fits, stop at the first that does not.

    The rules of that kind then look at the queue again when a job has ended or a node is back; while nothing runs there
    is no end to wait for.
    """
    if state.clock.blocked > 0 and state.clock.running > 0:
        return
    for place in range(state.clock.queued):
        job = state.queue[place]
        if not can_start(state, job, now):
            state.clock.blocked = state.clock.as_rule
            break
        start_or_hold(state, job, now)
    drop_gone(state)


@part
def greedy_round(state, now):
    """In order, start what fits, skip the rest."""
    idle = idle_now(state)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].width <= idle and may_start_now(state, job) and can_start(state, job, now):
            idle -= start_or_hold(state, job, now)
    drop_gone(state)


@part
def easy_round(state, now):
    """In order, start what fits; reserve for the first that does not; start others that do not delay it."""
    size = state.clock.queued
    place = 0
    while place < size and can_start(state, state.queue[place], now):
        start_or_hold(state, state.queue[place], now)
        place += 1
    if size - place > 1 and idle_now(state) > 0:
        if is_pool(state) and state.changes.shape[0] == 0:
            _start_before_shadow(state, state.queue[place], now)
        else:
            _start_beside_reservation(state, state.queue[place], now)
    drop_gone(state)


@part
def _start_beside_reservation(state, head, now):
    """Reserve room for the head; start, in backfill order, what leaves it room at that time, on whichever nodes."""
    shadow, until, spare = np.int64(-1), np.int64(-1), np.int64(0)
    idle = idle_now(state)
    moved = state.clock.rounds * MOST_TURNS  # counts on whenever the head gets other nodes
    taken_up = moved  # counts on whenever nodes are taken
    for place in range(state.clock.queued):
        job = state.backfill[place]
        width = state.jobs[job].width
        if width > idle or job == head or has_left(state, job, now) or not may_start_now(state, job):
            continue
        if shadow < 0:
            shadow, until, spare = _reserve(state, head, now)
        lasts = now + state.jobs[job].estimate > shadow
        found = _has_room_beside(state, job, now, moved)
        if not found and lasts and width <= spare and _may_ask(state, job, taken_up):
            found = _makes_way(state, head, job, now, shadow, until)
            if found:
                moved += 1
            else:
                _note_asked(state, job, taken_up)
        if found:
            taken = start_or_hold(state, job, now)
            taken_up += 1
            idle -= taken
            if lasts:
                spare -= taken
    if 0 <= shadow < NEVER:
        hold_job(state, MACHINE, head, np.int64(-1), shadow, until)


MOST_TURNS = np.int64(1 << 20)
"""More than the jobs that start in a round."""

BESIDE, LEAST_LENGTH, ASKED, LENGTH = range(4)
"""What is remembered of jobs of a shape: when one had no room beside the reservation, the shortest of these; when the
head made no way for one, and its length."""


@part
def _has_room_beside(state, job, now, moved):
    """Whether a job has room beside the reservation.

    In a round nodes only fill up, so until the head gets other nodes, who asks the same for as long as one that had no
    room is not looked at. Most jobs of a long queue end here.
    """
    refused, length = state.refused[state.jobs[job].shape], state.jobs[job].estimate
    if refused[BESIDE] == moved and length >= refused[LEAST_LENGTH]:
        return False
    if can_start(state, job, now):
        return True
    if state.clock.limited == 0:  # else power counts, which jobs of a shape do not share
        refused[BESIDE], refused[LEAST_LENGTH] = moved, length
    return False


@part
def _may_ask(state, job, taken_up):
    """Whether the head may make way for a job: not if it did not for one like it, and nothing has been taken since."""
    refused = state.refused[state.jobs[job].shape]
    return refused[ASKED] != taken_up or refused[LENGTH] != state.jobs[job].estimate


@part
def _note_asked(state, job, taken_up):
    """Remember that the head makes no way for a job."""
    refused = state.refused[state.jobs[job].shape]
    if state.clock.limited == 0:
        refused[ASKED], refused[LENGTH] = taken_up, state.jobs[job].estimate


@part
def _reserve(state, head, now):
    """Hold room for the head; returns from when, until when, and what is spare beside it then."""
    shadow = earliest_start(state, MACHINE, head, now, NEVER - 1)
    until = shadow + state.jobs[head].estimate
    if shadow == NEVER:
        return shadow, until, np.int64(0)
    hold_job(state, MACHINE, head, np.int64(1), shadow, until)
    return shadow, until, _idle_at(state, shadow)


@part
def _makes_way(state, head, job, now, shadow, until):
    """Whether a job has room now if the head gets other nodes at the same time; if so, these are noted for both."""
    save_nodes(state, head)
    hold_job(state, MACHINE, head, np.int64(-1), shadow, until)
    found = can_start(state, job, now)
    if found:
        end = now + state.jobs[job].estimate
        hold_job(state, MACHINE, job, np.int64(1), now, end)
        found = earliest_start(state, MACHINE, head, shadow, shadow) == shadow
        hold_job(state, MACHINE, job, np.int64(-1), now, end)
    if not found:
        restore_nodes(state, head)
    hold_job(state, MACHINE, head, np.int64(1), shadow, until)
    return found


@part
def _idle_at(state, moment):
    """What all nodes together have free of the first resource at a moment."""
    idle = np.int64(0)
    for node in range(state.clock.nodes):
        idle += max(np.int64(0), state.free[node, entry_at(state.times, state.length, node, moment), 0])
    return idle


@part
def _start_before_shadow(state, head, now):
    """The same on one pool, where the reservation is a moment, the shadow time, and what is spare beside the head then.

    As long as the pool has no outages, what is free only grows until the shadow time, so a job delays nobody if it ends
    by then or takes what is spare.
    """
    shadow, spare = np.int64(-1), np.int64(0)
    idle = idle_now(state)
    for place in range(state.clock.queued):
        job = state.backfill[place]
        width = state.jobs[job].width
        if width > idle or job == head or has_left(state, job, now):
            continue
        if shadow < 0:
            shadow, spare = _shadow(state, head, now)
        in_time = now + state.jobs[job].estimate <= shadow
        if in_time or width <= spare:
            taken = start_or_hold(state, job, now)
            idle -= taken
            if not in_time:
                spare -= taken


@part
def _shadow(state, head, now):
    """When the head can start, and what is spare beside it then."""
    pool = np.int64(0)
    shadow = earliest_start(state, MACHINE, head, now, NEVER - 1)
    free = state.free[pool, entry_at(state.times, state.length, pool, shadow), 0]
    return shadow, free - state.jobs[head].width


@part
def list_round(state, now):
    """Forget all reservations; in order, reserve the earliest start for every job; start those that start now.

    A job can only start now if it has room now in the plan so far, and the plan only fills up. So the round ends with
    the last job of the queue that still has room now; what comes after it would only be reserved and forgotten.
    """
    size = state.clock.queued
    look_at_machine(state)
    begin_plan(state)
    idle = idle_now(state)
    last = _last_with_room(state, size - 1, np.int64(0), idle, now)
    place = np.int64(0)
    while place <= last:
        job = state.queue[place]
        place += 1
        if place_in_plan(state, state.pins.current, job, now) == now:
            begin(state, job, now)
            idle -= state.jobs[job].width
        last = _last_with_room(state, last, place, idle, now)
    drop_gone(state)


@part
def _last_with_room(state, last, first, idle, now):
    """The last job of the queue, from ``last`` back to ``first``, with room now in the plan; else first - 1."""
    if is_pool(state):
        return _last_on_pool(
            state.jobs, state.queue, state.times, state.free, state.length, plan_rows(state), last, first, idle, now
        )
    while last >= first:
        job = state.queue[last]
        if state.jobs[job].width <= idle and has_room_in_plan(state, job, now):
            break
        last -= 1
    return last


@part
def _last_on_pool(jobs, queue, times, free, length, row, last, first, idle, now):
    """The same on one pool: most of the time of a long queue goes here, so it gets what it looks at and no more."""
    at = entry_at(times, length, row, now)
    while last >= first:
        job = queue[last]
        width = jobs[job].width
        if width <= idle:
            end, entry = now + jobs[job].estimate, at
            while entry < length[row] and times[row, entry] < end and free[row, entry, 0] >= width:
                entry += 1
            if entry == length[row] or times[row, entry] >= end:
                break
        last -= 1
    return last
