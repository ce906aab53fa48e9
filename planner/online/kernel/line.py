"""Who waits while a rule walks through a day: jobs join the queue once they are released and others have come first."""

from __future__ import annotations

from typing import NamedTuple

from planner.compiled import part
from planner.domain.columns import Ints
from planner.machine.node_timelines import FOLLOWERS


class Line(NamedTuple):
    """Who waits, in the order of the rule.

    ``arrivals`` are the jobs by release, ``rank`` is the place of each in the rule's order, ``shape`` numbers jobs that
    ask the same, ``cores`` is what each asks in all. ``open`` counts what each still waits for, ``is_released`` whether
    its release is past; ``ready`` are jobs to join the queue and ``ready_count`` how many, of one entry. ``queue`` and
    ``failed`` are scratch space.
    """

    arrivals: Ints
    rank: Ints
    shape: Ints
    cores: Ints
    open: Ints
    is_released: Ints
    ready: Ints
    ready_count: Ints
    queue: Ints
    failed: Ints


@part
def release(line, job):
    """Let a job be released; it is ready unless it waits for others."""
    line.is_released[job] = 1
    if line.open[job] == 0:
        _be_ready(line, job)


@part
def come_first(jobs, line, job, has_ended):
    """Let the jobs be ready that waited for nothing but the start of a job, or its end."""
    for row in range(jobs.link_ptr[FOLLOWERS, job], jobs.link_ptr[FOLLOWERS, job + 1]):
        if jobs.link[FOLLOWERS, row, 1] == has_ended:
            other = jobs.link[FOLLOWERS, row, 0]
            line.open[other] -= 1
            if line.open[other] == 0 and line.is_released[other] == 1:
                _be_ready(line, other)


@part
def join(line, length):
    """Put the jobs that are ready at their places in the queue; returns its length."""
    for index in range(line.ready_count[0]):
        job = line.ready[index]
        place = length
        while place > 0 and line.rank[line.queue[place - 1]] > line.rank[job]:
            line.queue[place] = line.queue[place - 1]
            place -= 1
        line.queue[place] = job
        length += 1
    line.ready_count[0] = 0
    return length


@part
def _be_ready(line, job):
    """Note that a job is to join the queue."""
    line.ready[line.ready_count[0]] = job
    line.ready_count[0] += 1
