"""What a scheduling round does when the plan is kept true all day: promises are guarded, and work waits where it pays.

Every waiting job has a guard: a reservation as late as its promise allows, so that the promise can be kept whatever is
started before. In each round, in the order of the queue, every job starts that has room now beside the guards of all
others, unless it is held for a cheaper hour. A guard that comes due starts its job.

The promise: no job starts later than its reference start plus the largest delay that the site allows. The reference
start is when the job, on arrival, would start under plain list scheduling in submit order, with the same estimates.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.holding import hold, hold_all
from planner.online.kernel.move_guards import make_room
from planner.online.kernel.nodes import (
    earliest_start,
    hold_job,
    idle_now,
    latest_start,
    plan_rows,
    restore_nodes,
    save_nodes,
)
from planner.online.kernel.queue_order import begin, drop_gone, mark_started
from planner.online.kernel.reservation_rounds import (
    bring_back,
    cancel,
    compress,
    keep,
    note,
    plan_without_reservations,
    restore,
    save,
)
from planner.online.kernel.search_order import search_order
from planner.online.kernel.state import (
    BACKFILL,
    BROKEN,
    CANCELLED,
    DUE,
    ESTIMATE,
    EVERY_S,
    LATE,
    LATEST,
    LISTED,
    LISTED_AT,
    MACHINE,
    MAX_DELAY_S,
    NODE,
    NONE_YET,
    QUEUE,
    QUEUED,
    REFERENCE,
    REPAIRS,
    RESERVED,
    SAVED,
    START,
    STEPS,
    TAKEN_BY_OTHERS,
    TICK,
    UNITS,
    WIDTH,
    WISH,
)

BACKWARD, BY_PROMISE, BY_SUBMISSION = range(3)
"""Ways to place all guards."""

MOST_TRIES = 8
"""How many jobs of a round may fail to make others move, before the rest are only tried beside all guards."""


@part
def replan_round(state, now):
    """Guard new jobs, start what is due and what has room; every so often search the order and decide what is held."""
    if state.clock[BROKEN] > 0:
        _guard_all(state, now)
        _note_late(state)
    else:
        _guard_the_unguarded(state, now)
    state.clock[LISTED_AT] = NONE_YET
    _receive(state, now)
    is_time_to_search = now >= state.clock[TICK]
    if is_time_to_search:
        _decide_again(state, now)
    _start_due(state, now)
    if is_time_to_search or state.clock[REPAIRS] > 0:
        _start_what_fits(state, now)


@part
def _decide_again(state, now):
    """Decide for every waiting job whether it is held, and in which order the queue is served."""
    hold_all(state, now)
    if state.clock[STEPS] > 0:
        search_order(state, now)
    state.clock[TICK] = (now // state.clock[EVERY_S] + 1) * state.clock[EVERY_S]


@part
def next_change(state, now):
    """The next second at which a guard comes due, a hold ends or it is time to search; else NEVER."""
    change = NEVER
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] < 0:
            continue  # no search finds room before a node returns
        change = min(change, state.clock[TICK], state.job[RESERVED, job])
        if state.job[WISH, job] > now:
            change = min(change, state.job[WISH, job])
    return change


@part
def _receive(state, now):
    """Give every new job its reference start, its promise and its guard; none of them while it has no room at all."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        if state.job[RESERVED, job] == NONE_YET:
            reference = _reference_start(state, place, now)
            if reference == NEVER:
                continue
            state.job[REFERENCE, job] = reference
            state.job[LATEST, job] = reference + state.clock[MAX_DELAY_S]
            hold(state, job, now)
            guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
            if guard >= 0:
                keep(state, job, guard)
            else:
                _guard_with(state, job, now)


@part
def _guard_with(state, job, now):
    """Guard a job that has no room within its promise: move the guards of others, if that breaks no promise.

    Otherwise the others stay, and the job is guarded as early as possible beside them, later than its promise; not at
    all if there is no room beside them because nodes will be down.
    """
    compress(state, now)
    guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
    if guard >= 0:
        keep(state, job, guard)
        _put_off(state, now)
        return
    broken = _broken(state)
    save(state)
    state.job[RESERVED, job] = CANCELLED
    _guard_all(state, now)
    if _broken(state) > broken:
        restore(state)
        guard = earliest_start(state, MACHINE, job, now, NEVER - 1)
        if guard == NEVER:
            state.job[REFERENCE, job] = state.job[LATEST, job] = NONE_YET
        else:
            state.job[LATEST, job] = guard
            state.job[LATE, job] = TAKEN_BY_OTHERS
            keep(state, job, guard)


