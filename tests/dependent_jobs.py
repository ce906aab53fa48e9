"""Random dependencies between the jobs of a day: chains, fans and joins, also on started, refused and gone jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.domain.job import KINDS, Dependency, Job
from planner.domain.problem import Problem
from tests.factories import random_problem


def dependent_jobs(rng: np.random.Generator, jobs: Sequence[Job], others: Sequence[str] = ()) -> tuple[Job, ...]:
    """The jobs, of which about half wait for one to three that come before them in a random order, or for others."""
    order = rng.permutation(len(jobs)).tolist()
    rank = {job: place for place, job in enumerate(order)}
    made = []
    for index, job in enumerate(jobs):
        # The neighbours in the order make chains, its first job makes fans.
        known = [jobs[other].id for other in order[: rank[index]]]
        near = [*known[-2:], *known[:1], *others]
        count = int(rng.integers(1, 4)) if near and rng.random() < 0.5 else 0
        chosen = {near[int(rng.integers(0, len(near)))] for _ in range(count)}
        after = tuple(Dependency(KINDS[int(rng.integers(0, 3))], name) for name in sorted(chosen))
        made.append(replace(job, after=after))
    return tuple(made)


def with_dependencies(rng: np.random.Generator, problem: Problem) -> Problem:
    """The day with dependencies between its jobs, on what runs, on one that never does and on one that is long gone."""
    others = [*(work.job.id for work in problem.running), "long gone"]
    if rng.random() < 0.3:
        others.append("never")
    return replace(problem, jobs=dependent_jobs(rng, problem.jobs, others), never=frozenset({"never"}))


def crowded(seed: int) -> Problem:
    """More work than fits, in chains, fans and joins; some with deadlines or overdue, under both rules of deferral."""
    rng = np.random.default_rng(seed)
    problem = with_dependencies(rng, random_problem(rng, jobs=int(rng.integers(5, 40)), extras=seed % 3 == 0))
    jobs = [
        replace(job, deadline_unix=job.submit_unix + job.requested_s + int(rng.integers(0, 40_000)))
        if seed % 4 == 1 and rng.random() < 0.3
        else job
        for job in problem.jobs
    ]
    overdue = frozenset(job.id for job in jobs[:4]) if seed % 5 == 2 else frozenset()
    return replace(problem, jobs=tuple(jobs), overdue=overdue, defer="free" if seed % 2 else "full")
