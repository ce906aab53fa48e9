"""Day plans made at midnight on requested times and carried out to the letter, without any re-planning.

Every job starts when and where it was planned to, ends when it really ended, and what does not fit waits for the plan
of the next midnight.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from planner.domain.columns import Ints
from planner.domain.handover import Handover, Waiting
from planner.domain.horizon import Horizon
from planner.domain.problem import Running
from planner.errors import InputError
from planner.inputs.build import build_day
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
    left, known, horizon = Handover(), 0, first
    while np.any(start_s < 0):
        until = horizon.end_unix if sees_day else horizon.start_unix
        fresh = [job for job in jobs[known:] if job.submit_unix < until]
        known += len(fresh)
        left = Handover(left.running, (*left.waiting, *(Waiting(job, 0) for job in fresh)))
        day = build_day(scenario, horizon.day, left, closed=True)
        planned = plan_day(day, METHOD, params, bound_time_s=0)
        begun = list(planned.result.plan.placements(day.problem))
        for placement in begun:
            index = place_of[placement.job_id]
            start_s[index] = horizon.start_unix + placement.start_s - (trace.origin_unix or 0)
            node_of_unit[trace.unit_ptr[index] : trace.unit_ptr[index + 1]] = placement.nodes
        if known == len(jobs) and not begun and not left.running:
            raise InputError(f"{trace.source}: on {horizon.day} nothing runs, and {len(left.waiting)} jobs still wait")
        left = _handed_over(planned, horizon.length_s)
        horizon = horizon.next_day()
    return start_s, node_of_unit


def _handed_over(planned: PlannedDay, length_s: int) -> Handover:
    """What the day leaves: planning counts on the time that a job asked for, however soon it really ends."""
    happened = planned.happened
    jobs = {job.id: job for job in planned.day.problem.jobs}
    really_s = {job.id: job.requested_s for job in happened.jobs}
    running = [
        Running(asked.job, asked.start_s - length_s, asked.end_s - length_s, asked.nodes)
        for asked, real in zip(planned.day.problem.running, happened.running, strict=True)
        if real.end_s > length_s
    ]
    for placed in planned.result.plan.placements(planned.day.problem):
        if placed.start_s + really_s[placed.job_id] > length_s:
            job = jobs[placed.job_id]
            end_s = placed.start_s + job.requested_s
            running.append(Running(job, placed.start_s - length_s, end_s - length_s, placed.nodes))
    return Handover(tuple(running), tuple(_waiting(planned)))


def _waiting(planned: PlannedDay) -> Iterable[Waiting]:
    return (Waiting(job, why.times) for job, why in planned.deferrals if why.kind == "deferred")
