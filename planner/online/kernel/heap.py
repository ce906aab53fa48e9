"""Heaps of running jobs in two rows of the job table: by key, and among equal keys in order of their starts."""

from __future__ import annotations

from planner.compiled import part
from planner.online.kernel.state import STARTED_AT


@part
def push(table, keys, jobs, size, key, job):
    """Add a job. The caller counts."""
    place = size
    while place > 0:
        above = (place - 1) // 2
        if not _before(table, key, job, table[keys, above], table[jobs, above]):
            break
        table[keys, place], table[jobs, place] = table[keys, above], table[jobs, above]
        place = above
    table[keys, place], table[jobs, place] = key, job


@part
def pop(table, keys, jobs, size):
    """Remove the first job, and return it. The caller counts."""
    first = table[jobs, 0]
    last = size - 1
    key, job = table[keys, last], table[jobs, last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and _before(
            table, table[keys, below + 1], table[jobs, below + 1], table[keys, below], table[jobs, below]
        ):
            below += 1
        if not _before(table, table[keys, below], table[jobs, below], key, job):
            break
        table[keys, place], table[jobs, place] = table[keys, below], table[jobs, below]
        place = below
    table[keys, place], table[jobs, place] = key, job
    return first


@part
def _before(table, key, job, other_key, other):
    """Whether a job comes before another one."""
    return key < other_key or (key == other_key and table[STARTED_AT, job] < table[STARTED_AT, other])
