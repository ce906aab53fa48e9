"""A rule that walks through time: at each arrival or completion it starts what fits now, in the order of the queue.

A strict one stops at the first that does not fit, and looks again at the next completion.

Nothing is reserved ahead, so what is free now is free for as long as a job wants it, unless an outage of the node is
ahead. Between two completions room only shrinks: a shape of job that found none is not tried again until then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import kernel, part
from planner.domain.columns import Ints
from planner.machine.choose_nodes import copies_in, has_odd_units, pack_the_odd, share_out
from planner.machine.heap import pop, push
from planner.online.kernel.line import come_first, join, release


class Machine(NamedTuple):
    """The machine at one moment.

    Attributes
    ----------
    free
        What each node has left of each resource.
    cores_left, power_left_mw
        Cores left on all nodes together, and power left [mW], of one entry each.
    is_limited
        Whether power is limited.
    end_time, end_job
        A heap of what runs: its ends [s] and jobs.
    running
        How many entries the heap has.
    out_node, out_start, out_end
        Outages: their nodes, starts and ends [s].
    open
        What each node has left for a job that would start now, nothing where an outage is in its way; the array
        ``free`` itself without outages.
    least, taken, cells, pattern
        Scratch space for units of several sizes.
    """

    free: Ints
    cores_left: Ints
    power_left_mw: Ints
    is_limited: bool
    end_time: Ints
    end_job: Ints
    running: Ints
    out_node: Ints
    out_start: Ints
    out_end: Ints
    open: Ints
    least: Ints
    taken: Ints
    cells: Ints
    pattern: Ints


@kernel
def walk(machine, jobs, line, strict, day_end, start_of, node_of_unit):
    """Walk through the day and write the starts and nodes of the jobs that start, -1 for the others.

    A strict rule whose first job does not fit waits for a completion: whoever arrives until then joins the queue, and
    nobody looks at it. While nothing runs there is none to wait for, and arrivals count.
    """
    now, arrived, length = np.int64(0), np.int64(0), np.int64(0)
    epoch, blocked_in = np.int64(1), np.int64(0)
    while now < day_end:
        arrived, length, epoch = take_events(machine, jobs, line, arrived, length, epoch, now, node_of_unit)
        looks = blocked_in != epoch or machine.running[0] == 0
        while looks:
            length = _start_what_fits(machine, jobs, line, length, strict, epoch, now, start_of, node_of_unit)
            if strict and length > 0:
                blocked_in = epoch
            looks = line.ready_count[0] > 0 and blocked_in != epoch
            length = join(line, length)
        now = next_moment(machine, jobs, line, arrived, now, day_end)


@part
def take_events(machine, jobs, line, arrived, length, epoch, now, node_of_unit):
    """Let jobs end, nodes return and jobs arrive; returns who has arrived, the length of the queue, and the epoch.

    A new epoch begins when there may be room that was not there before.
    """
    while machine.running[0] > 0 and machine.end_time[0] <= now:
        come_first(jobs, line, end_first(machine, jobs, node_of_unit), np.int64(1))
        epoch += 1
    for outage in range(machine.out_end.shape[0]):
        if machine.out_end[outage] == now:
            epoch += 1
    while arrived < line.arrivals.shape[0] and jobs.release[line.arrivals[arrived]] <= now:
        release(line, line.arrivals[arrived])
        arrived += 1
    return arrived, join(line, length), epoch


@part
def next_moment(machine, jobs, line, arrived, now, day_end):
    """When a job arrives or ends next, or a node returns; at most the end of the day."""
    following = day_end
    if arrived < line.arrivals.shape[0]:
        following = min(following, jobs.release[line.arrivals[arrived]])
    if machine.running[0] > 0:
        following = min(following, machine.end_time[0])
    for outage in range(machine.out_end.shape[0]):
        if machine.out_end[outage] > now:
            following = min(following, machine.out_end[outage])
    return following


@part
def _start_what_fits(machine, jobs, line, length, strict, epoch, now, start_of, node_of_unit):
    """Go through the queue once; returns how many are left in it."""
    kept = np.int64(0)
    blocked = False
    for place in range(length):
        job = line.queue[place]
        starts = False
        if not blocked:
            if (
                line.failed[line.shape[job]] != epoch
                and line.cores[job] <= machine.cores_left[0]
                and (not machine.is_limited or jobs.power[job] <= machine.power_left_mw[0])
            ):
                if machine.out_node.shape[0] > 0:
                    open_nodes(machine, machine.free, now, now + jobs.duration[job])
                starts = find_nodes(machine, jobs, job, node_of_unit)
                if not starts:
                    line.failed[line.shape[job]] = epoch
            blocked = strict and not starts
        if starts:
            start_of[job] = now
            begin(machine, jobs, job, now + jobs.duration[job], node_of_unit)
            come_first(jobs, line, job, np.int64(0))
        else:
            line.queue[kept] = job
            kept += 1
    return kept


@part
def open_nodes(machine, free, start, end):
    """Note what nodes have left from start to end: nothing where an outage is in the way."""
    copy_nodes(free, machine.open)
    for outage in range(machine.out_node.shape[0]):
        if machine.out_start[outage] < end and machine.out_end[outage] > start:
            for resource in range(free.shape[1]):
                machine.open[machine.out_node[outage], resource] = 0


@part
def copy_nodes(source, target):
    """Copy what nodes have."""
    for node in range(source.shape[0]):
        for resource in range(source.shape[1]):
            target[node, resource] = source[node, resource]


@part
def find_nodes(machine, jobs, job, node_of_unit):
    """Choose nodes in order of their number for all units of a job; returns whether there was room."""
    first, last = jobs.group_ptr[job], jobs.group_ptr[job + 1]
    if last - first > 1:
        return _find_mixed(machine, jobs, job, node_of_unit)
    amount, wanted = jobs.group_amount[first], jobs.group_count[first]
    room = np.int64(0)
    for node in range(machine.free.shape[0]):
        room += copies_in(machine.open[node], amount, wanted - room)
        if room == wanted:
            break
    if room < wanted:
        return False
    unit = jobs.unit_ptr[job]
    for node in range(machine.free.shape[0]):
        for _ in range(copies_in(machine.open[node], amount, jobs.unit_ptr[job + 1] - unit)):
            node_of_unit[unit] = node
            unit += 1
        if unit == jobs.unit_ptr[job + 1]:
            break
    return True


@part
def _find_mixed(machine, jobs, job, node_of_unit):
    """The same for units of several sizes: each odd one where it costs the fewest units of the main group.

    When several odd ones find no room that way, it is decided exactly whether there is any.
    """
    least, taken = machine.least, machine.taken
    main = jobs.main[job]
    wanted = jobs.group_count[main]
    room = np.int64(0)
    for node in range(least.shape[0]):
        for resource in range(least.shape[1]):
            least[node, resource] = machine.open[node, resource]
        taken[node] = copies_in(least[node], jobs.group_amount[main], wanted)
        room += taken[node]
    if share_out(least, taken, room, jobs, job, node_of_unit):
        return True
    if has_odd_units(jobs, job) and pack_the_odd(machine.open, jobs, job, machine.cells, machine.pattern, node_of_unit):
        return True
    for unit in range(jobs.unit_ptr[job], jobs.unit_ptr[job + 1]):
        node_of_unit[unit] = -1
    return False


@part
def begin(machine, jobs, job, end, node_of_unit):
    """Take a job's nodes and power, and note its end."""
    _change(machine, jobs, job, node_of_unit, np.int64(-1))
    push(machine.end_time, machine.end_job, jobs.release, machine.running[0], end, job)
    machine.running[0] += 1


@part
def end_first(machine, jobs, node_of_unit):
    """Give back what the job that ends first holds; returns that job."""
    job = pop(machine.end_time, machine.end_job, jobs.release, machine.running[0])
    machine.running[0] -= 1
    _change(machine, jobs, job, node_of_unit, np.int64(1))
    return job


@part
def _change(machine, jobs, job, node_of_unit, sign):
    """Take (-1) or give back (1) what a job holds."""
    unit = jobs.unit_ptr[job]
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        for _ in range(jobs.group_count[group]):
            for resource in range(machine.free.shape[1]):
                machine.free[node_of_unit[unit], resource] += sign * jobs.group_amount[group, resource]
            machine.cores_left[0] += sign * jobs.group_amount[group, 0]
            unit += 1
    machine.power_left_mw[0] += sign * jobs.power[job]
