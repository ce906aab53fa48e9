"""The first jobs of a trace are the same jobs, on the same machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.job import Dependency
from planner.domain.precedence import links_of
from planner.domain.trace import first_jobs
from planner.online.policies import policy_named
from planner.online.replay import replay
from tests.online.traces import random_cluster_trace


def test_the_first_jobs_keep_units_and_nodes() -> None:
    """A replay of the first ten is what they do alone, with the units and priorities that they have."""
    trace = replace(random_cluster_trace(2), priority=np.arange(30, dtype=np.float64))
    first = first_jobs(trace, 10)
    assert first.ids == trace.ids[:10]
    assert int(first.group_count.sum()) == first.unit_ptr[-1] == trace.unit_ptr[10]
    assert first.group_amount.tolist() == trace.group_amount[: trace.group_ptr[10]].tolist()
    assert first.priority is not None
    assert first.priority.tolist() == list(range(10))
    assert replay(first, policy_named("list"), first.runtime_s).is_started.all()
    assert len(first_jobs(trace, 99)) == 30


def test_links_to_jobs_that_are_left_out_are_dropped() -> None:
    """Job 1 waits for 0, 2 for 3, and 4 for 1: of the first three only the first of these is left."""
    trace = random_cluster_trace(2, jobs=5)
    after = [(), ("j0",), ("j3",), (), ("j1",)]
    links = links_of(trace.ids, [tuple(Dependency("afterany", name) for name in names) for names in after])
    first = first_jobs(replace(trace, links=links), 3).waits
    assert [first.before_of(job) for job in range(3)] == [[], [[0, 1]], []]
    assert [first.followers_of(job) for job in range(3)] == [[[1, 1]], [], []]
