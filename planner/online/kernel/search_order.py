"""The search of the policy ``replan``: in which order the queue is best served.

Every order is judged by the plan that it leads to: the waiting jobs one after another, each at its earliest start and
as long as it is likely to last. The plan is worth what its work earns in the time ahead, less its energy, less the
waiting. A wide job that is out of the way is worth something by itself: otherwise nodes must idle one day until enough
of them are free for it. First the known orders are compared; then the best one is changed bit by bit, and a change
stays if the plan is worth more.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.rng import below
from planner.online.kernel.energy import SECONDS_PER_HOUR, earned
from planner.online.kernel.likely import likely_length
from planner.online.kernel.nodes import earliest_start, hold_job, plan_rows, restore_nodes, save_nodes
from planner.online.kernel.queue_order import FCFS, LAF, LRF, SAF, SJF, copy_order, move_to, rank, sort_by
from planner.online.kernel.reservation_rounds import plan_without_reservations
from planner.online.kernel.state import (
    AHEAD_S,
    BEST_ORDER,
    CAPACITY,
    END_JOB,
    ESTIMATE,
    EUR_PER_WAITING_HOUR,
    EUR_PER_WIDTH_HOUR,
    EXPECTED_END,
    LISTED_AT,
    NONE_YET,
    ORDER,
    QUEUE,
    QUEUED,
    RUNNING,
    START,
    STEPS,
    TRIED_ORDER,
    USUAL_ORDER,
    WIDTH,
    WISH,
)

MOST_JOBS = 100
"""Where more jobs wait than this, the usual order serves: plans of so many are too slow to compare."""

DRAIN_S = 3600.0
"""How long nodes idle on average until enough of them are free for a job as wide as the machine [s]."""


@part
def search_order(state, now):
    """Put the queue into the best order found; one step is one job placed in a plan."""
    size = state.clock[QUEUED]
    if size < 2:
        return
    state.clock[LISTED_AT] = NONE_YET
    if size > MOST_JOBS:
        state.clock[ORDER] = state.clock[USUAL_ORDER]
        sort_by(state, QUEUE, state.clock[ORDER], size)
        rank(state)
        return
    planned, budget = size, state.clock[STEPS]
    copy_order(state, QUEUE, TRIED_ORDER, size)
    best = _worth(state, planned, now)
    budget -= planned
    copy_order(state, TRIED_ORDER, BEST_ORDER, size)
    for order in (SAF, LRF, FCFS, LAF, SJF):
        if order != state.clock[ORDER] and budget > 0:
            sort_by(state, TRIED_ORDER, order, size)
            worth = _worth(state, planned, now)
            budget -= planned
            if worth > best:
                best = worth
                state.clock[ORDER] = order
                copy_order(state, TRIED_ORDER, BEST_ORDER, size)
    while budget > 0:
        copy_order(state, BEST_ORDER, TRIED_ORDER, size)
        source, target = below(state.stream, size), below(state.stream, planned)
        move_to(state, TRIED_ORDER, source, target)
        worth = _worth(state, planned, now)
        budget -= planned
        if worth > best:
            best = worth
            copy_order(state, TRIED_ORDER, BEST_ORDER, size)
    copy_order(state, BEST_ORDER, QUEUE, size)
    rank(state)


@part
def _worth(state, planned, now):
    """What the plan of the tried order is worth in the time ahead [EUR]."""
    until = now + state.clock[AHEAD_S]
    _list_running(state, now)
    plan = plan_rows(state)
    worth = 0.0
    for place in range(planned):
        job = state.job[TRIED_ORDER, place]
        estimate = state.job[ESTIMATE, job]
        state.job[ESTIMATE, job] = likely_length(state, job)
        save_nodes(state, job)
        start = earliest_start(state, plan, job, max(now, state.job[WISH, job]), until - 1)
        if start < until:
            hold_job(state, plan, job, np.int64(1), start, start + state.job[ESTIMATE, job])
            end = min(start + state.job[ESTIMATE, job], until)
            width = state.job[WIDTH, job]
            drained = width * DRAIN_S / state.clock[CAPACITY]
            worth += earned(state, job, start, end)
            worth += state.worth[EUR_PER_WIDTH_HOUR] * width * drained / SECONDS_PER_HOUR
        restore_nodes(state, job)
        state.job[ESTIMATE, job] = estimate
        worth -= state.worth[EUR_PER_WAITING_HOUR] * (min(start, until) - now) / SECONDS_PER_HOUR
    return worth


@part
def _list_running(state, now):
    """Write into the rows for plans what the running jobs alone leave free, if they last as long as is likely."""
    plan = plan_without_reservations(state)
    for place in range(state.clock[RUNNING]):
        job = state.job[END_JOB, place]
        end = max(now + 1, state.job[START, job] + likely_length(state, job))
        if end < state.job[EXPECTED_END, job]:
            hold_job(state, plan, job, np.int64(-1), end, state.job[EXPECTED_END, job])
