"""The policy ``order``: in every round the queue is put into the order whose list plan serves a local objective best.

Every order is judged by the plan that it leads to: the waiting jobs one after another, each at its earliest start. For
an objective that never falls when a job starts later, some order leads to a best plan of all; on several nodes some
order with some jobs pinned to nodes (`planner.online.kernel.plans`). The search begins with the plan of the last round
and with known orders, so that a round is never worse than these; then it changes the best plan bit by bit, and a change
stays if the plan is not worse. Several changes at once lead out of any dead end, so that with enough evaluations the
best plan is found.

One evaluation places up to all of them; it is given up as soon as it is worse than the best. A round tries
``evaluations`` orders per job, for MOST_TRIED jobs at most. Where more jobs wait than MOST_SEARCHED only the most
urgent ones are searched (`planner.online.kernel.order_policy`), and the others are served after them. On large clusters
MOST_LOOKS ends a round before all its orders are tried.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.earliest import place_on_pool
from planner.machine.rng import below, fraction
from planner.machine.timeline import NEVER
from planner.online.kernel.easy_list_rounds import can_any_start, list_round
from planner.online.kernel.local_objective import POWER_RATIO, PROFIT, cost, power_term
from planner.online.kernel.nodes import plan_rows
from planner.online.kernel.plans import (
    begin_plan,
    best_plan,
    change_pin,
    copy_plan,
    current_plan,
    has_pins,
    is_pool,
    look_at_machine,
    place_in_plan,
    tried_plan,
    unpin,
    unpin_all,
)
from planner.online.kernel.queue_order import (
    FCFS,
    LAF,
    LRF,
    SAF,
    SJF,
    SPF,
    URGENT,
    copy_order,
    is_before,
    move_to,
    sort_by,
)

HOUR_S = 3600
"""For so long a job is thought to wait on [s]."""

STEPS_PER_OCTAVE = 1000.0
"""Urgencies that differ by less than one in so many count as equal."""


@part
def urgent_first(state, now, count):
    """Put the most urgent jobs to the front of the queue, in the order they have; the others follow by urgency."""
    size = state.clock.queued
    for place in range(size):
        job = state.queue[place]
        state.jobs[job].urgency = _urgency(state, job, now)
    sort_by(state, state.lists.tried, URGENT, size)
    next_job = state.lists[count].tried
    front = 0
    for place in range(size):
        job = state.queue[place]
        if is_before(state, URGENT, job, next_job):
            state.lists[front].best = job
            front += 1
    copy_order(state.lists.best, state.queue, count)
    for place in range(count, size):
        state.queue[place] = state.lists[place].tried
        unpin(state, state.pins.current, state.queue[place])


@part
def _urgency(state, job, now):
    """A number that is smaller for more urgent jobs."""
    worse = cost(state, job, now + HOUR_S) - cost(state, job, now)
    rate = worse / (state.jobs[job].width * max(np.int64(1), state.jobs[job].estimate))
    return np.int64(np.round(-STEPS_PER_OCTAVE * np.log2(max(rate, 1e-300))))


MOST_SEARCHED = 128
"""Jobs whose order is searched in one round, at most."""

MOST_TRIED = 32
"""Jobs for which the evaluations of one round are counted, at most: what is left to try is tried in later rounds."""

MOST_LOOKS = 20_000
"""Looks at bunches of like nodes, or at nodes, in one round per evaluation asked for; known orders are not counted."""

PIN_SHARE = 0.25
"""Part of the changes that are to pins, on several nodes."""


@part
def order_round(state, now):
    """Put the queue into the best order found, then start what starts now in its list plan."""
    if state.clock.queued > 1 and can_any_start(state, now):
        size = min(state.clock.queued, MOST_SEARCHED)
        if size < state.clock.queued:
            urgent_first(state, now, size)
        _search(state, size, now)
    elif state.clock.queued == 1:
        unpin_all(state, state.pins.current, state.clock.queued)
    list_round(state, now)


@part
def _search(state, size, now):
    """Put the first of the queue into the best order found: from the best known order, and from each chosen seed."""
    look_at_machine(state)
    copy_plan(state, current_plan(state), tried_plan(state), size)
    best = _value(state, size, now, np.inf)
    copy_plan(state, tried_plan(state), best_plan(state), size)
    if unpin_all(state, state.pins.tried, size):
        value = _value(state, size, now, best)
        if value <= best:
            best = value
            copy_plan(state, tried_plan(state), best_plan(state), size)
    for order in (FCFS, SJF, SAF, LAF, SPF, LRF):
        sort_by(state, state.lists.tried, order, size)
        value = _value(state, size, now, best)
        if value < best:
            best = value
            copy_plan(state, tried_plan(state), best_plan(state), size)
    best = _climb(state, size, now, best)
    copy_plan(state, best_plan(state), current_plan(state), size)
    for order in (FCFS, SJF, SAF, SPF):
        if state.clock.seeds >> order & 1:
            sort_by(state, state.lists.tried, order, size)
            unpin_all(state, state.pins.tried, size)
            copy_plan(state, tried_plan(state), best_plan(state), size)
            value = _climb(state, size, now, _value(state, size, now, np.inf))
            if value < best:
                best = value
                copy_plan(state, best_plan(state), current_plan(state), size)


@part
def _climb(state, size, now, best):
    """Change the best plan bit by bit as long as evaluations are left; returns the value of the best one.

    On several nodes it ends with the looks at bunches of nodes too. A new pin stays only if it makes the plan better:
    what is pinned for nothing scatters jobs over the nodes.
    """
    state.clock.looks = 0
    for _ in range(state.clock.evaluations * min(size, MOST_TRIED)):
        if state.clock.looks > state.clock.evaluations * MOST_LOOKS:
            break
        copy_plan(state, best_plan(state), tried_plan(state), size)
        has_pinned = _change(state, size)
        value = _value(state, size, now, best)
        if value < best or (value == best and not has_pinned):
            best = value
            copy_plan(state, tried_plan(state), best_plan(state), size)
    return best


@part
def _change(state, size):
    """Change the order of the tried plan, or on nodes the pins of a job; once, perhaps twice, and so on.

    Returns whether any job was pinned.
    """
    has_pinned = False
    while True:
        if has_pins(state) and fraction(state.stream) < PIN_SHARE:
            has_pinned |= change_pin(state, state.lists[below(state.stream, size)].tried)
        else:
            _change_order(state, size)
        if fraction(state.stream) < 0.5:
            return has_pinned


@part
def _change_order(state, size):
    """Let a job of the tried order go to another place, or two jobs change places."""
    one, other = below(state.stream, size), below(state.stream, size)
    if fraction(state.stream) < 0.5:
        move_to(state.lists.tried, one, other)
    else:
        row = state.lists.tried
        row[one], row[other] = row[other], row[one]


@part
def _value(state, size, now, limit):
    """The objective of the list plan of the tried order; something above the limit once it is worse than that.

    A job that has no start because nodes are down counts for nothing: it has none in any order.
    """
    plan, on_pool = plan_rows(state), is_pool(state)
    begin_plan(state)
    times, free, length = state.times[plan], state.free[plan, :, 0], state.length[plan]
    is_ratio = state.clock.objective == POWER_RATIO
    may_fall = state.clock.objective == PROFIT  # a job that earns more than it costs
    total, below_line = 0.0, 0.0
    for index in range(size):
        job = state.lists[index].tried
        duration = max(np.int64(1), state.jobs[job].estimate)
        if on_pool:
            start, length = place_on_pool(times, free, length, state.jobs[job].width, duration)
        else:
            start = place_in_plan(state, state.pins.tried, job, now)
        if start == NEVER:
            continue
        if is_ratio:
            total += power_term(state, job, start, 2.0)
            below_line += power_term(state, job, start, 1.0)
        else:
            total += cost(state, job, start)
            if total > limit and not may_fall:
                return total
    return total / below_line if is_ratio and below_line > 0.0 else total
