"""Where what happened contradicts the plan before it: started later, elsewhere, or gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from planner.domain.cluster import Cluster
from planner.domain.job import counting_key
from planner.domain.situation import Situation, StartedJob
from planner.units import utc_text


class PlannedRun(NamedTuple):
    """What a plan believed of a job: from when to when, and on which node each unit."""

    start_unix: int
    end_unix: int
    nodes: tuple[int, ...]


def situation_conflicts(
    situation: Situation, schedule: Mapping[str, PlannedRun], deferred: Collection[str], cluster: Cluster
) -> list[str]:
    """Every contradiction between a situation and the plan before it in a sentence, by job id.

    ``schedule`` are the jobs that were planned to run, ``deferred`` those that were planned to wait. New jobs, jobs
    that started earlier than planned and jobs that were withdrawn are news, not conflicts. A job on other nodes and
    since another time has two.
    """
    pending = {job.id for job in situation.pending}
    withdrawn = {job.id for job in situation.withdrawn}
    started = {each.job.id: each for each in situation.started}
    known = pending | withdrawn | started.keys() | {each.job_id for each in situation.left_alone}
    conflicts: list[str] = []
    for identity in sorted({*schedule, *deferred}, key=lambda each: (counting_key(each), each)):
        planned = schedule.get(identity)
        if planned is None:
            if identity not in known:
                conflicts.append(f"job {identity} was planned to wait but is gone")
        elif identity not in known:
            conflicts.append(f"job {identity} was planned to run from {utc_text(planned.start_unix)} but is gone")
        elif identity in pending:
            if planned.start_unix < situation.moment_unix:
                start = utc_text(planned.start_unix)
                conflicts.append(f"job {identity} was planned to start at {start} but is still pending")
        elif identity in started:
            conflicts += _differences(started[identity], planned, cluster)
    return conflicts


def _differences(found: StartedJob, planned: PlannedRun, cluster: Cluster) -> list[str]:
    job, runs = f"job {found.job.id}", "runs" if found.is_running else "ran"
    conflicts = []
    # Equal units may change places: what counts is how many are on each node.
    if Counter(found.nodes) != Counter(planned.nodes):
        was, is_now = cluster.node_list(planned.nodes), cluster.node_list(found.nodes)
        conflicts.append(f"{job} was planned on {was} but {runs} on {is_now}")
    if found.start_unix > planned.start_unix:
        since = f"{runs} since" if found.is_running else "ran from"
        start = utc_text(planned.start_unix)
        conflicts.append(f"{job} was planned from {start} but {since} {utc_text(found.start_unix)}")
    return conflicts
