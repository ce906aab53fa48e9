"""The cheapest start of every job where processors have a price, and the processors that these starts would take.

Slot k lasts from ``edges[k]`` to ``edges[k + 1]`` and costs ``price[k]`` per processor and second; ``total[k]`` is what
one processor costs from the first edge to ``edges[k]``. The last slot costs nothing and has no end. Between the moments
at which start or end of a job passes an edge, what it pays for processors is a straight line in its start. Times are
whole seconds, counted from the first edge.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.heap import pop, push

MOST_STRETCHES = 20_000
"""Stretches that are looked at for one job; what lies beyond counts as if processors were free there."""

DAY_S = 86400.0
"""Responses are raised to powers in days."""


@kernel
def cheapest_starts(jobs, slope, flat_until, release_slot, end_slot, edges, total, price, lowest, whole, parts):
    """Where each second of waiting after ``flat_until`` costs the slope: the least cost of each job, to ``lowest``.

    ``jobs`` has a row of releases, one of runtimes and one of widths. ``whole`` and ``parts`` get what the starts take,
    see `_take`.
    """
    last = len(price) - 1
    for job in range(len(slope)):
        release, runtime, width = jobs[0, job], jobs[1, job], jobs[2, job]
        begin, end, start = release_slot[job], end_slot[job], release
        best, best_start, best_begin, best_end = np.inf, start, begin, end
        for stretch in range(MOST_STRETCHES + 1):
            waiting = slope[job] * max(0.0, start - flat_until[job])
            if waiting >= best:  # later starts cost at least as much, even with free processors
                break
            if stretch == MOST_STRETCHES:
                best, best_start, best_begin, best_end = waiting, start, last, last
                break
            cost = waiting + width * _paid(edges, total, price, start, begin, start + runtime, end)
            if cost < best:
                best, best_start, best_begin, best_end = cost, start, begin, end
            if begin == last:
                break
            after = min(edges[begin + 1], edges[end + 1] - runtime)
            start = flat_until[job] if start < flat_until[job] < after else after
            begin += edges[begin + 1] <= start
            end += edges[end + 1] <= start + runtime
        lowest[job] = best
        _take(whole, parts, edges, width, best_start, best_begin, best_start + runtime, best_end)


@kernel
def cheapest_powered_starts(
    jobs, quotient, release_slot, end_slot, edges, total, price, lowest, sizes, below, whole, parts
):
    """Where a start costs width x (3/4 (F^4 - Q^4) - quotient (F^3 - Q^3)): the least cost of each job, to ``lowest``.

    F is the response and Q the wait in days, and the quotient is in days too. ``sizes`` gets the largest sum of the
    sizes of both terms over all starts looked at, and ``below`` width x (F^3 - Q^3). Between two moments the cost is of
    the third degree in the start: least at one of its ends, or where its derivative crosses zero upwards.
    """
    last = len(price) - 1
    for job in range(len(lowest)):
        release, runtime, width = jobs[0, job], jobs[1, job], jobs[2, job]
        days = runtime / DAY_S
        turn = _upward_zero(days, quotient, 0.0)  # with free processors the cost falls until here, then it rises
        begin, end, start = release_slot[job], end_slot[job], release
        best, best_start, best_begin, best_end = np.inf, start, begin, end
        for stretch in range(MOST_STRETCHES + 1):
            wait = (start - release) / DAY_S
            alone = width * _powered(max(wait, turn), days, quotient)
            if alone >= best:
                break
            if stretch == MOST_STRETCHES:
                best, best_start, best_begin, best_end = alone, release + max(wait, turn) * DAY_S, last, last
                break
            after = np.inf if begin == last else min(edges[begin + 1], edges[end + 1] - runtime)
            change = (price[end] - price[begin]) * DAY_S
            lowest_at = release + _upward_zero(days, quotient, change) * DAY_S
            for moment in (start, lowest_at):
                if start <= moment < after:
                    cost = width * _powered((moment - release) / DAY_S, days, quotient)
                    cost += width * _paid(edges, total, price, moment, begin, moment + runtime, end)
                    if cost < best:
                        best, best_start, best_begin, best_end = cost, moment, begin, end
            if begin == last:
                break
            start = after
            begin += edges[begin + 1] <= start
            end += edges[end + 1] <= start + runtime
        lowest[job] = best
        sizes[job] = width * _powered(max(wait, turn, (best_start - release) / DAY_S), days, -quotient)
        wait = (best_start - release) / DAY_S
        below[job] = width * days * (3.0 * wait * (wait + days) + days * days)
        _take(whole, parts, edges, width, best_start, best_begin, best_start + runtime, best_end)


@part
def _paid(edges, total, price, start, begin, stop, end):
    """What one processor costs from a start in one slot to a stop in another."""
    return total[end] + price[end] * (stop - edges[end]) - (total[begin] + price[begin] * (start - edges[begin]))


@part
def _take(whole, parts, edges, width, start, begin, stop, end):
    """Note a width from start to stop: ``parts`` in the first and the last slot, ``whole`` in those between.

    ``parts`` are processor-seconds, ``whole`` by how many processors more than the slot before.
    """
    if begin == len(parts) - 1:
        return
    if begin == end:
        parts[begin] += width * (stop - start)
        return
    parts[begin] += width * (edges[begin + 1] - start)
    parts[end] += width * (stop - edges[end])
    whole[begin + 1] += width
    whole[end] -= width


@part
def _powered(wait, days, quotient):
    """3/4 (F^4 - Q^4) - quotient (F^3 - Q^3) with F = Q + days."""
    above = wait * (4.0 * wait * wait + 6.0 * wait * days + 4.0 * days * days) + days * days * days
    return days * (0.75 * above - quotient * (3.0 * wait * (wait + days) + days * days))


@part
def _upward_zero(days, quotient, change):
    """The wait, at least 0, at which the derivative of `_powered` plus a constant change crosses zero upwards."""
    half = 2.0 * quotient - 3.0 * days
    inside = half * half - 12.0 * (days * days - quotient * days + change / (3.0 * days))
    return 0.0 if inside <= 0.0 else max(0.0, (half + np.sqrt(inside)) / 6.0)


@kernel
def mean_busy_times(release, work, worth, keys, jobs, ties, left, since_release):
    """From release to the mean moment at which each job is worked on, to ``since_release``.

    ``release`` in order and ``work`` in one unit of time; the other arrays are room, one entry per job.
    """
    count = len(release)
    now = np.int64(0)
    arrived = np.int64(0)
    size = np.int64(0)
    while arrived < count or size > 0:
        if size == 0:
            now = max(now, release[arrived])
        while arrived < count and release[arrived] <= now:
            ties[arrived], left[arrived], since_release[arrived] = arrived, work[arrived], 0.0
            push(keys, jobs, ties, size, -worth[arrived], arrived)
            size += 1
            arrived += 1
        job = pop(keys, jobs, ties, size)
        size -= 1
        span = left[job]
        if arrived < count:
            span = min(span, release[arrived] - now)
        since_release[job] += span * (now - release[job] + 0.5 * span) / work[job]
        now += span
        left[job] -= span
        if left[job] > 0:
            push(keys, jobs, ties, size, -worth[job], job)
            size += 1
