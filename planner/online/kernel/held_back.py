"""Jobs that have arrived but wait for others: they join the queue when all that must come first has come."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.followers import go_for_good
from planner.online.kernel.queue_order import enqueue
from planner.online.kernel.state import CANCEL_S, HELD, HELD_JOB, JOINING, JOINING_JOB, OPEN, READY, SCAN


@part
def arrive(state, job):
    """Let a job wait in the queue, or apart from it until others have come first."""
    if state.job[OPEN, job] == 0:
        enqueue(state, job)
        return
    state.job[HELD_JOB, state.clock[HELD]] = job
    state.clock[HELD] += 1


@part
def is_held(state, job):
    """Whether a job waits for others that must come first."""
    return 0 < state.job[OPEN, job] < NEVER


@part
def join_queue(state, now):
    """Let the jobs join the queue for which all has come first; one that is cancelled in this second goes instead."""
    if state.clock[JOINING] == 0:
        return
    joined = np.int64(0)
    while joined < state.clock[JOINING]:
        job = state.job[JOINING_JOB, joined]
        if state.job[CANCEL_S, job] > now:
            state.job[READY, job] = now
            enqueue(state, job)
        else:
            go_for_good(state, job)
        joined += 1
    state.clock[JOINING] = 0
    state.clock[SCAN] = 1
    _drop_from_held(state)


@part
def withdraw_held(state, now):
    """Let the jobs go that are cancelled in this second while they wait for others."""
    for place in range(state.clock[HELD]):
        job = state.job[HELD_JOB, place]
        if state.job[CANCEL_S, job] <= now and is_held(state, job):
            go_for_good(state, job)
    _drop_from_held(state)


@part
def _drop_from_held(state):
    """Take the jobs off the list that have joined the queue or gone."""
    kept = np.int64(0)
    for place in range(state.clock[HELD]):
        job = state.job[HELD_JOB, place]
        if is_held(state, job):
            state.job[HELD_JOB, kept] = job
            kept += 1
    state.clock[HELD] = kept