@part
def _put_off(state, now):
    """The latest promise first, move every guard as late as promised beside all others; none moves earlier."""
    _sort_by_promise(state)
    size = state.clock[QUEUED]
    for back in range(size):
        job = state.job[DUE, size - 1 - back]
        guard = state.job[RESERVED, job]
        if now <= guard < state.job[LATEST, job]:
            save_nodes(state, job)
            cancel(state, job)
            start = latest_start(state, MACHINE, job, guard, state.job[LATEST, job])
            if start <= guard:
                restore_nodes(state, job)
                start = guard
            keep(state, job, start)


@part
def _broken(state):
    """How many guards are later than promised, or missing."""
    count = np.int64(0)
    for place in range(state.clock[QUEUED]):
        count += _is_broken(state, state.job[QUEUE, place])
    return count


@part
def _is_broken(state, job):
    """Whether the promise of a job is not guarded."""
    return state.job[RESERVED, job] == CANCELLED or state.job[RESERVED, job] > state.job[LATEST, job]


@part
def _note_late(state):
    """Note why promises are broken, where they are."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[LATE, job] == 0 and _is_broken(state, job):
            state.job[LATE, job] = state.clock[BROKEN]


@part
def _guard_the_unguarded(state, now):
    """Guard the jobs that had no room because nodes are down: within their promise, else as early as possible."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        if state.job[RESERVED, job] == CANCELLED:
            guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
            if guard < 0:
                guard = earliest_start(state, MACHINE, job, now, NEVER - 1)
            if guard < NEVER:
                keep(state, job, guard)


@part
def _reference_start(state, place, now):
    """When the job at a place of the submit order would start under list scheduling; the jobs before it stand.

    Jobs that arrive in one second share one list.
    """
    plan = plan_rows(state)
    if state.clock[LISTED_AT] != now:
        plan_without_reservations(state)
        state.clock[LISTED_AT], state.clock[LISTED] = now, 0
    start = now
    for other in range(state.clock[LISTED], place + 1):
        job = state.job[BACKFILL, other]
        save_nodes(state, job)
        start = earliest_start(state, plan, job, now, NEVER - 1)
        if start < NEVER:
            hold_job(state, plan, job, np.int64(1), start, start + max(np.int64(1), state.job[ESTIMATE, job]))
        restore_nodes(state, job)
    state.clock[LISTED] = place + 1
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
            if guard < NEVER:
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
        drop_gone(state)


@part
def _start_what_fits(state, now):
    """In the order of the queue, start every job that is not held and has room now beside the guards of the others."""
    idle = idle_now(state)
    tries = MOST_TRIES
    started = False
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[START, job] >= 0 or state.job[RESERVED, job] < 0:
            continue
        if state.job[WIDTH, job] > idle or state.job[WISH, job] > now:
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
        drop_gone(state)
    _start_due(state, now)


@part
def _fits_now(state, job, now):
    """Whether a job has room now beside the guards of others; if so, its own guard is given back."""
    guard = state.job[RESERVED, job]
    is_in_the_way = guard < now + max(np.int64(1), state.job[ESTIMATE, job])
    note(state, job)
    if is_in_the_way:
        cancel(state, job)
    if earliest_start(state, MACHINE, job, now, now) == now:
        if not is_in_the_way:
            _cancel_noted(state, job)
        return True
    if is_in_the_way:
        bring_back(state, job)
    else:
        restore_nodes(state, job)
    return False


@part
def _cancel_noted(state, job):
    """Give back the guard of a job that already has other nodes."""
    _swap_nodes(state, job)
    cancel(state, job)
    _swap_nodes(state, job)


@part
def _swap_nodes(state, job):
    """Exchange the nodes of a job with those that were noted."""
    for unit in range(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]):
        node = state.unit[NODE, unit]
        state.unit[NODE, unit] = state.unit[SAVED, unit]
        state.unit[SAVED, unit] = node
