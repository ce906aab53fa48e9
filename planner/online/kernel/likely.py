"""How long jobs are likely to last, by what those that ended lately asked and took."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.state import ESTIMATE, RUNTIME, TAKEN, THOUGHT, WIDTH

MEMORY_JOBS = 200.0
"""How many jobs back estimates are compared with runtimes: one that long ago counts a third."""


@part
def note_length(state, job):
    """Compare the runtime of a job that has ended with its estimate; wide jobs count by their width."""
    kept = 1.0 - 1.0 / MEMORY_JOBS
    estimate = max(np.int64(1), state.job[ESTIMATE, job])
    state.use[TAKEN] = kept * state.use[TAKEN] + state.job[WIDTH, job] * min(state.job[RUNTIME, job], estimate)
    state.use[THOUGHT] = kept * state.use[THOUGHT] + state.job[WIDTH, job] * estimate


@part
def likely_length(state, job):
    """The estimate of a job, made as much shorter as estimates have proved too long lately."""
    estimate = max(np.int64(1), state.job[ESTIMATE, job])
    if state.use[THOUGHT] == 0.0:
        return estimate
    return max(np.int64(1), np.int64(estimate * (state.use[TAKEN] / state.use[THOUGHT])))
