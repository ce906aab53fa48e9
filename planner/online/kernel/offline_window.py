"""A stretch of a schedule without some of its jobs, on which these are placed anew in one order after another.

Entry k of ``base_time`` and ``base_free`` says what is free from then on beside the jobs that stay; the last entry is
where the stretch ends, and nothing has room there. To place jobs these are copied, and new entries are linked in
between, since moving all later ones would take longer than everything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, part
from planner.domain.columns import Floats, Ints
from planner.machine.timeline import NEVER
from planner.online.kernel.local_objective import cost_of

MOST_JOBS = 256
"""Jobs of a window, at most."""

MOST_ENTRIES = 4096
"""Entries of a window before its jobs are placed; one that needs more is left as it is."""

TOO_MUCH = np.inf
"""The value of an order that is given up, or for which there is no room."""


@by_address
class WindowJobs(NamedTuple):
    """What is known of all jobs, and when they start; ``weight`` multiplies a job's part of the objective."""

    submit: Ints
    runtime: Ints
    width: Ints
    weight: Floats
    start: Ints


@by_address
class Window(NamedTuple):
    """Jobs of a window by place: job, first entry to look at, least cost; orders of places, and starts by place."""

    job: Ints
    first: Ints
    least: Floats
    kept_order: Ints
    order: Ints
    kept_start: Ints
    start: Ints
    base_time: Ints
    base_free: Ints
    time: Ints
    free: Ints
    after: Ints


def empty_window() -> Window:
    """A window with room for all that it may need."""
    places, entries = (np.zeros(size, dtype=np.int64) for size in (MOST_JOBS, MOST_ENTRIES + 2 * MOST_JOBS + 2))
    return Window(
        *(
            places.copy(),
            places.copy(),
            np.zeros(MOST_JOBS),
            places.copy(),
            places.copy(),
            places.copy(),
            places.copy(),
        ),
        *(entries.copy(), entries.copy(), entries.copy(), entries.copy(), entries.copy()),
    )


@part
def job_cost(jobs, form, exponent, job, start):
    """What a start of a job adds to the objective."""
    length, wait = float(jobs.runtime[job]), float(start - jobs.submit[job])
    return jobs.weight[job] * cost_of(form, exponent, jobs.width[job], length, wait)


@part
def value_of_order(jobs, form, exponent, window, count, size, opens, limit):
    """The objective of the window's jobs placed in its order; TOO_MUCH as soon as it is sure to exceed the limit."""
    for entry in range(size + 1):
        window.time[entry] = window.base_time[entry]
    for entry in range(size + 1):
        window.free[entry] = window.base_free[entry]
    for entry in range(size + 1):
        window.after[entry] = entry + 1
    rest = 0.0
    for place in range(count):
        rest += window.least[place]
    value, used = 0.0, size + 1
    for turn in range(count):
        place = window.order[turn]
        job = window.job[place]
        earliest = max(jobs.submit[job], opens)
        start, used = _place(window, size, used, window.first[place], jobs.width[job], jobs.runtime[job], earliest)
        if start == NEVER:
            return TOO_MUCH
        window.start[place] = start
        value += job_cost(jobs, form, exponent, job, start)
        rest -= window.least[place]
        if value + rest > limit:
            return TOO_MUCH
    return value


@part
def _place(window, size, used, first, width, duration, start):
    """Hold a width at its earliest start from a moment on; returns it, or NEVER, and how many entries are used."""
    time, free, after = window.time, window.free, window.after
    while time[after[first]] <= start:
        first = after[first]
    while True:
        while free[first] < width:
            if first == size:
                return NEVER, used
            first = after[first]
            start = time[first]
        end, last = start + duration, first
        following = after[first]
        while time[following] < end and free[following] >= width:
            last, following = following, after[following]
        if time[following] >= end:
            break
        first = following
    if time[following] > end:
        time[used], free[used], after[used] = end, free[last], following
        after[last] = following = used
        used += 1
    if time[first] < start:
        time[used], free[used], after[used] = start, free[first], after[first]
        after[first] = first = used
        used += 1
    while first != following:
        free[first] -= width
        first = after[first]
    return start, used
