"""Timelines of all nodes while jobs are being placed, as flat arrays that can be copied and restored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, part
from planner.domain.columns import Ints, JobColumns
from planner.domain.plan import most_cells
from planner.domain.precedence import Links, no_links
from planner.machine.earliest import BOUND_COLUMNS
from planner.machine.timeline import hold_units, note_tops

BUCKETS = 96
"""Stretches of the day for which the most free cores of each node are kept."""

BEFORE, FOLLOWERS = 0, 1
"""Rows of the links between jobs: what a job waits for, and what waits for it."""

REMEMBERED = 48
"""How many earlier jobs' starts are kept to bound later ones."""


@by_address
class JobTable(NamedTuple):
    """The jobs as the kernel takes them.

    ``main`` is the largest group of each job. ``group_need`` counts, for each group, the units of its job that ask at
    least as much as one of its own: that many of its size must have room at once wherever the job starts. ``link_ptr``
    and ``link`` say what each job waits for (row `BEFORE`) and what waits for it (row `FOLLOWERS`), as in
    `planner.domain.precedence.Links`; few arrays, because compiled code takes each one apart in every call.
    """

    release: Ints
    duration: Ints
    power: Ints
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    unit_ptr: Ints
    main: Ints
    group_need: Ints
    link_ptr: Ints
    link: Ints


def kernel_jobs(
    *,
    release: Ints,
    duration: Ints,
    power: Ints,
    group_ptr: Ints,
    group_count: Ints,
    group_amount: Ints,
    unit_ptr: Ints,
    links: Links | None = None,
) -> JobTable:
    """The jobs with what follows from their groups; without links nobody waits for anybody."""
    main, need = group_ptr[:-1].copy(), group_count.copy()
    for job in np.flatnonzero(np.diff(group_ptr) > 1):
        groups = slice(group_ptr[job], group_ptr[job + 1])
        amounts, counts = group_amount[groups], group_count[groups]
        main[job] += np.argmax(counts)
        asks_more = np.all(amounts[None, :, :] >= amounts[:, None, :], axis=2)
        need[groups] = np.where(asks_more, counts[None, :], 0).sum(axis=1)
    waits = links or no_links(len(release))
    return JobTable(
        release, duration, power, group_ptr, group_count, group_amount, unit_ptr, main, need,
        np.array([waits.before_ptr, waits.follower_ptr]), np.array([waits.before, waits.followers]),
    )  # fmt: skip


def jobs_of(columns: JobColumns) -> JobTable:
    """Jobs of a problem as the kernels take them."""
    return kernel_jobs(
        release=columns.release_s,
        duration=columns.duration_s,
        power=columns.power_mw,
        group_ptr=columns.group_ptr,
        group_count=columns.group_count,
        group_amount=columns.group_amount,
        unit_ptr=columns.unit_ptr,
        links=columns.links,
    )


@by_address
class NodeTimelines(NamedTuple):
    """Timelines of all nodes and of the site's power, and what was learned so far.

    Attributes
    ----------
    bucket_s, day_end_s
        Length of a bucket and end of the day [s].
    power_limit_mw
        Power limit [mW], or -1.
    capacity
        Capacity of each node and resource.
    times, free, length
        Timelines of the nodes: see `timeline`.
    tops
        The most free cores of each node in each bucket; shape (buckets, nodes).
    crests
        An upper limit on the free cores of any node in each bucket.
    site_times, site_free, site_length
        One more timeline, of the power that is left.
    start_bounds, remembered
        What earlier jobs asked and where they could start, and how many there were.
    least, taken, ready, known, watts, cells, pattern
        Scratch space.
    """

    bucket_s: np.int64
    day_end_s: np.int64
    power_limit_mw: np.int64
    capacity: Ints
    times: Ints
    free: Ints
    length: Ints
    tops: Ints
    crests: Ints
    site_times: Ints
    site_free: Ints
    site_length: Ints
    start_bounds: Ints
    remembered: Ints
    least: Ints
    taken: Ints
    ready: Ints
    known: Ints
    watts: Ints
    cells: Ints
    pattern: Ints


