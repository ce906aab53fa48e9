"""How long jobs are likely to last: as those like them that ended lately, measured by their estimates.

Jobs of one user that ask for the same time tend to end alike: some right after their start, some at their limit. The
last ones stand for the next one, each of them as likely as the other. Of a kind that is not known yet the user's other
jobs tell; of a user who is not known yet, all jobs.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.state import (
    ARRIVED,
    BACKFILL,
    CAPACITY,
    END_JOB,
    ESTIMATE,
    LIKE_KIND,
    LIKE_USER,
    QUEUE,
    QUEUED,
    REQUESTED,
    RUNNING,
    RUNTIME,
    SEEN,
    START,
    SUBMIT,
    WIDTH,
    WISH,
)

REMEMBERED_LENGTHS = 16
"""How many jobs back lengths are remembered."""

LEAST_KNOWN = 3
"""A kind or a user with fewer ended jobs than this is not known yet."""

LATELY_S, LEAST_SEEN_S = np.int64(172_800), np.int64(21_600)
"""How far back the load is looked at, and how long at least, however late the first job came [s]."""


@part
def note_length(state, job):
    """Remember which part of its estimate a job took that has ended: for its kind, its user, and all."""
    taken = state.job[RUNTIME, job] / max(np.int64(1), state.job[ESTIMATE, job])
    for row in (state.job[LIKE_KIND, job], state.job[LIKE_USER, job], np.int64(state.taken.shape[0] - 1)):
        place = 1 + np.int64(state.taken[row, SEEN]) % REMEMBERED_LENGTHS
        state.taken[row, place] = taken
        state.taken[row, SEEN] += 1.0


@part
def remembered(state, job):
    """The row of lengths that tells of a job, and how many it has."""
    row = np.int64(state.taken.shape[0] - 1)
    if state.taken[state.job[LIKE_KIND, job], SEEN] >= LEAST_KNOWN:
        row = state.job[LIKE_KIND, job]
    elif state.taken[state.job[LIKE_USER, job], SEEN] >= LEAST_KNOWN:
        row = state.job[LIKE_USER, job]
    return row, min(np.int64(state.taken[row, SEEN]), np.int64(REMEMBERED_LENGTHS))


@part
def length_like(state, job, row, place):
    """How long a job lasts if it goes like a remembered one; at most as long as was asked."""
    length = np.int64(state.taken[row, 1 + place] * state.job[ESTIMATE, job])
    return max(np.int64(1), min(length, state.job[REQUESTED, job]))


@part
def likely_length(state, job):
    """How long a job lasts on average; its estimate while nothing is known."""
    row, count = remembered(state, job)
    if count == 0:
        return max(np.int64(1), state.job[ESTIMATE, job])
    total = np.int64(0)
    for place in range(count):
        total += length_like(state, job, row, place)
    return max(np.int64(1), total // count)


@part
def shows_the_way(state, job):
    """Whether a job had best go first, to show how long its kind lasts: others like it wait, and none runs."""
    kind = state.job[LIKE_KIND, job]
    if state.taken[kind, SEEN] >= LEAST_KNOWN:
        return False
    alike, running, is_first = np.int64(0), np.int64(0), False
    for place in range(state.clock[QUEUED]):
        other = state.job[BACKFILL, place]
        if other == job:
            is_first = alike == 0
        alike += state.job[LIKE_KIND, other] == kind
    for place in range(state.clock[RUNNING]):
        running += state.job[LIKE_KIND, state.job[END_JOB, place]] == kind
    return is_first and alike > 1 and running == 0


@part
def backlog(state, now):
    """Work of the jobs that are not held and have not started all the same [width x s]."""
    work = 0.0
    for place in range(state.clock[QUEUED]):
        job = state.job[QUEUE, place]
        if state.job[WISH, job] <= now:
            work += float(state.job[WIDTH, job]) * likely_length(state, job)
    return work


@part
def load_lately(state, now):
    """Work that came in the last two days, as a part of what the machine can do in that time."""
    work = 0.0
    job = state.clock[ARRIVED] - 1
    while job >= 0 and state.job[SUBMIT, job] > now - LATELY_S:
        work += float(state.job[WIDTH, job]) * _length_by_now(state, job, now)
        job -= 1
    seen_s = LATELY_S if job >= 0 else min(LATELY_S, max(LEAST_SEEN_S, now - state.job[SUBMIT, 0]))
    return work / (float(state.clock[CAPACITY]) * seen_s)


@part
def _length_by_now(state, job, now):
    """How long a job lasted, or is likely to last as far as is known now."""
    start = state.job[START, job]
    if start >= 0 and start + state.job[RUNTIME, job] <= now:
        return state.job[RUNTIME, job]
    length = likely_length(state, job)
    return max(length, now - start) if start >= 0 else length
