"""How long a job is likely to last: by the last ended jobs of its name, its kind or its user."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.state import SEEN

REMEMBERED_LENGTHS = 6
"""How many jobs back lengths are remembered."""


LEAST_KNOWN = 3
"""A kind or a user with fewer ended jobs than this is not known yet."""


@part
def note_length(state, job):
    """Remember which part of its estimate a job took that has ended: for its name, kind, user, and all."""
    taken = state.jobs[job].runtime / state.jobs[job].estimate
    last = np.int64(state.taken.shape[0] - 1)
    for row in (state.jobs[job].like_name, state.jobs[job].like_kind, state.jobs[job].like_user, last):
        place = 1 + np.int64(state.taken[row, SEEN]) % REMEMBERED_LENGTHS
        state.taken[row, place] = taken
        state.taken[row, SEEN] += 1.0


@part
def note_likely_lengths(state, job):
    """Write how long a job lasts if it goes like those before it, at most as long as was asked; returns how many.

    While nothing is known, its estimate is the only one.
    """
    row = np.int64(state.taken.shape[0] - 1)
    if state.taken[state.jobs[job].like_name, SEEN] >= LEAST_KNOWN:
        row = state.jobs[job].like_name
    elif state.taken[state.jobs[job].like_kind, SEEN] >= LEAST_KNOWN:
        row = state.jobs[job].like_kind
    elif state.taken[state.jobs[job].like_user, SEEN] >= LEAST_KNOWN:
        row = state.jobs[job].like_user
    count = min(np.int64(state.taken[row, SEEN]), np.int64(REMEMBERED_LENGTHS))
    if count == 0:
        state.lengths[0] = state.jobs[job].estimate
        return np.int64(1)
    for place in range(count):
        length = np.int64(state.taken[row, 1 + place] * state.jobs[job].estimate + 0.5)
        state.lengths[place] = max(np.int64(1), min(length, state.jobs[job].requested))
    return count


@part
def note_what_is_left(state, job, ran):
    """Write what is left of a job by those like it that ran for longer than it has; returns how many there are.

    Where none did, it is as long again, at most until the job is cut off.
    """
    known, kept = note_likely_lengths(state, job), np.int64(0)
    for k in range(known):
        if state.lengths[k] > ran:
            state.lengths[kept] = state.lengths[k] - ran
            kept += 1
    if kept == 0:
        estimate = max(state.jobs[job].estimate, state.jobs[job].expected_end - state.jobs[job].start)
        state.lengths[0] = max(np.int64(1), min(max(ran, np.int64(1)), estimate - ran))
        kept = np.int64(1)
    return kept
