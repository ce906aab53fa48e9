"""How long jobs are likely to last: as those like them that ended lately, measured by their estimates.

Jobs of one user that ask for the same time tend to end alike: some right after their start, some at their limit. The
last ones stand for the next one, each of them as likely as the other. Of a kind that is not known yet the user's other
jobs tell; of a user who is not known yet, all jobs.
"""

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
    """Remember which part of its estimate a job took that has ended: for its kind, its user, and all."""
    taken = state.jobs[job].runtime / max(np.int64(1), state.jobs[job].estimate)
    for row in (state.jobs[job].like_kind, state.jobs[job].like_user, np.int64(state.taken.shape[0] - 1)):
        place = 1 + np.int64(state.taken[row, SEEN]) % REMEMBERED_LENGTHS
        state.taken[row, place] = taken
        state.taken[row, SEEN] += 1.0


@part
def note_likely_lengths(state, job):
    """Write how long a job lasts if it goes like those before it, at most as long as was asked; returns how many.

    While nothing is known, its estimate is the only one.
    """
    row = np.int64(state.taken.shape[0] - 1)
    if state.taken[state.jobs[job].like_kind, SEEN] >= LEAST_KNOWN:
        row = state.jobs[job].like_kind
    elif state.taken[state.jobs[job].like_user, SEEN] >= LEAST_KNOWN:
        row = state.jobs[job].like_user
    count = min(np.int64(state.taken[row, SEEN]), np.int64(REMEMBERED_LENGTHS))
    if count == 0:
        state.lengths[0] = max(np.int64(1), state.jobs[job].estimate)
        return np.int64(1)
    for place in range(count):
        length = np.int64(state.taken[row, 1 + place] * state.jobs[job].estimate + 0.5)
        state.lengths[place] = max(np.int64(1), min(length, state.jobs[job].requested))
    return count
