"""Estimates in planning: how long jobs will run, learned from those that have ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.job import Job
from planner.domain.situation import Situation, StartedJob
from planner.domain.trace import cluster_trace_of
from planner.online.estimates import estimate_named


def with_estimates(situation: Situation, cluster: Cluster, name: str) -> Situation:
    """The same situation with an estimate for every job that waits or runs; never above what it requested.

    A job that has outlived its estimate counts for all that it requested. Where no job has ended nothing is learned.
    """
    ended = {each.job.id: each for each in situation.started if each.end_unix is not None and not each.cancelled}
    if name == "requested" or not ended:
        return situation
    # Who waits for whom is no matter here.
    in_order = sorted(situation.jobs, key=lambda job: (job.release_unix, job.submission_key))
    jobs = [replace(job, after=()) for job in in_order]
    ran_s = {job: max(1, (each.end_unix or 0) - each.start_unix) for job, each in ended.items()}
    trace = cluster_trace_of(
        jobs,
        np.array([ran_s.get(job.id, job.requested_s) for job in jobs], dtype=np.int64),
        np.array([job.requested_s for job in jobs], dtype=np.int64),
        cluster,
        origin_unix=min((job.submit_unix for job in jobs), default=0),
        source=situation.source,
    )
    estimate = estimate_named(name).make_whole(trace)
    place = {job.id: index for index, job in enumerate(jobs)}
    if not isinstance(estimate, np.ndarray):
        for each in sorted(ended.values(), key=lambda each: (each.end_unix or 0, each.job.submission_key)):
            estimate.complete(place[each.job.id], (each.end_unix or 0) - (trace.origin_unix or 0))
    now_s = situation.moment_unix - (trace.origin_unix or 0)

    def estimated(job: Job) -> Job:
        index = place[job.id]
        seconds = estimate[index] if isinstance(estimate, np.ndarray) else estimate.predict(index, now_s)
        return replace(job, estimate_s=max(1, min(int(seconds), job.requested_s)))

    def started(each: StartedJob) -> StartedJob:
        if not each.is_running:
            return each
        job = estimated(each.job)
        outlived = each.start_unix + job.planned_s <= situation.moment_unix
        return replace(each, job=replace(job, estimate_s=None) if outlived else job)

    return replace(
        situation,
        pending=tuple(estimated(job) for job in situation.pending),
        started=tuple(started(each) for each in situation.started),
    )
