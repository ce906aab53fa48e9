"""EASY walking through a day: the first job that cannot start has a reservation, and nothing that starts delays it.

Between now and a reservation room only grows, as what runs comes to its expected end. So a job that is done by then may
have whatever is free now; a longer one only if the first still has room beside it. Which nodes the first will get is
left open until it starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import kernel, part
from planner.domain.columns import Ints
from planner.machine.heap import pop, push
from planner.online.kernel.dispatch import begin, copy_nodes, find_nodes, next_moment, open_nodes, take_events
from planner.online.kernel.line import come_first, join

NEVER = np.int64(2**62)


class Ahead(NamedTuple):
    """What EASY expects.

    Attributes
    ----------
    length
        How long each job is thought to run [s].
    end
        When each job that runs is thought to end [s].
    spare
        What each node has left when the reservation begins, without it.
    power_mw
        Power left when the reservation begins, without it [mW]; one entry.
    end_time, end_job
        Scratch space: a heap of what runs, by expected ends.
    failed
        Scratch space: the round in which a shape of job found no room beside the reservation.
    """

    length: Ints
    end: Ints
    spare: Ints
    power_mw: Ints
    end_time: Ints
    end_job: Ints
    failed: Ints


@kernel
def walk_easy(machine, jobs, line, ahead, day_end, start_of, node_of_unit):
    """Walk through the day and write the starts and nodes of the jobs that start, -1 for the others."""
    now, arrived, length = np.int64(0), np.int64(0), np.int64(0)
    epoch, rounds = np.int64(1), np.int64(0)
    while now < day_end:
        arrived, length, epoch = take_events(machine, jobs, line, arrived, length, epoch, now, node_of_unit)
        rounds += 1
        length = _round(machine, jobs, line, ahead, length, epoch, rounds, now, start_of, node_of_unit)
        while line.ready_count[0] > 0:
            length = join(line, length)
            rounds += 1
            length = _round(machine, jobs, line, ahead, length, epoch, rounds, now, start_of, node_of_unit)
        now = next_moment(machine, jobs, line, arrived, now, day_end)


@part
def _round(machine, jobs, line, ahead, length, epoch, rounds, now, start_of, node_of_unit):
    """Go through the queue once; returns how many are left in it."""
    kept = np.int64(0)
    head, reserved_at = np.int64(-1), NEVER
    for place in range(length):
        job = line.queue[place]
        shape = line.shape[job]
        is_beside = now + ahead.length[job] > reserved_at
        starts = False
        if (
            line.failed[shape] != epoch
            and line.cores[job] <= machine.cores_left[0]
            and (not machine.is_limited or jobs.power[job] <= machine.power_left_mw[0])
            and not (is_beside and ahead.failed[shape] == rounds)
        ):
            open_nodes(machine, machine.free, now, now + ahead.length[job])
            starts = find_nodes(machine, jobs, job, node_of_unit)
            if not starts:
                line.failed[shape] = epoch
            elif is_beside and not _fits_beside(machine, jobs, ahead, job, head, reserved_at, node_of_unit):
                starts = False
                # Power is no part of a shape.
                if not machine.is_limited:
                    ahead.failed[shape] = rounds
        if starts:
            start_of[job] = now
            ahead.end[job] = now + ahead.length[job]
            begin(machine, jobs, job, now + jobs.duration[job], node_of_unit)
            come_first(jobs, line, job, np.int64(0))
        else:
            line.queue[kept] = job
            kept += 1
            if head < 0:
                head = job
                reserved_at = _reserve(machine, jobs, line, ahead, job, now, node_of_unit)
    return kept


@part
def _reserve(machine, jobs, line, ahead, job, now, node_of_unit):
    """Find the earliest start of a job once others have ended, and note what is free then; returns that start [s]."""
    running = machine.running[0]
    for place in range(running):
        other = machine.end_job[place]
        push(ahead.end_time, ahead.end_job, jobs.release, place, max(ahead.end[other], now + 1), other)
    copy_nodes(machine.free, ahead.spare)
    ahead.power_mw[0] = machine.power_left_mw[0]
    cores, moment = machine.cores_left[0], now
    while True:
        following = NEVER
        if running > 0:
            following = ahead.end_time[0]
        for outage in range(machine.out_end.shape[0]):
            if machine.out_end[outage] > moment:
                following = min(following, machine.out_end[outage])
        if following == NEVER:
            return NEVER
        moment = following
        while running > 0 and ahead.end_time[0] <= moment:
            ended = pop(ahead.end_time, ahead.end_job, jobs.release, running)
            running -= 1
            _take(ahead, jobs, ended, node_of_unit, np.int64(1))
            cores += line.cores[ended]
        if cores >= line.cores[job] and _has_room(machine, jobs, ahead, job, moment, node_of_unit):
            return moment


@part
def _fits_beside(machine, jobs, ahead, job, head, reserved_at, node_of_unit):
    """Whether the head still has room at its reservation when a job holds its nodes then; if so, the job takes them."""
    _take(ahead, jobs, job, node_of_unit, np.int64(-1))
    if _has_room(machine, jobs, ahead, head, reserved_at, node_of_unit):
        return True
    _take(ahead, jobs, job, node_of_unit, np.int64(1))
    _forget(jobs, job, node_of_unit)
    return False


@part
def _has_room(machine, jobs, ahead, job, moment, node_of_unit):
    """Whether a job finds nodes and power at a moment ahead."""
    if machine.is_limited and ahead.power_mw[0] < jobs.power[job]:
        return False
    open_nodes(machine, ahead.spare, moment, moment + ahead.length[job])
    found = find_nodes(machine, jobs, job, node_of_unit)
    _forget(jobs, job, node_of_unit)
    return found


@part
def _forget(jobs, job, node_of_unit):
    """Note that a job has no nodes."""
    for unit in range(jobs.unit_ptr[job], jobs.unit_ptr[job + 1]):
        node_of_unit[unit] = -1


@part
def _take(ahead, jobs, job, node_of_unit, sign):
    """Take (-1) or give back (1) what a job holds when the reservation begins."""
    unit = jobs.unit_ptr[job]
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        for _ in range(jobs.group_count[group]):
            for resource in range(ahead.spare.shape[1]):
                ahead.spare[node_of_unit[unit], resource] += sign * jobs.group_amount[group, resource]
            unit += 1
    ahead.power_mw[0] += sign * jobs.power[job]
