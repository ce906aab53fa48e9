"""What happens to a replay besides arrivals and completions: it goes on from a past, nodes go and return, jobs go."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.heap import remove
from planner.machine.timeline import NEVER, hold_units
from planner.online.kernel.conservative_rounds import arrive, cancel, join_queue, withdraw_held
from planner.online.kernel.hold_one_job import withdraw_on_hold
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.queue_order import drop_gone, enqueue, go_for_good, real_end, run_on
from planner.online.kernel.state import (
    ANNOUNCED,
    CANCELLED,
    CONSERVATIVE,
    DEFINITIVE,
    GOES_DOWN,
    MACHINE,
    NONE_YET,
    RETURNS,
)


@part
def resume(state, now):
    """Go on from a past: jobs that run hold their nodes, jobs that wait join the queue."""
    if state.clock.resume_at != now:
        return
    state.clock.resume_at, state.clock.resumes = NEVER, 0
    state.clock.scan = 1
    for job in range(state.clock.arrived):
        if state.jobs[job].start >= 0:
            if real_end(state, job) >= now:
                run_on(state, job, now)
        elif state.jobs[job].cancel_s > now:
            arrive(state, job)


@part
def take_changes(state, now):
    """Let nodes go and return, as far as that happens or becomes known in this second."""
    while is_changing(state, now):
        entry = state.clock.changes
        node = state.changes[entry].node
        start, end = max(now, state.changes[entry].start), state.changes[entry].end
        if state.changes[entry].what == ANNOUNCED:
            if _hits_reservation(state, node, start, end):
                void_reservations(state)
            _block(state, node, np.int64(1), start, end)
        elif state.changes[entry].what == GOES_DOWN:
            _lose_jobs(state, node, now)
        elif end > now:
            _block(state, node, np.int64(-1), now, end)
            state.clock.early += 1
        if state.changes[entry].what == RETURNS:
            state.clock.blocked = 0
        state.clock.scan = 1
        state.clock.changes += 1


@part
def is_changing(state, now):
    """Whether another change of a node happens in this second."""
    entry = state.clock.changes
    return entry < state.changes.shape[0] and state.changes[entry].moment <= now


@part
def withdraw(state, now):
    """Take the waiting jobs out of the queue that are cancelled in this second."""
    if state.clock.has_cancels == 0:
        return
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].cancel_s <= now:
            if state.clock.policy >= CONSERVATIVE and state.jobs[job].reserved >= 0:
                cancel(state, job)
                state.clock.early += 1
            state.clock.left += 1
            state.clock.scan = 1
            go_for_good(state, job)
    drop_gone(state)
    withdraw_held(state, now)
    withdraw_on_hold(state, now)
    join_queue(state, now)


@part
def void_reservations(state):
    """Give all reservations back: what they rest on is no longer so. They are made anew in the next round."""
    state.clock.broken = 1
    if state.clock.policy >= CONSERVATIVE:
        for place in range(state.clock.queued):
            if state.jobs[state.queue[place]].reserved >= 0:
                cancel(state, state.queue[place])


@part
def _block(state, node, sign, start, end):
    """Take all of a node from start to end (sign 1), or give it back (sign -1); what runs there is held besides."""
    hold_units(state.times, state.free, state.length, MACHINE + node, state.capacity[node], sign, start, end)


@part
def _hits_reservation(state, node, start, end):
    """Whether a reservation overlaps a stretch of time on a node."""
    if state.clock.policy < CONSERVATIVE:
        return False
    for place in range(state.clock.queued):
        job = state.queue[place]
        first = state.jobs[job].reserved
        overlaps = 0 <= first < end and first + state.jobs[job].estimate > start
        if overlaps and _is_on(state, job, node):
            return True
    return False


@part
def _is_on(state, job, node):
    """Whether a unit of a job is on a node."""
    found = False
    for unit in range(state.first[job].unit, state.first[job + 1].unit):
        found |= state.units[unit].node == node
    return found


@part
def _lose_jobs(state, node, now):
    """Send the jobs that run on a node back into the queue; a job that ends in this second is done."""
    place = np.int64(0)
    while place < state.clock.running:
        job = state.ends[place].job
        if state.ends[place].key > now and _is_on(state, job, node):
            _lose(state, job, now)
            place = np.int64(0)
        else:
            place += 1


@part
def _lose(state, job, now):
    """End the run of a job, give all its nodes back, and let it wait again."""
    ties = state.jobs.started_at
    remove(state.ends.key, state.ends.job, ties, state.clock.running, job)
    state.clock.running -= 1
    if remove(state.dues.key, state.dues.job, ties, state.clock.expected, job):
        state.clock.expected -= 1
    hold_job(state, MACHINE, job, np.int64(-1), now, state.jobs[job].expected_end)
    state.jobs[job].start = NONE_YET
    state.jobs[job].corrections = 0
    state.jobs[job].restarts += 1
    state.jobs[job].kind = DEFINITIVE
    state.jobs[job].reserved = CANCELLED if state.clock.policy == CONSERVATIVE else NONE_YET
    state.clock.early += 1
    enqueue(state, job)
