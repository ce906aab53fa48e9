"""The queue: the orders in which waiting jobs are tried, and starting the ones that were chosen."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.heap import push
from planner.machine.timeline import NEVER
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.state import MACHINE, ORDERED


@part
def come_first(state, job, has_ended):
    """Note that a job has started, or ended: who waited for nothing else is to join the queue."""
    for row in range(state.first[job].follower, state.first[job + 1].follower):
        other = state.follower[row, 0]
        if state.follower[row, 1] == has_ended and state.jobs[other].start < 0:
            state.jobs[other].open -= 1
            if state.jobs[other].open == 0 and other < state.clock.arrived:
                state.lists[state.clock.joining].joining = other
                state.clock.joining += 1


@part
def go_for_good(state, job):
    """Note that a job was cancelled before it started: nobody waits for it any longer, and it never joins the queue."""
    if state.jobs[job].open > 0:
        state.jobs[job].open = NEVER
    come_first(state, job, np.int64(0))
    come_first(state, job, np.int64(1))


FCFS, SJF, LJF, SAF, LAF, SPF, SRF, LRF, SJBF, LAF_LONGEST, URGENT = range(11)

ORDER_CODES = {
    **{"fcfs": FCFS, "sjf": SJF, "ljf": LJF, "saf": SAF, "laf": LAF, "laljf": LAF_LONGEST},
    **{"spf": SPF, "srf": SRF, "lrf": LRF},
}

HUGE = np.iinfo(np.int64).max // 4


def backfill_code(order: str, backfill_order: str) -> int:
    """The order of what is started beside a reservation; easy-sjbf keeps the submit order of equally long jobs."""
    return SJBF if (order, backfill_order) == ("fcfs", "sjf") else ORDER_CODES[backfill_order]


@part
def order_keys(order, width, estimate):
    """The two keys by which an order sorts a job, smallest first."""
    if order == SJF:
        return estimate, width
    if order == SJBF:
        return estimate, np.int64(0)
    if order == LJF:
        return -estimate, -width
    area = width * estimate if width < HUGE // max(estimate, 1) else HUGE
    if order == SAF:
        return area, np.int64(0)
    if order == LAF:
        return -area, np.int64(0)
    if order == LAF_LONGEST:
        return -area, -estimate
    if order == SPF:
        return (area * estimate if area < HUGE // max(estimate, 1) else HUGE), area
    if order == SRF:
        return width, estimate
    if order == LRF:
        return -width, -estimate
    return np.int64(0), np.int64(0)


@part
def enqueue(state, job):
    """Let a job wait, at its place in both orders."""
    size = state.clock.queued
    width, estimate = state.jobs[job].width, state.jobs[job].estimate
    state.jobs[job].rank_a, state.jobs[job].rank_b = order_keys(state.clock.order, width, estimate)
    state.jobs[job].back_a, state.jobs[job].back_b = order_keys(state.clock.backfill_order, width, estimate)
    _insert(state.jobs, state.queue, size, job)
    _insert_for_backfill(state.jobs, state.backfill, size, job)
    state.clock.queued = size + 1


@part
def reorder(state):
    """Sort the queue again, after its estimates were refreshed; an order that was searched stays."""
    if state.clock.policy == ORDERED:
        return
    size = state.clock.queued
    rank(state)
    for place in range(size):
        _insert(state.jobs, state.queue, place, state.queue[place])
        _insert_for_backfill(state.jobs, state.backfill, place, state.backfill[place])


@part
def rank(state):
    """Give every job of the queue its keys in both orders."""
    for place in range(state.clock.queued):
        job = state.queue[place]
        width, estimate = state.jobs[job].width, state.jobs[job].estimate
        state.jobs[job].rank_a, state.jobs[job].rank_b = order_keys(state.clock.order, width, estimate)
        state.jobs[job].back_a, state.jobs[job].back_b = order_keys(state.clock.backfill_order, width, estimate)


@part
def sort_by(state, jobs, order, size):
    """List the first jobs of the queue by an order in a list of its own, equal ones as submitted (heapsort)."""
    for place in range(size):
        jobs[place] = state.queue[place]
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(state, jobs, order, place, size)
    for end in range(size - 1, 0, -1):
        jobs[0], jobs[end] = jobs[end], jobs[0]
        _sift_down(state, jobs, order, np.int64(0), end)


@part
def _sift_down(state, jobs, order, place, size):
    """Let a job sink in the heap until no job below it comes later in the order."""
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and is_before(state, order, jobs[below], jobs[below + 1]):
            below += 1
        if not is_before(state, order, jobs[place], jobs[below]):
            return
        jobs[place], jobs[below] = jobs[below], jobs[place]
        place = below


@part
def is_before(state, order, one, other):
    """Whether one job comes before another in an order, of equal priority; an urgency counts the priority already."""
    if order == URGENT:
        a, b = state.jobs[one].urgency, state.jobs[other].urgency
        return a < b or (a == b and one < other)
    if state.jobs[one].rank_first != state.jobs[other].rank_first:
        return state.jobs[one].rank_first < state.jobs[other].rank_first
    a, b = order_keys(order, state.jobs[one].width, state.jobs[one].estimate)
    c, d = order_keys(order, state.jobs[other].width, state.jobs[other].estimate)
    return _is_earlier(a, b, one, c, d, other)


@part
def move_to(jobs, source, target):
    """Let a job of an order go from one place to another; those between make way."""
    job = jobs[source]
    step = np.int64(1) if source < target else np.int64(-1)
    while source != target:
        jobs[source] = jobs[source + step]
        source += step
    jobs[target] = job


@part
def copy_order(source, target, size):
    """Copy an order of the queue from one list to another."""
    for place in range(size):
        target[place] = source[place]


@part
def begin(state, job, now):
    """Start a job on the nodes that were chosen for it, and hold them until its expected end."""
    end = now + max(np.int64(1), state.jobs[job].estimate)
    hold_job(state, MACHINE, job, np.int64(1), now, end)
    mark_started(state, job, now)


@part
def mark_started(state, job, now):
    """Note that a job runs whose nodes are held already."""
    state.jobs[job].start = now
    state.jobs[job].started_at = state.clock.started
    state.clock.started += 1
    state.clock.left += 1
    _note_ends(state, job)
    if state.jobs[job].restarts == 0:
        come_first(state, job, np.int64(0))


@part
def run_on(state, job, now):
    """Let a job go on that started in the past, and hold its nodes until its expected end."""
    _note_ends(state, job)
    hold_job(state, MACHINE, job, np.int64(1), now, state.jobs[job].expected_end)


@part
def real_end(state, job):
    """When a job that has started ends: when it is done, or when it is cancelled."""
    return min(state.jobs[job].start + state.jobs[job].runtime, state.jobs[job].cancel_s)


@part
def _note_ends(state, job):
    """Note when a job that has started is expected to end, and when it will."""
    end = real_end(state, job)
    state.jobs[job].expected_end = state.jobs[job].start + max(np.int64(1), state.jobs[job].estimate)
    push(state.ends.key, state.ends.job, state.jobs.started_at, state.clock.running, end, job)
    state.clock.running += 1
    if state.jobs[job].expected_end < end:
        note_due(state, job)


@part
def note_due(state, job):
    """Note that a job is expected to end before it will."""
    due = state.jobs[job].expected_end
    push(state.dues.key, state.dues.job, state.jobs.started_at, state.clock.expected, due, job)
    state.clock.expected += 1


@part
def drop_gone(state):
    """Take jobs out of the queue that have started, were cancelled or are held."""
    if state.clock.left == 0:
        return
    kept, behind = 0, 0
    for place in range(state.clock.queued):
        if _waits(state, state.queue[place]):
            state.queue[kept] = state.queue[place]
            kept += 1
        if _waits(state, state.backfill[place]):
            state.backfill[behind] = state.backfill[place]
            behind += 1
    state.clock.queued, state.clock.left = kept, 0


@part
def _waits(state, job):
    """Whether a job has neither started nor been cancelled, and is not held."""
    now = state.clock.now
    return state.jobs[job].start < 0 and state.jobs[job].cancel_s > now and state.jobs[job].hold_until <= now


@part
def _insert(jobs, queue, size, job):
    """Put a job at its place in the queue: by priority, by two keys, then by submit order."""
    place = size
    while place > 0:
        other = queue[place - 1]
        if jobs[other].rank_first != jobs[job].rank_first:
            if jobs[other].rank_first < jobs[job].rank_first:
                break
        elif _is_earlier(jobs[other].rank_a, jobs[other].rank_b, other, jobs[job].rank_a, jobs[job].rank_b, job):
            break
        queue[place] = other
        place -= 1
    queue[place] = job


@part
def _insert_for_backfill(jobs, queue, size, job):
    """The same in the order of what is started beside a reservation."""
    place = size
    while place > 0:
        other = queue[place - 1]
        if jobs[other].back_first != jobs[job].back_first:
            if jobs[other].back_first < jobs[job].back_first:
                break
        elif _is_earlier(jobs[other].back_a, jobs[other].back_b, other, jobs[job].back_a, jobs[job].back_b, job):
            break
        queue[place] = other
        place -= 1
    queue[place] = job


@part
def _is_earlier(a, b, one, c, d, other):
    """Whether the keys of one job, and then its place in the trace, come before those of another."""
    return a < c or (a == c and (b < d or (b == d and one < other)))
