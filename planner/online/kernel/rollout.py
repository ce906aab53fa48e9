"""The time ahead tried out: EASY on a pool with holds of one strength, until all jobs of an outlook have started.

The machine is one pool of its first resource, and what lies ahead is a guess anyway: who arrives, and how long jobs
last. So this is a small scheduler of its own, of which thousands of days run in the time of one replay of a day.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, kernel, part
from planner.domain.columns import Floats, Ints
from planner.machine.heap import pop, push
from planner.machine.timeline import NEVER
from planner.online.kernel.hold_one_job import SECONDS_PER_HOUR, cheapest_start, paid_until

MOST_TRIED = 200
"""How many waiting jobs are tried beside the reservation of the first, at most."""

# Rows of the table of jobs.
WIDTH, ESTIMATE, LENGTH, ARRIVE, REFERENCE, COUNT, EXPECTED = range(7)
OUTLOOK_ROWS = 7

# Rows of the table of lists: queue, heaps of ends and of holds, who runs by expected ends, ties, and who was held.
QUEUE, END_KEY, END_JOB, HOLD_KEY, HOLD_JOB, BY_EXPECTED, TIE, WAS_HELD = range(8)
LIST_ROWS = 8

# Places in the counters.
QUEUED, RUNNING, HOLDING, IDLE, ARRIVED, OPEN = range(6)
COUNTERS = 6


@by_address
class Outlook(NamedTuple):
    """What may lie ahead: jobs that run, then those that wait in the order of the queue, then those that will arrive.

    Attributes
    ----------
    job
        One column per job; the rows are named above. ``LENGTH`` is how long it lasts here, in all for jobs that wait,
        from now on for those that run; ``REFERENCE`` the first moment at which it would have started, or -1.
    likely, power_kw
        Likely lengths of each job, as many as ``COUNT`` says; and its power.
    list, counter
        Scratch space: lists of jobs, and counters.
    paid
        What a kW costs until each quarter of an hour from now on [EUR].
    """

    job: Ints
    likely: Ints
    power_kw: Floats
    list: Ints
    counter: Ints
    paid: Floats


@kernel
def rollout(
    outlook, running, now, paid_from, least_eur_per_kwh, capacity, max_delay_s, eur_per_hour, eur_per_held_hour
):
    """What energy and waiting cost by the prices of an hour of waiting and of an hour of which the rule thinks [EUR].

    The first so many jobs run already. With an infinite ``eur_per_held_hour`` nothing is held.
    """
    job, lists, count = outlook.job, outlook.list, outlook.counter
    jobs = job.shape[1]
    for place in range(COUNTERS):
        count[place] = 0
    count[IDLE] = capacity
    for one in range(jobs):
        lists[TIE, one], lists[WAS_HELD, one] = one, 0
    for one in range(running):
        _run(outlook, one, now)
    count[ARRIVED], count[OPEN] = running, jobs - running
    total = 0.0
    while count[OPEN] > 0:
        moment = NEVER
        if count[ARRIVED] < jobs:
            moment = min(moment, max(now, job[ARRIVE, count[ARRIVED]]))
        if count[RUNNING] > 0:
            moment = min(moment, lists[END_KEY, 0])
        if count[HOLDING] > 0:
            moment = min(moment, lists[HOLD_KEY, 0])
        if moment == NEVER:
            return math.inf
        while count[ARRIVED] < jobs and job[ARRIVE, count[ARRIVED]] <= moment:
            _enqueue(outlook, count[ARRIVED])
            count[ARRIVED] += 1
        while count[RUNNING] > 0 and lists[END_KEY, 0] <= moment:
            _end(outlook)
        while count[HOLDING] > 0 and lists[HOLD_KEY, 0] <= moment:
            one = pop(lists[HOLD_KEY], lists[HOLD_JOB], lists[TIE], count[HOLDING])
            count[HOLDING] -= 1
            _enqueue(outlook, one)
        total += _round(
            outlook, moment, now, paid_from, least_eur_per_kwh, max_delay_s, eur_per_hour, eur_per_held_hour
        )
    return total


@part
def _enqueue(outlook, one):
    """Let a job wait, at its place."""
    queue = outlook.list[QUEUE]
    place = outlook.counter[QUEUED]
    while place > 0 and queue[place - 1] > one:
        queue[place] = queue[place - 1]
        place -= 1
    queue[place] = one
    outlook.counter[QUEUED] += 1


@part
def _run(outlook, one, now):
    """Let a job run from now on."""
    lists, count, job = outlook.list, outlook.counter, outlook.job
    push(lists[END_KEY], lists[END_JOB], lists[TIE], count[RUNNING], now + job[LENGTH, one], one)
    order = lists[BY_EXPECTED]
    place = count[RUNNING]
    while place > 0 and job[EXPECTED, order[place - 1]] > job[EXPECTED, one]:
        order[place] = order[place - 1]
        place -= 1
    order[place] = one
    count[RUNNING] += 1
    count[IDLE] -= job[WIDTH, one]


@part
def _end(outlook):
    """Let the job go that ends next."""
    lists, count = outlook.list, outlook.counter
    one = pop(lists[END_KEY], lists[END_JOB], lists[TIE], count[RUNNING])
    order = lists[BY_EXPECTED]
    place = 0
    while order[place] != one:
        place += 1
    count[RUNNING] -= 1
    while place < count[RUNNING]:
        order[place] = order[place + 1]
        place += 1
    count[IDLE] += outlook.job[WIDTH, one]


@part
def _round(outlook, moment, now, paid_from, least_eur_per_kwh, max_delay_s, eur_per_hour, eur_per_held_hour):
    """A round of EASY; returns what the jobs that start cost [EUR]."""
    job, count, queue = outlook.job, outlook.counter, outlook.list[QUEUE]
    total, kept, place, tried = 0.0, np.int64(0), np.int64(0), np.int64(0)
    shadow, spare = np.int64(-1), np.int64(0)
    while place < count[QUEUED]:
        one = queue[place]
        width = job[WIDTH, one]
        is_first = kept == 0
        may = width <= count[IDLE]
        if may and not is_first:
            if shadow < 0:
                shadow, spare = _shadow(outlook, queue[0], moment)
            may = moment + job[ESTIMATE, one] <= shadow or width <= spare
        if may:
            until = _start_of(outlook, one, moment, paid_from, least_eur_per_kwh, max_delay_s, eur_per_held_hour)
            if until == moment:
                if not is_first and moment + job[ESTIMATE, one] > shadow:
                    spare -= width
                job[EXPECTED, one] = moment + job[ESTIMATE, one]
                _run(outlook, one, moment)
                count[OPEN] -= 1
                waited = moment - max(now, job[ARRIVE, one])
                total += eur_per_hour * waited / SECONDS_PER_HOUR
                energy = paid_until(outlook.paid, paid_from, moment + job[LENGTH, one])
                total += outlook.power_kw[one] * (energy - paid_until(outlook.paid, paid_from, moment))
            else:
                lists = outlook.list
                push(lists[HOLD_KEY], lists[HOLD_JOB], lists[TIE], count[HOLDING], until, one)
                count[HOLDING] += 1
        else:
            queue[kept] = one
            kept += 1
            tried += 1
        place += 1
        if kept > 0 and (count[IDLE] == 0 or tried >= MOST_TRIED):
            break
    while place < count[QUEUED]:
        queue[kept] = queue[place]
        kept += 1
        place += 1
    count[QUEUED] = kept
    return total


@part
def _shadow(outlook, head, moment):
    """When the first of the queue can start by the expected ends of what runs, and what is spare beside it then."""
    job, order = outlook.job, outlook.list[BY_EXPECTED]
    free = outlook.counter[IDLE]
    shadow, place = moment, 0
    while place < outlook.counter[RUNNING] and free < job[WIDTH, head]:
        free += job[WIDTH, order[place]]
        shadow = max(moment + 1, job[EXPECTED, order[place]])
        place += 1
    while place < outlook.counter[RUNNING] and job[EXPECTED, order[place]] <= shadow:
        free += job[WIDTH, order[place]]
        place += 1
    return shadow, free - job[WIDTH, head]


@part
def _start_of(outlook, one, moment, paid_from, least_eur_per_kwh, max_delay_s, eur_per_held_hour):
    """When a job starts that has room now: now, or when its hold ends."""
    job = outlook.job
    if eur_per_held_hour == math.inf or outlook.list[WAS_HELD, one] > 0:
        return moment
    reference = job[REFERENCE, one] if job[REFERENCE, one] >= 0 else moment
    lengths, count = outlook.likely[one], job[COUNT, one]
    last, power_kw = reference + max_delay_s, outlook.power_kw[one]
    until = cheapest_start(
        outlook.paid, paid_from, least_eur_per_kwh, power_kw, lengths, count, moment, last, eur_per_held_hour
    )
    outlook.list[WAS_HELD, one] = until - moment
    return until
