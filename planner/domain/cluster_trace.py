"""Jobs as a trace on the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Floats, Ints, job_columns, node_columns
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.precedence import links_of
from planner.domain.restrictions import Restrictions
from planner.domain.trace import Machine, Trace
from planner.units import MILLI


def cluster_trace_of(
    jobs: Sequence[Job], runtime_s: Ints, requested_s: Ints, cluster: Cluster, *, origin_unix: int, source: str
) -> Trace:
    """A trace of jobs in order of release; its times count from a moment before all of them.

    A job that may not begin before some time joins the queue then: the trace takes that for its submission.
    """
    # Any day will do: what the columns say about a day is not used.
    restrictions = Restrictions.of(jobs)
    columns = job_columns(jobs, cluster, Horizon.of_unix(0, "UTC"), restrictions=restrictions)
    per_group = np.repeat(np.arange(len(jobs)), np.diff(columns.group_ptr))
    width = np.zeros(len(jobs), dtype=np.int64)
    np.add.at(width, per_group, columns.group_count * columns.group_amount[:, 0])
    limit = cluster.power_limit_mw
    ids = tuple(job.id for job in jobs)
    return Trace(
        ids=ids,
        submit_s=np.array([job.release_unix - origin_unix for job in jobs], dtype=np.int64),
        runtime_s=runtime_s,
        requested_s=requested_s,
        width=np.maximum(width, 1),
        machine=Machine(node_columns(cluster, restrictions).capacity, -1 if limit is None else limit, MILLI),
        group_ptr=columns.group_ptr,
        group_count=columns.group_count,
        group_amount=columns.group_amount,
        unit_ptr=columns.unit_ptr,
        power_mw=columns.power_mw,
        user=codes(job.user for job in jobs),
        name=codes(job.name for job in jobs),
        group=codes(job.account for job in jobs),
        queue=np.full(len(jobs), -1, dtype=np.int64),
        origin_unix=origin_unix,
        source=source,
        priority=priorities(jobs),
        deadline_s=deadlines(jobs, origin_unix),
        links=links_of(ids, [job.after for job in jobs]),
    )


def priorities(jobs: Sequence[Job]) -> Floats | None:
    """The priority of each job; None when all have the usual one."""
    given = np.array([job.priority for job in jobs], dtype=np.float64)
    return given if np.any(given != 1) else None


def deadlines(jobs: Sequence[Job], origin_unix: int) -> Ints | None:
    """The latest end of each job in seconds of a trace, -1 for none; None when no job has one."""
    if all(job.deadline_unix is None for job in jobs):
        return None
    # A deadline before the trace begins is missed, whatever its second.
    found = (-1 if job.deadline_unix is None else max(0, job.deadline_unix - origin_unix) for job in jobs)
    return np.fromiter(found, dtype=np.int64, count=len(jobs))


def codes(names: Iterable[str]) -> Ints:
    """A number for each name, -1 for none."""
    listed = list(names)
    known = {name: k for k, name in enumerate(sorted({name for name in listed if name}))}
    return np.array([known.get(name, -1) for name in listed], dtype=np.int64)
