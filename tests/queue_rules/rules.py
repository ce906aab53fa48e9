"""Random rules of a queue on the jobs of a day, and what plans and replays must keep, looked at in the plainest way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.fit import Fit
from planner.domain.job import Job
from planner.domain.plan import Plan
from planner.domain.problem import Problem

Held = tuple[Job, int, int, tuple[int, ...]]
"""A job with its start, its end and the node of each unit."""


def with_rules(rng: np.random.Generator, job: Job, cluster: Cluster) -> Job:
    """The job with rules drawn at random; without those that the machine could never keep."""
    names = [node_class.name for node_class in cluster.classes]
    ruled = job
    if len(names) > 1 and rng.random() < 0.5:
        ruled = replace(ruled, classes=(names[int(rng.integers(len(names)))],))
    return ruled if Fit(cluster).why_never(ruled) is None else job


def day_with_rules(rng: np.random.Generator, problem: Problem) -> Problem:
    """The problem with rules on its jobs."""
    return replace(problem, jobs=tuple(with_rules(rng, job, problem.cluster) for job in problem.jobs))


def held_by(problem: Problem, plan: Plan) -> list[Held]:
    """What a plan starts."""
    jobs = {job.id: job for job in problem.jobs}
    return [
        (jobs[placed.job_id], placed.start_s, placed.start_s + jobs[placed.job_id].planned_s, placed.nodes)
        for placed in plan.placements(problem)
    ]


def broken_rules(cluster: Cluster, held: Iterable[Held]) -> list[str]:
    """Every rule that is broken, in words."""
    class_of = [node_class.name for node_class in cluster.classes for _ in range(node_class.count)]
    return [
        f"{job.id} on {class_of[node]}"
        for job, _, _, nodes in held
        for node in nodes
        if job.classes and class_of[node] not in job.classes
    ]
