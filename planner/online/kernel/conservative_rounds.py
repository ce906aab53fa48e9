"""What a scheduling round does under the policies that keep reservations: conservative and deadline.

Reservations of queued jobs stand in the machine's timeline beside the running jobs, so a job is started by letting its
reservation become its run.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.hold_one_job import is_kept_back
from planner.online.kernel.nodes import earliest_start, hold_job, restore_nodes, save_nodes
from planner.online.kernel.queue_order import drop_gone, enqueue, go_for_good, mark_started
from planner.online.kernel.state import CANCELLED, DEADLINE_EARLY, DEFINITIVE, MACHINE, NONE_YET, TEMPORARY, TENTATIVE


@part
def conservative_round(state, now):
    """Compress if a job ended early; reserve for new jobs at their earliest; start what is reserved for now."""
    _renew_if_broken(state, now)
    if state.clock.early > 0:
        compress(state, now)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].reserved < 0:
            reserve(state, job, now)
    _start_reserved(state, now)


@part
def deadline_round(state, now):
    """As conservative, but tentative reservations give way to a regular job that arrives, as deadlines allow.

    Under deadline-early they give way to all regular jobs that wait when a job ends early, too.
    """
    _renew_if_broken(state, now)
    nobody = np.int64(-1)
    if state.clock.early > 0:
        if state.clock.policy == DEADLINE_EARLY:
            _give_way(state, nobody, now)
        else:
            compress(state, now)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].reserved >= 0:
            continue
        if state.jobs[job].deadline_s < NEVER:
            reserve(state, job, now)
            if state.jobs[job].reserved >= 0 and not _misses(state, job):
                state.jobs[job].kind = TENTATIVE
                state.jobs[job].promised = 1
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
    size = state.clock.queued
    save(state)
    for place in range(size):
        if state.jobs[state.queue[place]].reserved >= 0 and state.jobs[state.queue[place]].kind == TENTATIVE:
            cancel(state, state.queue[place])
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
            state.jobs[missing].kind = TEMPORARY
        else:
            missing = _last_missing(state, TEMPORARY)
            if missing < 0:
                break
            for place in range(size):
                job = state.queue[place]
                if state.jobs[job].kind == TENTATIVE and state.jobs[job].reserved >= 0 and job < missing:
                    state.jobs[job].kind = TEMPORARY
                    moved = True
        for place in range(size):
            job = state.queue[place]
            if state.jobs[job].reserved >= 0 and (job == new or state.jobs[job].kind != DEFINITIVE):
                cancel(state, job)
        if not moved:
            restore(state)
            if new >= 0:
                reserve(state, new, now)
            else:
                compress(state, now)
            break
    for place in range(size):
        if state.jobs[state.queue[place]].kind == TEMPORARY:
            state.jobs[state.queue[place]].kind = DEFINITIVE


@part
def reserve(state, job, now):
    """Reserve the earliest start from now on for a job; nothing while there is none because nodes are down."""
    start = earliest_start(state, MACHINE, job, now, NEVER - 1)
    if start < NEVER:
        keep(state, job, start)


@part
def cancel(state, job):
    """Give a job's reservation back."""
    start = state.jobs[job].reserved
    end = start + state.jobs[job].estimate
    hold_job(state, MACHINE, job, np.int64(-1), start, end)
    state.jobs[job].reserved = CANCELLED


@part
def keep(state, job, start):
    """Hold the nodes chosen for a job from a start on."""
    end = start + state.jobs[job].estimate
    hold_job(state, MACHINE, job, np.int64(1), start, end)
    state.jobs[job].reserved = start


@part
def compress(state, now):
    """In submit order, move every reservation to its earliest start beside all others; none moves later."""
    for place in range(state.clock.queued):
        job = state.backfill[place]
        before = state.jobs[job].reserved
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
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].reserved == CANCELLED and state.jobs[job].kind == kind:
            reserve(state, job, now)


