"""The off-line search: windows of a whole schedule, in each of which the order of the jobs is changed step by step.

A window is some jobs whose starts are neighbours, few or many. They are taken out of the schedule, and placed anew in
the order of their starts, which delays none. Then jobs that wait are moved before others, and all are placed again. A
change stays if the objective does not rise by more than a random amount, small or large with the temperature.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.rng import below, fraction
from planner.machine.timeline import NEVER
from planner.online.kernel.offline_schedule import (
    MOST_ENTRIES,
    MOST_JOBS,
    TOO_MUCH,
    job_cost,
    put_back,
    take_out,
    value_of_order,
)

FEWEST_JOBS = 4
"""Jobs of a window, at least; where so many are left."""

ORDERS_PER_JOB = 2
"""Orders tried in a window for each of its jobs; more windows with few orders serve better than few with many."""

STEP = 0.5
"""The next window begins up to this part of its number of jobs later."""

ALL_NEIGHBOURS = 0.3
"""Part of the windows that leave out no job between others."""

LEAST_TAKEN = 0.8
"""Part of the jobs that the others take of those that start in their stretch, at least."""

MOVE_FORWARD, MOVE_BACK = 0.4, 0.6
"""Part of the changes that move a job before another; and that do so or move the other behind it. The rest swap."""

LAST_CHANGE = 0.6
"""How often a change is the last one of an order."""

DRAWS = 8
"""Jobs drawn to find one that waits, before an order is left as it is."""

NEAR_ZERO = 1e-12
"""Part of a value by which sums of the same costs in another order may differ."""


@kernel
def improve(jobs, form, exponent, moments, window, is_out, stream, seat, temperature, orders):
    """Search window after window until so many orders were tried; returns how many were.

    ``seat`` holds the job whose turn it is, and is moved on. Fewer orders are tried where nobody waits.
    """
    total = jobs.submit.shape[0]
    tried, passed = 0, 0
    while tried < orders and passed < total:
        job = seat[0]
        on = np.int64(1)
        if jobs.start[job] > jobs.submit[job]:
            size = np.int64(FEWEST_JOBS * (MOST_JOBS / FEWEST_JOBS) ** fraction(stream))
            tried += _search_window(jobs, form, exponent, moments, window, is_out, stream, job, size, temperature)
            on += below(stream, size * STEP)
            passed = 0
        else:
            passed += 1
        seat[0] = (job + on) % total
    return tried


@kernel
def total_cost(jobs, form, exponent, start):
    """The objective of all jobs with these starts."""
    value = 0.0
    for job in range(start.shape[0]):
        value += job_cost(jobs, form, exponent, job, start[job])
    return value


@part
def _search_window(jobs, form, exponent, moments, window, is_out, stream, job, most, temperature):
    """Change the order of a window around a job; returns how many orders were tried."""
    count = _choose(window, moments, is_out, stream, job, most)
    known, opens = _take_out_all(jobs, moments, window, is_out, count)
    size = _write_base(jobs, moments, window, count, known, opens)
    tried = np.int64(1)
    if size > 0:
        for place in range(count):
            earliest = max(jobs.submit[window.job[place]], opens)
            window.first[place] = _entry_at(window, size, earliest)
            window.least[place] = job_cost(jobs, form, exponent, window.job[place], earliest)
        _sort_by_start(jobs, window, count)
        value = value_of_order(jobs, form, exponent, window, count, size, opens, TOO_MUCH)
        _keep(window, count)
        for _ in range(ORDERS_PER_JOB * count if value < TOO_MUCH else 0):
            tried += 1
            if not _change_order(jobs, window, stream, count, opens):
                continue
            limit = value + abs(value) * NEAR_ZERO
            if temperature > 0.0:
                limit -= temperature * np.log(1.0 - fraction(stream))
            found = value_of_order(jobs, form, exponent, window, count, size, opens, limit)
            if found < TOO_MUCH:
                value = found
                _keep(window, count)
        if value < TOO_MUCH:
            for place in range(count):
                jobs.start[window.job[place]] = window.kept_start[place]
    for place in range(count):
        one = window.job[place]
        put_back(moments, one, jobs.width[one], jobs.start[one], jobs.start[one] + jobs.runtime[one], known)
        is_out[one] = 0
    return tried


@part
def _choose(window, moments, is_out, stream, job, most):
    """Write a job and others that start about then into the window; returns how many."""
    share = 1.0
    if fraction(stream) >= ALL_NEIGHBOURS:
        share = LEAST_TAKEN + (1.0 - LEAST_TAKEN) * fraction(stream)
    window.job[0] = job
    is_out[job] = 1
    earlier = below(stream, most * STEP)
    start = 3 * job + 1
    count = _gather(window, moments.before, is_out, stream, start, share, np.int64(1), most, earlier)
    return _gather(window, moments.after, is_out, stream, start, share, count, most, NEVER)


@part
def _gather(window, chain, is_out, stream, moment, share, count, most, reach):
    """Go along a chain until the window is full or so many starts were passed; returns how many jobs it has then."""
    moment = chain[moment]
    while count < most and reach > 0 and moment < chain.shape[0] - 2:
        if moment % 3 == 1:
            reach -= 1
            if fraction(stream) < share:
                window.job[count] = moment // 3
                is_out[moment // 3] = 1
                count += 1
        moment = chain[moment]
    return count


@part
def _take_out_all(jobs, moments, window, is_out, count):
    """Take the window's jobs out; returns a moment before all that may change, and when the window opens.

    It opens a little before the first start, since a job that was submitted before may fit there when it goes first.
    """
    first, submitted = window.job[0], NEVER
    for place in range(count):
        job = window.job[place]
        submitted = min(submitted, jobs.submit[job])
        if jobs.start[job] < jobs.start[first]:
            first = job
    for place in range(count):
        take_out(moments, window.job[place], jobs.width[window.job[place]])
    known = moments.before[3 * first + 1]
    while known % 3 == 1 and known < moments.time.shape[0] - 2 and is_out[known // 3] == 1:
        known = moments.before[known]
    for _ in range(count):
        if moments.time[known] > submitted:
            known = moments.before[known]
    return known, max(submitted, moments.time[known])


@part
def _write_base(jobs, moments, window, count, known, opens):
    """Write what is free beside the window's jobs; returns the number of entries, 0 where they are too many.

    It reaches beyond the last end by the longest job, so that any job can go last.
    """
    ended, longest = opens, np.int64(0)
    for place in range(count):
        job = window.job[place]
        ended = max(ended, jobs.start[job] + jobs.runtime[job])
        longest = max(longest, jobs.runtime[job])
    time, free = window.base_time, window.base_free
    time[0], free[0] = opens, moments.free[known]
    size = np.int64(1)
    moment = moments.after[known]
    while moments.time[moment] < ended + longest and size < MOST_ENTRIES:
        if moments.time[moment] <= time[size - 1]:
            free[size - 1] = moments.free[moment]
            if size > 1 and free[size - 1] == free[size - 2]:
                size -= 1
        elif moments.free[moment] != free[size - 1]:
            time[size], free[size] = moments.time[moment], moments.free[moment]
            size += 1
        moment = moments.after[moment]
    time[size], free[size] = moments.time[moment], 0
    return size if time[size] >= ended else np.int64(0)


@part
def _entry_at(window, size, moment):
    """The entry that holds at a moment."""
    low, high = np.int64(0), size
    while high - low > 1:
        middle = (low + high) // 2
        if window.base_time[middle] <= moment:
            low = middle
        else:
            high = middle
    return low


@part
def _sort_by_start(jobs, window, count):
    """Put the window's jobs into the order of their starts."""
    for turn in range(count):
        start = jobs.start[window.job[turn]]
        before = turn
        while before > 0 and jobs.start[window.job[window.order[before - 1]]] > start:
            window.order[before] = window.order[before - 1]
            before -= 1
        window.order[before] = turn


