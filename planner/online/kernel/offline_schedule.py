"""A schedule on one pool, from which jobs are taken and placed anew: all its moments in a chain, and a window of it.

In the chain jobs are taken out and put back without a look at the rest. Every job has three moments: 3 x job is its
submission, the next one its start, the next one its end. Behind those of all jobs come the beginning and the end of
time. ``free`` says what is free from a moment until the one after it. Of moments in the same second ends come first, so
that nothing in between has less room than the second itself.

A window is a stretch of the schedule without some of its jobs, on which these are placed anew in one order after
another. Entry k of ``base_time`` and ``base_free`` says what is free from then on beside the jobs that stay; the last
entry is where the stretch ends, and nothing has room there. To place jobs these are copied, and new entries are linked
in between, since moving all later ones would take longer than everything else.
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
class Moments(NamedTuple):
    """The chain: when each moment is [s], what is free from then on, and the moments after and before it."""

    time: Ints
    free: Ints
    after: Ints
    before: Ints


def moments_of(submit_s: Ints, start_s: Ints, runtime_s: Ints, width: Ints, processors: int) -> Moments:
    """The chain of a schedule."""
    count = len(submit_s)
    time = np.append(np.column_stack([submit_s, start_s, start_s + runtime_s]).ravel(), [-NEVER, NEVER])
    change = np.append(np.column_stack([np.zeros_like(width), -width, width]).ravel(), [processors, 0])
    rank = np.append(np.tile([1, 2, 0], count), [0, 0])
    order = np.lexsort((rank, time))
    free, after, before = np.zeros_like(time), np.zeros_like(time), np.zeros_like(time)
    free[order] = np.cumsum(change[order])
    after[order] = np.append(order[1:], order[-1])
    before[order] = np.append(order[0], order[:-1])
    return Moments(time, free, after, before)


@part
def take_out(moments, job, width):
    """Take the start and the end of a job out of the chain; they still know what was before them."""
    start = 3 * job + 1
    end = start + 1
    moment = moments.after[start]
    while moment != end:
        moments.free[moment] += width
        moment = moments.after[moment]
    for gone in (end, start):
        moments.after[moments.before[gone]] = moments.after[gone]
        moments.before[moments.after[gone]] = moments.before[gone]


@part
def put_back(moments, job, width, start_s, end_s, known):
    """Put a job that was taken out back into the chain; ``known`` is a moment no later than its start."""
    start = 3 * job + 1
    end = start + 1
    while moments.time[moments.after[known]] <= start_s:
        known = moments.after[known]
    moments.time[start], moments.free[start] = start_s, moments.free[known] - width
    _link(moments, start, known)
    last = start
    while moments.time[moments.after[last]] < end_s:
        last = moments.after[last]
        moments.free[last] -= width
    moments.time[end], moments.free[end] = end_s, moments.free[last] + width
    _link(moments, end, last)


@part
def _link(moments, moment, before):
    after = moments.after[before]
    moments.after[before], moments.before[moment] = moment, before
    moments.after[moment], moments.before[after] = after, moment


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