@part
def _misses(state, job):
    """Whether a job's reservation ends after its deadline, or it has lost the one that it had."""
    if state.jobs[job].reserved < 0:
        return state.jobs[job].saved_start >= 0
    return state.jobs[job].reserved + state.jobs[job].estimate > state.jobs[job].deadline_s


@part
def _first_missing(state, kind):
    """The first job of a kind whose reservation misses its deadline; -1 if none does."""
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].kind == kind and _misses(state, job):
            return job
    return np.int64(-1)


@part
def _last_missing(state, kind):
    """The last job of a kind whose reservation misses its deadline; -1 if none does."""
    missing = np.int64(-1)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].kind == kind and _misses(state, job):
            missing = job
    return missing


@part
def save(state):
    """Note every reservation of the queue."""
    for place in range(state.clock.queued):
        job = state.queue[place]
        state.jobs[job].saved_start = state.jobs[job].reserved
        save_nodes(state, job)


@part
def restore(state):
    """Bring back the noted reservations, of which none may be held now except those that did not move."""
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].reserved >= 0:
            cancel(state, job)
    for place in range(state.clock.queued):
        job = state.queue[place]
        if state.jobs[job].saved_start < 0:
            state.jobs[job].reserved = state.jobs[job].saved_start
            continue
        restore_nodes(state, job)
        keep(state, job, state.jobs[job].saved_start)
        if state.jobs[job].kind == TEMPORARY:
            state.jobs[job].kind = TENTATIVE


@part
def _renew_if_broken(state, now):
    """Make every reservation anew, in submit order, after a running job outlived its estimate.

    The reservations were cancelled when the running job was extended. This alone may move a start later: the promise
    was made on an estimate that proved wrong.
    """
    if state.clock.broken > 0:
        for place in range(state.clock.queued):
            job = state.queue[place]
            if state.jobs[job].reserved == CANCELLED:
                reserve(state, job, now)


@part
def _start_reserved(state, now):
    """Start what is reserved for now, or hold it; room that this leaves is given to the others at once."""
    is_open = True
    while is_open:
        started, is_open = False, False
        for place in range(state.clock.queued):
            job = state.queue[place]
            if state.jobs[job].reserved != now:
                continue
            if is_kept_back(state, job, now):
                cancel(state, job)
                state.jobs[job].reserved = NONE_YET
                is_open = True
            else:
                mark_started(state, job, now)
                started = True
        if started or is_open:
            drop_gone(state)
        if is_open:
            compress(state, now)


@part
def arrive(state, job):
    """Let a job wait in the queue, or apart from it until others have come first."""
    if state.jobs[job].open == 0:
        enqueue(state, job)
        return
    state.lists[state.clock.held].held = job
    state.clock.held += 1


@part
def is_held(state, job):
    """Whether a job waits for others that must come first."""
    return 0 < state.jobs[job].open < NEVER


@part
def join_queue(state, now):
    """Let the jobs join the queue for which all has come first; one that is cancelled in this second goes instead."""
    if state.clock.joining == 0:
        return
    joined = np.int64(0)
    while joined < state.clock.joining:
        job = state.lists[joined].joining
        if state.jobs[job].cancel_s > now:
            state.jobs[job].ready = now
            enqueue(state, job)
        else:
            go_for_good(state, job)
        joined += 1
    state.clock.joining = 0
    state.clock.scan = 1
    _drop_from_held(state)


@part
def withdraw_held(state, now):
    """Let the jobs go that are cancelled in this second while they wait for others."""
    for place in range(state.clock.held):
        job = state.lists[place].held
        if state.jobs[job].cancel_s <= now and is_held(state, job):
            go_for_good(state, job)
    _drop_from_held(state)


@part
def _drop_from_held(state):
    """Take the jobs off the list that have joined the queue or gone."""
    kept = np.int64(0)
    for place in range(state.clock.held):
        job = state.lists[place].held
        if is_held(state, job):
            state.lists[kept].held = job
            kept += 1
    state.clock.held = kept
