"""The queue: the orders in which waiting jobs are tried, and starting the ones that were chosen."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.heap import push
from planner.online.kernel.followers import come_first
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.state import (
    BACK_A,
    BACK_B,
    BACK_FIRST,
    BACKFILL,
    BACKFILL_ORDER,
    CANCEL_S,
    DUE_JOB,
    DUE_KEY,
    END_JOB,
    END_KEY,
    ESTIMATE,
    EXPECTED,
    EXPECTED_END,
    HOLD_UNTIL,
    LEFT,
    MACHINE,
    NOW,
    ORDER,
    ORDERED,
    POLICY,
    QUEUE,
    QUEUED,
    RANK_A,
    RANK_B,
    RANK_FIRST,
    RESTARTS,
    RUNNING,
    RUNTIME,
    START,
    STARTED,
    STARTED_AT,
    URGENCY,
    WIDTH,
)

FCFS, SJF, LJF, SAF, LAF, SPF, SRF, LRF, SJBF, LAF_LONGEST, URGENT = range(11)

ORDER_CODES = {"fcfs": FCFS, "sjf": SJF, "ljf": LJF, "saf": SAF, "laf": LAF, "spf": SPF, "srf": SRF, "lrf": LRF}

HUGE = np.iinfo(np.int64).max // 4


def queue_code(kind: str, order: str, *, is_requested: bool) -> int:
    """The order of the queue; ``is_requested`` says that the estimates are the requested times.

    Of equal areas, ``laf-greedy`` serves the longer job first, as the published simulator does, but not with requested
    times, where its published figures are those of the submit order. ``laf-list`` keeps the submit order always.
    """
    return LAF_LONGEST if (kind, order) == ("greedy", "laf") and not is_requested else ORDER_CODES[order]


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
    size = state.clock[QUEUED]
    width, estimate = state.job[WIDTH, job], state.job[ESTIMATE, job]
    state.job[RANK_A, job], state.job[RANK_B, job] = order_keys(state.clock[ORDER], width, estimate)
    state.job[BACK_A, job], state.job[BACK_B, job] = order_keys(state.clock[BACKFILL_ORDER], width, estimate)
    _insert(state.job, QUEUE, size, job, RANK_FIRST, RANK_A, RANK_B)
    _insert(state.job, BACKFILL, size, job, BACK_FIRST, BACK_A, BACK_B)
    state.clock[QUEUED] = size + 1


@part
def reorder(state):
    """Sort the queue again, after its estimates were refreshed; an order that was searched stays."""
    if state.clock[POLICY] == ORDERED:
        return
    size = state.clock[QUEUED]
    rank(state)
    for place in range(size):
        _insert(state.job, QUEUE, place, state.job[QUEUE, place], RANK_FIRST, RANK_A, RANK_B)
        _insert(state.job, BACKFILL, place, state.job[BACKFILL, place], BACK_FIRST, BACK_A, BACK_B)


@part
def rank(state):
    """Give every job of the queue its keys in both orders."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        width, estimate = state.job[WIDTH, job], state.job[ESTIMATE, job]
        state.job[RANK_A, job], state.job[RANK_B, job] = order_keys(state.clock[ORDER], width, estimate)
        state.job[BACK_A, job], state.job[BACK_B, job] = order_keys(state.clock[BACKFILL_ORDER], width, estimate)


@part
def sort_by(state, row, order, size):
    """List the first jobs of the queue by an order in a row of its own, equal ones as submitted (heapsort)."""
    jobs = state.job[row]
    for place in range(size):
        jobs[place] = state.job[QUEUE, place]
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
        a, b = state.job[URGENCY, one], state.job[URGENCY, other]
        return a < b or (a == b and one < other)
    if state.job[RANK_FIRST, one] != state.job[RANK_FIRST, other]:
        return state.job[RANK_FIRST, one] < state.job[RANK_FIRST, other]
    a, b = order_keys(order, state.job[WIDTH, one], state.job[ESTIMATE, one])
    c, d = order_keys(order, state.job[WIDTH, other], state.job[ESTIMATE, other])
    return a < c or (a == c and (b < d or (b == d and one < other)))