def new_timelines(
    capacity: Ints, *, day_end: int, power_limit: int, jobs: JobTable, running: int = 0, width: int = 16
) -> NodeTimelines:
    """An empty machine, with room for ``width`` timeline entries per node; ``power_limit`` below 0 means none."""
    node_count, resource_count = capacity.shape
    bucket_s = max(1, -(-day_end // BUCKETS))
    free = np.zeros((node_count, width, resource_count), np.int64)
    free[:, 0] = capacity
    site_width = 2 * (len(jobs.release) + running) + 9 if power_limit >= 0 else 1
    return NodeTimelines(
        bucket_s=np.int64(bucket_s),
        day_end_s=np.int64(day_end),
        power_limit_mw=np.int64(power_limit),
        capacity=capacity,
        times=np.zeros((node_count, width), np.int64),
        free=free,
        length=np.ones(node_count, np.int64),
        tops=np.tile(capacity[:, 0], (-(-day_end // bucket_s), 1)),
        crests=np.full(-(-day_end // bucket_s), capacity[:, 0].max(), np.int64),
        site_times=np.zeros((1, site_width), np.int64),
        site_free=np.full((1, site_width, 1), power_limit, np.int64),
        site_length=np.ones(1, np.int64),
        start_bounds=np.zeros((REMEMBERED, resource_count + BOUND_COLUMNS), np.int64),
        remembered=np.zeros(1, np.int64),
        least=np.zeros((node_count, resource_count), np.int64),
        taken=np.zeros(node_count, np.int64),
        ready=np.zeros(_most_ready(capacity, jobs), np.int64),
        known=np.zeros(node_count, np.int64),
        watts=np.zeros(1, np.int64),
        cells=np.zeros(most_cells(jobs.group_ptr, jobs.group_count, node_count), np.int64),
        pattern=np.zeros(most_groups(jobs), np.int64),
    )


def copy_timelines(timelines: NodeTimelines) -> NodeTimelines:
    """Timelines of their own with the same contents."""
    return NodeTimelines._make(part.copy() for part in timelines)


def wider_timelines(timelines: NodeTimelines) -> NodeTimelines:
    """The same timelines with twice the room for entries."""
    times = np.concatenate([timelines.times, np.zeros_like(timelines.times)], axis=1)
    free = np.concatenate([timelines.free, np.zeros_like(timelines.free)], axis=1)
    return timelines._replace(times=times, free=free)


@part
def hold(timelines, node, amount, sign, start, end):
    """Take a unit's amount from a node from start to end (sign 1), or give it back (sign -1).

    What was learned so far no longer holds once something is given back.
    """
    hold_units(timelines.times, timelines.free, timelines.length, node, amount, sign, start, end)
    note_tops(timelines.times, timelines.free, timelines.length, timelines.tops, timelines.bucket_s, node, start, end)
    if sign > 0:
        return
    last = min((end - 1) // timelines.bucket_s, timelines.tops.shape[0] - 1)
    for bucket in range(start // timelines.bucket_s, last + 1):
        timelines.crests[bucket] = max(timelines.crests[bucket], timelines.tops[bucket, node])
    timelines.remembered[0] = 0


@part
def hold_power(timelines, power, start, end):
    """Take power from the site's limit from start to end; a negative one gives it back."""
    timelines.watts[0] = power
    hold_units(
        timelines.site_times,
        timelines.site_free,
        timelines.site_length,
        np.int64(0),
        timelines.watts,
        np.int64(1),
        start,
        end,
    )


def most_groups(jobs: JobTable) -> int:
    """The most groups of equal units that a job has; at least one."""
    return int(np.diff(jobs.group_ptr).max(initial=1))


def _most_ready(capacity: Ints, jobs: JobTable) -> int:
    """The most units of any one group that the empty machine names starts for."""
    most = len(capacity)
    several = np.flatnonzero(jobs.group_need > 1)
    shapes = np.unique(np.column_stack([jobs.group_need, jobs.group_amount])[several], axis=0)
    for count, *amount in shapes.tolist():
        asked = np.array(amount)
        copies = np.min(capacity[:, asked > 0] // asked[asked > 0], axis=1)
        most = max(most, int(np.minimum(copies, count).sum()))
    return most
