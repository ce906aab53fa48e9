"""Random rules of a queue on the jobs of a day, and what plans and replays must keep, looked at in the plainest way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.ever_fits import Fit
from planner.domain.job import Job
from planner.domain.plan import Plan
from planner.domain.problem import Problem

Held = tuple[Job, int, int, tuple[int, ...]]
"""A job with its start, its end and the node of each unit."""


def with_rules(rng: np.random.Generator, job: Job, cluster: Cluster, longest_hold_s: int) -> Job:
    """The job with rules drawn at random; without those that the machine could never keep.

    It may be held for so long after its submission.
    """
    names = [node_class.name for node_class in cluster.classes]
    ruled = job
    if len(names) > 1 and rng.random() < 0.5:
        ruled = replace(ruled, classes=(names[int(rng.integers(len(names)))],))
    if rng.random() < 0.25:
        ruled = replace(ruled, exclusive=True)
    if rng.random() < 0.25:
        ruled = replace(ruled, begin_unix=ruled.submit_unix + int(rng.integers(-50, longest_hold_s)))
    if rng.random() < 0.25:
        ruled = replace(ruled, priority=float(rng.choice([0.0, 0.5, 3.0])))
    return ruled if Fit(cluster).why_never(ruled) is None else job


def day_with_rules(rng: np.random.Generator, problem: Problem) -> Problem:
    """The problem with rules on its jobs; a job that runs alone has its node for itself."""
    running = tuple(
        replace(work, job=replace(work.job, exclusive=len(problem.running) == 1)) for work in problem.running
    )
    return replace(
        problem, running=running, jobs=tuple(with_rules(rng, job, problem.cluster, 80_000) for job in problem.jobs)
    )


def held_by(problem: Problem, plan: Plan) -> list[Held]:
    """What runs and what a plan starts."""
    jobs = {job.id: job for job in problem.jobs}
    running = [(work.job, work.start_s, work.end_s, work.nodes) for work in problem.running]
    return running + [
        (jobs[placed.job_id], placed.start_s, placed.start_s + jobs[placed.job_id].planned_s, placed.nodes)
        for placed in plan.placements(problem)
    ]


def broken_rules(cluster: Cluster, held: Iterable[Held], origin_unix: int) -> list[str]:
    """Every rule that is broken, in words; times count from ``origin_unix``."""
    class_of = [node_class.name for node_class in cluster.classes for _ in range(node_class.count)]
    runs = list(held)
    found = [
        f"{job.id} on {class_of[node]}"
        for job, _, _, nodes in runs
        for node in nodes
        if job.classes and class_of[node] not in job.classes
    ]
    found += [
        f"{job.id} and {other.id} on node {node}"
        for job, start, end, nodes in runs
        for other, other_start, other_end, other_nodes in runs
        for node in set(nodes) & set(other_nodes)
        if job.exclusive and other.id != job.id and start < other_end and other_start < end
    ]
    found += [
        f"{job.id} at {start}"
        for job, start, _, _ in runs
        if job.begin_unix is not None and origin_unix + start < job.begin_unix
    ]
    return found
