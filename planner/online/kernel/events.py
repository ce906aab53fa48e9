"""What happens to a replay besides arrivals and completions: it goes on from a past, nodes go and return, jobs go."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.heap import remove
from planner.machine.timeline import NEVER, hold_units
from planner.online.kernel.followers import go_for_good
from planner.online.kernel.held_back import arrive, join_queue, withdraw_held
from planner.online.kernel.holds import withdraw_on_hold
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.queue_order import drop_gone, enqueue, real_end, run_on
from planner.online.kernel.reservation_rounds import cancel
from planner.online.kernel.state import (
    ANNOUNCED,
    ARRIVED,
    BLOCKED,
    BROKEN,
    CANCEL_S,
    CANCELLED,
    CHANGE,
    CHANGES,
    CONSERVATIVE,
    CORRECTIONS,
    DEFINITIVE,
    DUE_JOB,
    DUE_KEY,
    EARLY,
    END_JOB,
    END_KEY,
    ESTIMATE,
    EXPECTED,
    EXPECTED_END,
    GOES_DOWN,
    HAS_CANCELS,
    KIND,
    LEFT,
    MACHINE,
    MOMENT,
    NODE,
    NONE_YET,
    OUT_END,
    OUT_NODE,
    OUT_START,
    POLICY,
    QUEUE,
    QUEUED,
    RESERVED,
    RESTARTS,
    RESUME_AT,
    RESUMES,
    RETURNS,
    RUNNING,
    SCAN,
    START,
    STARTED_AT,
    UNITS,
)


@part
def resume(state, now):
    """Go on from a past: jobs that run hold their nodes, jobs that wait join the queue."""
    if state.clock[RESUME_AT] != now:
        return
    state.clock[RESUME_AT], state.clock[RESUMES] = NEVER, 0
    state.clock[SCAN] = 1
    for job in range(state.clock[ARRIVED]):
        if state.job[START, job] >= 0:
            if real_end(state, job) >= now:
                run_on(state, job, now)
        elif state.job[CANCEL_S, job] > now:
            arrive(state, job)


@part
def take_changes(state, now):
    """Let nodes go and return, as far as that happens or becomes known in this second."""
    while is_changing(state, now):
        entry = state.clock[CHANGES]
        node = state.change[OUT_NODE, entry]
        start, end = max(now, state.change[OUT_START, entry]), state.change[OUT_END, entry]
        if state.change[CHANGE, entry] == ANNOUNCED:
            if _hits_reservation(state, node, start, end):
                void_reservations(state)
            _block(state, node, np.int64(1), start, end)
        elif state.change[CHANGE, entry] == GOES_DOWN:
            _lose_jobs(state, node, now)
        elif end > now:
            _block(state, node, np.int64(-1), now, end)
            state.clock[EARLY] += 1
        if state.change[CHANGE, entry] == RETURNS:
            state.clock[BLOCKED] = 0
        state.clock[SCAN] = 1
        state.clock[CHANGES] += 1


@part
def is_changing(state, now):
    """Whether another change of a node happens in this second."""
    entry = state.clock[CHANGES]
    return entry < state.change.shape[1] and state.change[MOMENT, entry] <= now


@part
def withdraw(state, now):
    """Take the waiting jobs out of the queue that are cancelled in this second."""
    if state.clock[HAS_CANCELS] == 0:
        return
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[CANCEL_S, job] <= now:
            if state.clock[POLICY] >= CONSERVATIVE and state.job[RESERVED, job] >= 0:
                cancel(state, job)
                state.clock[EARLY] += 1
            state.clock[LEFT] += 1
            state.clock[SCAN] = 1
            go_for_good(state, job)
    drop_gone(state)
    withdraw_held(state, now)
    withdraw_on_hold(state, now)
    join_queue(state, now)


@part
def void_reservations(state):
    """Give all reservations back: what they rest on is no longer so. They are made anew in the next round."""
    state.clock[BROKEN] = 1
    if state.clock[POLICY] >= CONSERVATIVE:
        for place in range(state.clock[QUEUED]):
            if state.job[RESERVED, state.job[QUEUE, place]] >= 0:
                cancel(state, state.job[QUEUE, place])


@part
def _block(state, node, sign, start, end):
    """Take all of a node from start to end (sign 1), or give it back (sign -1); what runs there is held besides."""
    hold_units(state.times, state.free, state.length, MACHINE + node, state.capacity[node], sign, start, end)


@part
def _hits_reservation(state, node, start, end):
    """Whether a reservation overlaps a stretch of time on a node."""
    if state.clock[POLICY] < CONSERVATIVE:
        return False
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        first = state.job[RESERVED, job]
        overlaps = 0 <= first < end and first + max(np.int64(1), state.job[ESTIMATE, job]) > start
        if overlaps and _is_on(state, job, node):
            return True
    return False


@part
def _is_on(state, job, node):
    """Whether a unit of a job is on a node."""
    found = False
    for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
        found |= state.unit[NODE, unit] == node
    return found


@part
def _lose_jobs(state, node, now):
    """Send the jobs that run on a node back into the queue; a job that ends in this second is done."""
    place = np.int64(0)
    while place < state.clock[RUNNING]:
        job = state.job[END_JOB, place]
        if state.job[END_KEY, place] > now and _is_on(state, job, node):
            _lose(state, job, now)
            place = np.int64(0)
        else:
            place += 1


@part
def _lose(state, job, now):
    """End the run of a job, give all its nodes back, and let it wait again."""
    ties = state.job[STARTED_AT]
    remove(state.job[END_KEY], state.job[END_JOB], ties, state.clock[RUNNING], job)
    state.clock[RUNNING] -= 1
    if remove(state.job[DUE_KEY], state.job[DUE_JOB], ties, state.clock[EXPECTED], job):
        state.clock[EXPECTED] -= 1
    hold_job(state, MACHINE, job, np.int64(-1), now, state.job[EXPECTED_END, job])
    state.job[START, job] = NONE_YET
    state.job[CORRECTIONS, job] = 0
    state.job[RESTARTS, job] += 1
    state.job[KIND, job] = DEFINITIVE
    state.job[RESERVED, job] = CANCELLED if state.clock[POLICY] == CONSERVATIVE else NONE_YET
    state.clock[EARLY] += 1
    enqueue(state, job)