@part
def move_to(state, row, source, target):
    """Let a job of an order go from one place to another; those between make way."""
    jobs = state.job[row]
    job = jobs[source]
    step = np.int64(1) if source < target else np.int64(-1)
    while source != target:
        jobs[source] = jobs[source + step]
        source += step
    jobs[target] = job


@part
def copy_order(state, source, target, size):
    """Copy an order of the queue from one row to another."""
    for place in range(size):
        state.job[target, place] = state.job[source, place]


@part
def begin(state, job, now):
    """Start a job on the nodes that were chosen for it, and hold them until its expected end."""
    end = now + max(np.int64(1), state.job[ESTIMATE, job])
    hold_job(state, MACHINE, job, np.int64(1), now, end)
    mark_started(state, job, now)


@part
def mark_started(state, job, now):
    """Note that a job runs whose nodes are held already."""
    state.job[START, job] = now
    state.job[STARTED_AT, job] = state.clock[STARTED]
    state.clock[STARTED] += 1
    state.clock[LEFT] += 1
    _note_ends(state, job)
    if state.job[RESTARTS, job] == 0:
        come_first(state, job, np.int64(0))


@part
def run_on(state, job, now):
    """Let a job go on that started in the past, and hold its nodes until its expected end."""
    _note_ends(state, job)
    hold_job(state, MACHINE, job, np.int64(1), now, state.job[EXPECTED_END, job])


@part
def real_end(state, job):
    """When a job that has started ends: when it is done, or when it is cancelled."""
    return min(state.job[START, job] + state.job[RUNTIME, job], state.job[CANCEL_S, job])


@part
def _note_ends(state, job):
    """Note when a job that has started is expected to end, and when it will."""
    end = real_end(state, job)
    state.job[EXPECTED_END, job] = state.job[START, job] + max(np.int64(1), state.job[ESTIMATE, job])
    _note_end(state, END_KEY, END_JOB, RUNNING, end, job)
    if state.job[EXPECTED_END, job] < end:
        _note_end(state, DUE_KEY, DUE_JOB, EXPECTED, state.job[EXPECTED_END, job], job)


@part
def _note_end(state, keys, jobs, counter, end, job):
    """Put a job into one of the two heaps of ends."""
    push(state.job[keys], state.job[jobs], state.job[STARTED_AT], state.clock[counter], end, job)
    state.clock[counter] += 1


@part
def drop_gone(state):
    """Take jobs out of the queue that have started, were cancelled or are held."""
    if state.clock[LEFT] == 0:
        return
    kept, behind = 0, 0
    for place in range(state.clock[QUEUED]):
        if _waits(state, state.job[QUEUE, place]):
            state.job[QUEUE, kept] = state.job[QUEUE, place]
            kept += 1
        if _waits(state, state.job[BACKFILL, place]):
            state.job[BACKFILL, behind] = state.job[BACKFILL, place]
            behind += 1
    state.clock[QUEUED], state.clock[LEFT] = kept, 0


@part
def _waits(state, job):
    """Whether a job has neither started nor been cancelled, and is not held."""
    now = state.clock[NOW]
    return state.job[START, job] < 0 and state.job[CANCEL_S, job] > now and state.job[HOLD_UNTIL, job] <= now


@part
def _insert(table, queue, size, job, first, key_a, key_b):
    """Put a job at its place by priority, by two keys, then by submit order."""
    place = size
    while place > 0:
        other = table[queue, place - 1]
        if table[first, other] < table[first, job]:
            break
        if table[first, other] == table[first, job] and table[key_a, other] < table[key_a, job]:
            break
        if table[first, other] == table[first, job] and table[key_a, other] == table[key_a, job]:
            if table[key_b, other] < table[key_b, job]:
                break
            if table[key_b, other] == table[key_b, job] and other < job:
                break
        table[queue, place] = other
        place -= 1
    table[queue, place] = job