@part
def _keep(window, count):
    """Keep the order that was tried, and its starts."""
    for place in range(count):
        window.kept_order[place] = window.order[place]
        window.kept_start[place] = window.start[place]


@part
def _change_order(jobs, window, stream, count, opens):
    """Change the kept order; False where no job was found that waits, as no change is of use to the others."""
    for turn in range(count):
        window.order[turn] = window.kept_order[turn]
    later = _waiting_turn(jobs, window, stream, count, opens)
    if later == 0:
        return False
    while True:
        earlier = below(stream, later)
        kind = fraction(stream)
        moved, other = window.order[later], window.order[earlier]
        if kind < MOVE_FORWARD:
            for turn in range(later, earlier, -1):
                window.order[turn] = window.order[turn - 1]
            window.order[earlier] = moved
        elif kind < MOVE_BACK:
            for turn in range(earlier, later):
                window.order[turn] = window.order[turn + 1]
            window.order[later] = other
        else:
            window.order[earlier], window.order[later] = moved, other
        if fraction(stream) < LAST_CHANGE:
            return True
        later = 1 + below(stream, count - 1)


@part
def _waiting_turn(jobs, window, stream, count, opens):
    """A turn, but the first, of a job that waits; 0 if none was found."""
    if count > 1:
        for _ in range(DRAWS):
            turn = 1 + below(stream, count - 1)
            place = window.order[turn]
            if window.kept_start[place] > max(jobs.submit[window.job[place]], opens):
                return turn
    return np.int64(0)
