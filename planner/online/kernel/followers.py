"""Who waits for a job to start or to end, and is told so."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.timeline import NEVER


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
