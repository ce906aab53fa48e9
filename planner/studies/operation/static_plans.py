"""Day plans made at midnight on requested times and carried out to the letter, without any re-planning.

Every job starts when and where it was planned to, ends when it really ended, and what does not fit waits for the plan
of the next midnight.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.situation import Situation, StartedJob
from planner.errors import InputError
from planner.inputs.build import build
from planner.inputs.traces import Source
from planner.methods import Params
from planner.planning.plan_day import PlannedDay, plan_day
from planner.scenario.schema import Scenario

METHOD = "multisearch"


def carry_out_plans(
    scenario: Scenario, source: Source, first: Horizon, *, sees_day: bool, workers: int = 1
) -> tuple[Ints, Ints]:
    """Start of each job [s of the trace] and node of each unit, by plans of one day after another.

    ``sees_day``: a plan knows the jobs that are submitted on its day; else those submitted before it.
    """
    trace, jobs = source.trace, source.jobs
    place_of = {job.id: index for index, job in enumerate(jobs)}
    start_s = np.full(len(trace), -1, dtype=np.int64)
    node_of_unit = np.full(int(trace.unit_ptr[-1]), -1, dtype=np.int64)
    params = Params(seed=scenario.seed, workers=workers, search=scenario.search.params())
    left, known, horizon = Situation(first.start_unix, outages=scenario.outages), 0, first
    while np.any(start_s < 0):
        until = horizon.end_unix if sees_day else horizon.start_unix
        fresh = [job for job in jobs[known:] if job.submit_unix < until]
        known += len(fresh)
        pending = sorted([*left.pending, *fresh], key=lambda job: job.submission_key)
        left = replace(left, pending=tuple(pending))
        day = build(scenario, horizon, left, Intake("no new jobs"))
        planned = plan_day(day, METHOD, params, bound_time_s=0)
        begun = list(planned.result.plan.placements(day.problem))
        for placement in begun:
            index = place_of[placement.job_id]
            start_s[index] = horizon.start_unix + placement.start_s - (trace.origin_unix or 0)
            node_of_unit[trace.unit_ptr[index] : trace.unit_ptr[index + 1]] = placement.nodes
        if known == len(jobs) and not begun and not left.running:
            raise InputError(f"{trace.source}: on {horizon.day} nothing runs, and {len(left.pending)} jobs still wait")
        left = _left(scenario, planned, horizon)
        horizon = horizon.next_day()
    return start_s, node_of_unit


def _left(scenario: Scenario, planned: PlannedDay, horizon: Horizon) -> Situation:
    """What the day leaves: planning counts on the time that a job asked for, however soon it really ends."""
    problem, happened = planned.day.problem, planned.happened
    jobs = {job.id: job for job in problem.jobs}
    really_s = {job.id: job.requested_s for job in happened.jobs}
    running = [
        StartedJob(asked.job, horizon.start_unix + asked.start_s, asked.nodes)
        for asked, real in zip(problem.running, happened.running, strict=True)
        if real.end_s > horizon.length_s
    ]
    running += [
        StartedJob(jobs[placed.job_id], horizon.start_unix + placed.start_s, placed.nodes)
        for placed in planned.result.plan.placements(problem)
        if placed.start_s + really_s[placed.job_id] > horizon.length_s
    ]
    waiting = {job.id: (job, why.times) for job, why in planned.deferrals if why.kind == "deferred"}
    return Situation(
        horizon.end_unix,
        tuple(job for job, _ in waiting.values()),
        tuple(running),
        outages=scenario.outages,
        times_deferred={name: times for name, (_, times) in waiting.items()},
    )
