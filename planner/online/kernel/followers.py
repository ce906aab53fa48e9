"""Who waits for a job to start or to end, and is told so."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER
from planner.online.kernel.state import ARRIVED, FOLLOWERS, JOINING, JOINING_JOB, OPEN, START


@part
def come_first(state, job, has_ended):
    """Note that a job has started, or ended: who waited for nothing else is to join the queue."""
    for row in range(state.ptr[FOLLOWERS, job], state.ptr[FOLLOWERS, job + 1]):
        other = state.follower[row, 0]
        if state.follower[row, 1] == has_ended and state.job[START, other] < 0:
            state.job[OPEN, other] -= 1
            if state.job[OPEN, other] == 0 and other < state.clock[ARRIVED]:
                state.job[JOINING_JOB, state.clock[JOINING]] = other
                state.clock[JOINING] += 1


@part
def go_for_good(state, job):
    """Note that a job was cancelled before it started: nobody waits for it any longer, and it never joins the queue."""
    if state.job[OPEN, job] > 0:
        state.job[OPEN, job] = NEVER
    come_first(state, job, np.int64(0))
    come_first(state, job, np.int64(1))
