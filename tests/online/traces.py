"""Random small traces for tests of the replay."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from planner.domain.trace import Machine, Trace, pool_trace


def random_trace(seed: int, *, jobs: int = 40, processors: int = 10, users: int = 3) -> Trace:
    """Jobs that crowd a small pool: ties in submit times, widths and runtimes are common."""
    rng = np.random.default_rng(seed)
    runtime = rng.integers(1, 60, jobs)
    return pool_trace(
        tuple(f"j{k}" for k in range(jobs)),
        np.sort(rng.integers(0, 300, jobs)),
        runtime,
        runtime + rng.integers(0, 60, jobs) * rng.integers(0, 2, jobs),
        rng.integers(1, processors + 1, jobs),
        processors,
        user=rng.integers(0, users, jobs),
        name=rng.integers(-1, 2, jobs),
        source="random",
    )


def as_nodes(trace: Trace) -> Trace:
    """The same jobs on nodes of one processor each: a job of width w has w units."""
    nodes = int(trace.machine.capacity[0, 0])
    count = len(trace)
    return Trace(
        ids=trace.ids,
        submit_s=trace.submit_s,
        runtime_s=trace.runtime_s,
        requested_s=trace.requested_s,
        width=trace.width,
        machine=Machine(np.ones((nodes, 1), dtype=np.int64)),
        group_ptr=np.arange(count + 1),
        group_count=trace.width,
        group_amount=np.ones((count, 1), dtype=np.int64),
        unit_ptr=np.concatenate([[0], np.cumsum(trace.width)]),
        power_mw=trace.power_mw,
        user=trace.user,
        name=trace.name,
        group=trace.group,
        queue=trace.queue,
        source=trace.source,
    )


def random_cluster_trace(seed: int, *, jobs: int = 30, power_limit: int = -1) -> Trace:
    """Jobs of one or two groups of units on nodes of two classes with two resources."""
    rng = np.random.default_rng(seed)
    capacity = np.array([[4, 8]] * 3 + [[8, 4]] * 2, dtype=np.int64)
    groups = rng.integers(1, 3, jobs)
    pointers = np.concatenate([[0], np.cumsum(groups)]).astype(np.int64)
    total = int(pointers[-1])
    counts = rng.integers(1, 3, total)
    amounts = np.column_stack([rng.integers(1, 4, total), rng.integers(0, 4, total)])
    units = np.concatenate([[0], np.cumsum(counts)])[pointers].astype(np.int64)
    width = np.array([int((counts[a:b] * amounts[a:b, 0]).sum()) for a, b in pairwise(pointers)])
    runtime = rng.integers(1, 60, jobs)
    unknown = np.full(jobs, -1, dtype=np.int64)
    return Trace(
        ids=tuple(f"j{k}" for k in range(jobs)),
        submit_s=np.sort(rng.integers(0, 200, jobs)),
        runtime_s=runtime,
        requested_s=runtime + rng.integers(0, 30, jobs),
        width=width,
        machine=Machine(capacity, power_limit),
        group_ptr=pointers,
        group_count=counts,
        group_amount=amounts,
        unit_ptr=units,
        power_mw=rng.integers(1, 50, jobs),
        user=rng.integers(0, 3, jobs),
        name=unknown,
        group=unknown,
        queue=unknown,
        source="random cluster",
    )


def one_group_each(trace: Trace) -> Trace:
    """The same jobs, of which each keeps its first group of units alone."""
    first = trace.group_ptr[:-1]
    count, amount = trace.group_count[first], trace.group_amount[first]
    return replace(
        trace,
        width=count * amount[:, 0],
        group_ptr=np.arange(len(trace) + 1),
        group_count=count,
        group_amount=amount,
        unit_ptr=np.concatenate([[0], np.cumsum(count)]),
    )


def placed(trace: Trace, order: tuple[int, ...]) -> list[int]:
    """Every job at its earliest second from its submission on, by counting what is used in each second."""
    used: dict[int, int] = {}
    starts = [0] * len(trace)
    for job in order:
        start, length, width = int(trace.submit_s[job]), int(trace.runtime_s[job]), int(trace.width[job])
        room = trace.machine.capacity[0, 0] - width
        while any(used.get(second, 0) > room for second in range(start, start + length)):
            start += 1
        for second in range(start, start + length):
            used[second] = used.get(second, 0) + width
        starts[job] = start
    return starts
