"""Jobs that have arrived but wait for others: they join the queue when all that must come first has come."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.followers import go_for_good
from planner.online.kernel.queue_order import enqueue


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
