"""Days with a past: a plan from midnight carried out until some moment, with outages from then on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from planner.domain.situation import UNTIL_FURTHER_NOTICE_S, NodeOutage


def carried_out(problem: Problem, plan: Plan, now_s: int) -> tuple[Problem, Plan]:
    """The same day at a moment: what has started is fixed, the rest still planned as it was."""
    placed = {placement.job_id: placement for placement in plan.placements(problem)}
    started = [
        Running(job, placed[job.id].start_s, placed[job.id].start_s + job.requested_s, placed[job.id].nodes)
        for job in problem.jobs
        if job.id in placed and placed[job.id].start_s <= now_s
    ]
    gone = {work.job.id for work in started}
    later = replace(
        problem,
        jobs=tuple(job for job in problem.jobs if job.id not in gone),
        running=(*problem.running, *started),
        now_s=now_s,
    )
    rest: dict[str, Placement] = {name: each for name, each in placed.items() if name not in gone}
    return later, Plan.of(later, rest)


def random_outages(rng: np.random.Generator, problem: Problem) -> tuple[NodeOutage, ...]:
    """Up to three outages, now or later, some until further notice, perhaps two of one node."""
    found = []
    for _ in range(int(rng.integers(0, 4))):
        start_s = int(rng.integers(0, problem.horizon.length_s + 20_000))
        end_s = UNTIL_FURTHER_NOTICE_S if rng.random() < 0.3 else start_s + int(rng.integers(1, 40_000))
        found.append(NodeOutage(int(rng.integers(0, problem.cluster.node_count)), start_s, end_s))
    return tuple(found)
