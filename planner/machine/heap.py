"""Heaps of jobs: smallest key first; among equal keys, the job with the smallest tie.

``keys`` and ``jobs`` are the heap, of ``size`` entries; ``ties`` has one entry per job. The caller counts.
"""

from __future__ import annotations

from planner.compiled import part


@part
def push(keys, jobs, ties, size, key, job):
    """Add a job."""
    place = size
    while place > 0:
        above = (place - 1) // 2
        if not _before(ties, key, job, keys[above], jobs[above]):
            break
        keys[place], jobs[place] = keys[above], jobs[above]
        place = above
    keys[place], jobs[place] = key, job


@part
def pop(keys, jobs, ties, size):
    """Remove the first job, and return it."""
    first = jobs[0]
    last = size - 1
    key, job = keys[last], jobs[last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and _before(ties, keys[below + 1], jobs[below + 1], keys[below], jobs[below]):
            below += 1
        if not _before(ties, keys[below], jobs[below], key, job):
            break
        keys[place], jobs[place] = keys[below], jobs[below]
        place = below
    keys[place], jobs[place] = key, job
    return first


@part
def remove(keys, jobs, ties, size, job):
    """Remove a job wherever it is; returns whether it was there."""
    place = 0
    while place < size and jobs[place] != job:
        place += 1
    if place == size:
        return False
    key = keys[place]
    while place > 0:
        above = (place - 1) // 2
        keys[place], jobs[place] = keys[above], jobs[above]
        place = above
    keys[0], jobs[0] = key, job
    pop(keys, jobs, ties, size)
    return True


@part
def _before(ties, key, job, other_key, other):
    """Whether a job comes before another one."""
    return key < other_key or (key == other_key and ties[job] < ties[other])
