"""What a scheduling round does under the policies that keep reservations: conservative and deadline.

Reservations of queued jobs stand in the machine's timeline beside the running jobs, so a job is started by letting its
reservation become its run.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.holds import is_kept_back
from planner.online.kernel.nodes import earliest_start, hold_job, restore_nodes, save_nodes
from planner.online.kernel.queue_order import drop_gone, mark_started
from planner.online.kernel.state import (
    BACKFILL,
    BROKEN,
    CANCELLED,
    DEADLINE_EARLY,
    DEADLINE_S,
    DEFINITIVE,
    EARLY,
    ESTIMATE,
    KIND,
    MACHINE,
    NONE_YET,
    POLICY,
    PROMISED,
    QUEUE,
    QUEUED,
    RESERVED,
    SAVED_START,
    TEMPORARY,
    TENTATIVE,
)


@part
def conservative_round(state, now):
    """Compress if a job ended early; reserve for new jobs at their earliest; start what is reserved for now."""
    _renew_if_broken(state, now)
    if state.clock[EARLY] > 0:
        compress(state, now)
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] < 0:
            reserve(state, job, now)
    _start_reserved(state, now)


@part
def deadline_round(state, now):
    """As conservative, but tentative reservations give way to a regular job that arrives, as deadlines allow.

    Under deadline-early they give way to all regular jobs that wait when a job ends early, too.
    """
    _renew_if_broken(state, now)
    nobody = np.int64(-1)
    if state.clock[EARLY] > 0:
        if state.clock[POLICY] == DEADLINE_EARLY:
            _give_way(state, nobody, now)
        else:
            compress(state, now)
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] >= 0:
            continue
        if state.job[DEADLINE_S, job] < NEVER:
            reserve(state, job, now)
            if state.job[RESERVED, job] >= 0 and not _misses(state, job):
                state.job[KIND, job] = TENTATIVE
                state.job[PROMISED, job] = 1
        else:
            _give_way(state, job, now)
    _start_reserved(state, now)


@part
def _give_way(state, new, now):
    """Cancel tentative reservations, serve regular jobs (compress them, or reserve for the new one), reserve again.

    A tentative job that then misses its deadline goes before the new job, in a temporary list. When that is not
    enough, so do all tentative jobs submitted before the last one that misses. When that fails too, everything stays as
    it was, and the new job is reserved around it.
    """
    size = state.clock[QUEUED]
    save(state)
    for place in range(size):
        if state.job[RESERVED, state.job[QUEUE, place]] >= 0 and state.job[KIND, state.job[QUEUE, place]] == TENTATIVE:
            cancel(state, state.job[QUEUE, place])
    if new < 0:
        compress(state, now)
    while True:
        _reserve_kind(state, TEMPORARY, now)
        if new >= 0:
            reserve(state, new, now)
        _reserve_kind(state, TENTATIVE, now)
        missing = _first_missing(state, TENTATIVE)
        moved = missing >= 0
        if moved:
            state.job[KIND, missing] = TEMPORARY
        else:
            missing = _last_missing(state, TEMPORARY)
            if missing < 0:
                break
            for place in range(size):
                job = state.job[QUEUE, place]
                if state.job[KIND, job] == TENTATIVE and state.job[RESERVED, job] >= 0 and job < missing:
                    state.job[KIND, job] = TEMPORARY
                    moved = True
        for place in range(size):
            job = state.job[QUEUE, place]
            if state.job[RESERVED, job] >= 0 and (job == new or state.job[KIND, job] != DEFINITIVE):
                cancel(state, job)
        if not moved:
            restore(state)
            if new >= 0:
                reserve(state, new, now)
            else:
                compress(state, now)
            break
    for place in range(size):
        if state.job[KIND, state.job[QUEUE, place]] == TEMPORARY:
            state.job[KIND, state.job[QUEUE, place]] = DEFINITIVE


@part
def reserve(state, job, now):
    """Reserve the earliest start from now on for a job; nothing while there is none because nodes are down."""
    start = earliest_start(state, MACHINE, job, now, NEVER - 1)
    if start < NEVER:
        keep(state, job, start)


@part
def cancel(state, job):
    """Give a job's reservation back."""
    start = state.job[RESERVED, job]
    end = start + max(np.int64(1), state.job[ESTIMATE, job])
    hold_job(state, MACHINE, job, np.int64(-1), start, end)
    state.job[RESERVED, job] = CANCELLED


