"""Jobs placed on the timelines one by one, each at its given start, or at its earliest start."""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.choose_nodes import pack_equal, pack_mixed
from planner.machine.earliest import earliest_for_group, learned_start, remember
from planner.machine.node_timelines import BEFORE, hold, hold_power
from planner.machine.timeline import NEVER, first_room


@kernel
def place_from(timelines, jobs, order, position, start_of, node_of_unit):
    """Place the jobs of ``order`` from a position on, and write their starts and nodes, -1 where deferred.

    A job that has a start already, from 0 on, is put there on the nodes that it has. What a job waits for must have its
    start by the job's turn; otherwise the job is deferred.
    Returns the number of jobs of the order that are placed or deferred: all of them, or fewer when a timeline is full.
    Then the timelines have to be widened, and the placement goes on from there.
    """
    for turn in range(position, order.shape[0]):
        job = order[turn]
        start, is_given = start_of[job], start_of[job] >= 0
        if not is_given:
            start = earliest_start(timelines, jobs, job, first_turn(jobs, job, start_of), node_of_unit)
        units = node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        if start >= timelines.day_end_s:
            start = np.int64(-1)
            for unit in range(units.shape[0]):
                units[unit] = -1
        else:
            end = start + jobs.duration[job]
            if not is_given and jobs.group_ptr[job + 1] - jobs.group_ptr[job] == 1:
                pack_equal(timelines, jobs.group_amount[jobs.main[job]], start, end, units)
            for node in units:
                if timelines.length[node] + 2 > timelines.times.shape[1]:
                    return turn
            hold_job(timelines, jobs, job, np.int64(1), start, end, units)
        start_of[job] = start
    return order.shape[0]


@part
def first_turn(jobs, job, start_of):
    """First second at which a job may start by its release and by what it waits for; NEVER while that has no start."""
    turn = jobs.release[job]
    for row in range(jobs.link_ptr[BEFORE, job], jobs.link_ptr[BEFORE, job + 1]):
        other = jobs.link[BEFORE, row, 0]
        if start_of[other] < 0:
            return NEVER
        turn = max(turn, start_of[other] + jobs.link[BEFORE, row, 1] * jobs.duration[other])
    return turn


@part
def earliest_start(timelines, jobs, job, release, node_of_unit):
    """Earliest start of a job from its release on, or a time from the day's end on.

    Units of several sizes get their nodes on the way.
    """
    day_end, limit = timelines.day_end_s, timelines.power_limit_mw
    first, last, main = jobs.group_ptr[job], jobs.group_ptr[job + 1], jobs.main[job]
    span = jobs.duration[job]
    amount, count = jobs.group_amount[main], jobs.group_count[main]
    power = jobs.power[job] if limit >= 0 else np.int64(0)
    timelines.watts[0] = power
    start = learned_start(timelines.start_bounds, timelines.remembered[0], amount, count, span, release, power)

    while start < day_end:
        moved = start
        if limit >= 0:
            moved = first_room(
                timelines.site_times, timelines.site_free, timelines.site_length, np.int64(0), timelines.watts,
                np.int64(1), span, moved, day_end - 1,
            )  # fmt: skip
        for group in range(first, last):
            if moved < day_end:
                moved = earliest_for_group(
                    timelines, jobs.group_amount[group], jobs.group_need[group], span, moved, day_end - 1
                )
        if last - first == 1 and (moved == start or limit < 0):
            start = moved
            break
        if moved == start:
            if pack_mixed(timelines, jobs, job, start, start + span, node_of_unit):
                break
            moved = _next_gain(timelines, start)
        start = moved

    if last - first == 1:
        remember(timelines.start_bounds, timelines.remembered[0], amount, count, span, release, power, start)
        timelines.remembered[0] += 1
    return start


@part
def _next_gain(timelines, moment):
    """The next time after a moment at which any node has more of anything free than just before."""
    soonest = NEVER
    for node in range(timelines.length.shape[0]):
        for entry in range(1, timelines.length[node]):
            if timelines.times[node, entry] >= soonest:
                break
            if timelines.times[node, entry] > moment:
                gains = False
                for resource in range(timelines.free.shape[2]):
                    if timelines.free[node, entry, resource] > timelines.free[node, entry - 1, resource]:
                        gains = True
                if gains:
                    soonest = timelines.times[node, entry]
                    break
    return soonest


@part
def hold_job(timelines, jobs, job, sign, start, end, units):
    """Hold a job's nodes and its power from start to end (sign 1), or give them back (sign -1)."""
    unit = 0
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        for _ in range(jobs.group_count[group]):
            hold(timelines, units[unit], jobs.group_amount[group], sign, start, end)
            unit += 1
    if timelines.power_limit_mw >= 0:
        hold_power(timelines, sign * jobs.power[job], start, end)
