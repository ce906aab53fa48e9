"""One cell of the study replayed: when and where every job ran, kept as arrays."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.situation import Situation, StartedJob
from planner.errors import InputError
from planner.inputs.build import build
from planner.inputs.traces import Source
from planner.methods import Params
from planner.online.check import require_sound
from planner.online.estimates import estimate_named
from planner.online.holding import NO_HOLDING
from planner.online.outages import NO_OUTAGES, UNTIL_FURTHER_NOTICE
from planner.online.policies import Policy, policy_named
from planner.online.replay import Replay, make_ready, replay
from planner.planning.energy_costs import holding_of_trace
from planner.planning.plan_day import PlannedDay, plan_day
from planner.scenario.schema import Scenario
from planner.studies.kept import scenario_facts
from planner.studies.operation.cells import HOLD, STATIC, Cell
from planner.studies.operation.sites import Ground, scenario_of, source_of

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
    params = Params(METHOD, workers=workers, bound_time_s=0, baselines=False).under(scenario)
    left, known, horizon = Situation(first.start_unix, outages=scenario.outages), 0, first
    while np.any(start_s < 0):
        until = horizon.end_unix if sees_day else horizon.start_unix
        fresh = [job for job in jobs[known:] if job.submit_unix < until]
        known += len(fresh)
        pending = sorted([*left.pending, *fresh], key=lambda job: job.submission_key)
        left = replace(left, pending=tuple(pending))
        day = build(scenario, horizon, left, Intake("no new jobs"))
        planned = plan_day(day, params)
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


ARRAYS = (
    *("estimate_s", "start_s", "corrections", "node_of_unit", "deadline_s", "promised"),
    *("reference_s", "latest_s", "held_until_s", "saved_eur", "cancel_s", "restarts"),
)
OF_PRICES = ("name", "description", "tariff", "carbon", "rules", "goal", "hold")
"""Sections of a scenario that policies without prices know nothing about."""


def replay_name(cell: Cell) -> str:
    """The name of the replay; one serves all tariffs where the policy knows no prices."""
    if cell.heeds_prices:
        return cell.name
    return f"{cell.group.site}/any/{cell.group.load}/{cell.label}/{cell.estimate}"


def replay_facts(ground: Ground, cell: Cell) -> dict[str, Any]:
    """What a replay is made from."""
    days = ground.days_of(cell.group.site)
    return {
        "replay": replay_name(cell),
        "first": days.first.isoformat(),
        "last": days.last.isoformat(),
        **scenario_facts(scenario_of(ground, cell), without=() if cell.heeds_prices else OF_PRICES),
    }


def replay_bytes(ground: Ground, cell: Cell) -> bytes:
    """Replay a cell, check it, and pack what happened with the seconds of CPU that it took."""
    source = source_of(ground, cell.group.site, cell.group.load)
    result, cpu_s = _carried_out(ground, cell, source) if cell.policy in STATIC else _replayed(ground, cell, source)
    require_sound(result)
    packed = io.BytesIO()
    arrays = {name: getattr(result, name) for name in ARRAYS}
    np.savez_compressed(packed, **arrays, rounds=np.array(result.round_count), cpu_s=np.array(cpu_s))
    return packed.getvalue()


def read_replay(path: Path, source: Source, cell: Cell) -> tuple[Replay, float]:
    """A kept replay, and its seconds of CPU."""
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in ARRAYS}
        result = Replay(
            trace=source.trace,
            policy=_policy(cell),
            round_count=int(kept["rounds"]),
            lost_runs=(),
            outages=NO_OUTAGES,
            until_s=UNTIL_FURTHER_NOTICE,
            ready_s=source.trace.submit_s,
            **arrays,
        )
        return result, float(kept["cpu_s"])


def _replayed(ground: Ground, cell: Cell, source: Source) -> tuple[Replay, float]:
    policy = policy_named(cell.policy)
    holding = NO_HOLDING
    if cell.policy == HOLD:
        holding = holding_of_trace(scenario_of(ground, cell), source.trace)
    estimate = estimate_named(cell.estimate).rounded()
    make_ready(policy, estimate.make)
    began = time.process_time()
    result = replay(source.trace, policy, estimate.make(source.trace), holding=holding)
    return result, time.process_time() - began


def _carried_out(ground: Ground, cell: Cell, source: Source) -> tuple[Replay, float]:
    scenario, trace = scenario_of(ground, cell), source.trace
    first = Horizon(ground.days_of(cell.group.site).first, scenario.zone)
    began = time.process_time()
    start_s, node_of_unit = carry_out_plans(scenario, source, first, sees_day=cell.policy == "static-ahead")
    nothing = np.full(len(trace), -1, dtype=np.int64)
    result = Replay(
        trace=trace,
        policy=_policy(cell),
        estimate_s=trace.requested_s,
        start_s=start_s,
        corrections=np.zeros(len(trace), dtype=np.int64),
        node_of_unit=node_of_unit,
        deadline_s=nothing,
        promised=np.zeros(len(trace), dtype=np.int64),
        reference_s=nothing,
        latest_s=nothing,
        held_until_s=nothing,
        saved_eur=np.zeros(0),
        cancel_s=nothing,
        restarts=np.zeros(len(trace), dtype=np.int64),
        ready_s=trace.submit_s,
        lost_runs=(),
        outages=NO_OUTAGES,
        until_s=UNTIL_FURTHER_NOTICE,
        round_count=0,
    )
    return result, time.process_time() - began


def _policy(cell: Cell) -> Policy:
    """The policy of a replay; plans of days are carried out by none, and named like the nearest in messages."""
    return policy_named("list" if cell.policy in STATIC else cell.policy)