@part
def keep(state, job, start):
    """Hold the nodes chosen for a job from a start on."""
    end = start + max(np.int64(1), state.job[ESTIMATE, job])
    hold_job(state, MACHINE, job, np.int64(1), start, end)
    state.job[RESERVED, job] = start


@part
def compress(state, now):
    """In submit order, move every reservation to its earliest start beside all others; none moves later."""
    for place in range(state.clock[QUEUED]):
        job = state.job[BACKFILL, place]
        before = state.job[RESERVED, job]
        if before <= now:
            continue
        save_nodes(state, job)
        cancel(state, job)
        start = earliest_start(state, MACHINE, job, now, before)
        if start >= before:
            restore_nodes(state, job)
            start = before
        keep(state, job, start)


@part
def _reserve_kind(state, kind, now):
    """Reserve for the cancelled jobs of a kind, in submit order."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] == CANCELLED and state.job[KIND, job] == kind:
            reserve(state, job, now)


@part
def _misses(state, job):
    """Whether a job's reservation ends after its deadline, or it has lost the one that it had."""
    if state.job[RESERVED, job] < 0:
        return state.job[SAVED_START, job] >= 0
    return state.job[RESERVED, job] + max(np.int64(1), state.job[ESTIMATE, job]) > state.job[DEADLINE_S, job]


@part
def _first_missing(state, kind):
    """The first job of a kind whose reservation misses its deadline; -1 if none does."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[KIND, job] == kind and _misses(state, job):
            return job
    return np.int64(-1)


@part
def _last_missing(state, kind):
    """The last job of a kind whose reservation misses its deadline; -1 if none does."""
    missing = np.int64(-1)
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[KIND, job] == kind and _misses(state, job):
            missing = job
    return missing


@part
def save(state):
    """Note every reservation of the queue."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        state.job[SAVED_START, job] = state.job[RESERVED, job]
        save_nodes(state, job)


@part
def restore(state):
    """Bring back the noted reservations, of which none may be held now except those that did not move."""
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[RESERVED, job] >= 0:
            cancel(state, job)
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[SAVED_START, job] < 0:
            state.job[RESERVED, job] = state.job[SAVED_START, job]
            continue
        restore_nodes(state, job)
        keep(state, job, state.job[SAVED_START, job])
        if state.job[KIND, job] == TEMPORARY:
            state.job[KIND, job] = TENTATIVE


@part
def _renew_if_broken(state, now):
    """Make every reservation anew, in submit order, after a running job outlived its estimate.

    The reservations were cancelled when the running job was extended. This alone may move a start later: the promise
    was made on an estimate that proved wrong.
    """
    if state.clock[BROKEN] > 0:
        for place in range(state.clock[QUEUED]):
            job = state.job[QUEUE, place]
            if state.job[RESERVED, job] == CANCELLED:
                reserve(state, job, now)


@part
def _start_reserved(state, now):
    """Start what is reserved for now, or hold it; room that this leaves is given to the others at once."""
    is_open = True
    while is_open:
        started, is_open = False, False
        for place in range(state.clock[QUEUED]):
            job = state.job[QUEUE, place]
            if state.job[RESERVED, job] != now:
                continue
            if is_kept_back(state, job, now):
                cancel(state, job)
                state.job[RESERVED, job] = NONE_YET
                is_open = True
            else:
                mark_started(state, job, now)
                started = True
        if started or is_open:
            drop_gone(state)
        if is_open:
            compress(state, now)
