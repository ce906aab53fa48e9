"""The plan of the policy ``replan``: what it would do from now on if every job ran as long as planning thinks."""

from __future__ import annotations

import numpy as np

from planner.accounting.settle import settle
from planner.domain.candidate import BestSoFar, Candidate, Listener, never
from planner.domain.closed_room import UNTIL_FURTHER_NOTICE_S
from planner.domain.cluster_trace import cluster_trace_of
from planner.domain.columns import Ints
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.domain.search_params import ReplanParams
from planner.machine.timeline import NEVER
from planner.online.outages import Outages
from planner.online.past import Past
from planner.online.policies import Policy
from planner.online.replanning import Replanning
from planner.online.replay import replay

METHOD = "replan"


def look_ahead(problem: Problem, params: ReplanParams, *, seed: int = 0, on_trial: Listener | None = None) -> Result:
    """The plan that keeps the promises of the problem's jobs, repairs, searches and holds as the loop does."""
    so_far = BestSoFar(never, on_trial)
    found = Candidate(plan := _plan(problem, params, seed), settle(problem, plan), METHOD)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(METHOD, leaves_room=True)


def _plan(problem: Problem, params: ReplanParams, seed: int) -> Plan:
    horizon, now_s = problem.horizon, problem.now_s
    if not problem.jobs:
        return Plan.of(problem, {})
    running = [work for work in problem.running if work.end_s > now_s]
    starts = [DEFERRED] * len(problem.jobs) + [work.start_s for work in running]
    lengths = [job.planned_s for job in problem.jobs] + [work.end_s - work.start_s for work in running]
    jobs = [*problem.jobs, *(work.job for work in running)]
    order = sorted(range(len(jobs)), key=lambda place: jobs[place].submit_unix)
    first_unix = min(*(job.submit_unix for job in jobs), horizon.start_unix + min(0, *starts))
    shift = horizon.start_unix - first_unix
    length_s = np.array([lengths[place] for place in order], dtype=np.int64)
    trace = cluster_trace_of(
        [jobs[place] for place in order],
        length_s,
        length_s,
        problem.cluster,
        origin_unix=first_unix,
        source=f"the jobs of {horizon.day}",
    )
    is_new = np.array([place < len(problem.jobs) for place in order])
    start_s = np.array([-1 if place < len(problem.jobs) else starts[place] + shift for place in order], dtype=np.int64)
    nodes = np.full(int(trace.unit_ptr[-1]), -1, dtype=np.int64)
    for index, place in enumerate(order):
        if not is_new[index]:
            nodes[trace.unit_ptr[index] : trace.unit_ptr[index + 1]] = running[place - len(problem.jobs)].nodes
    promises = [jobs[place].promise for place in order]
    latest = [-1 if each is None else each.latest_unix - first_unix for each in promises]
    reference = [-1 if each is None else each.reference_unix - first_unix for each in promises]
    max_delay_s = max((each.latest_unix - each.reference_unix for each in promises if each is not None), default=0)
    happened = replay(
        trace,
        Policy(METHOD),
        length_s,
        replanning=Replanning.of(problem, trace, params, max_delay_s=max_delay_s, seed=seed),
        past=Past(
            moment_s=now_s + shift,
            start_s=start_s,
            node_of_unit=nodes,
            reference_s=np.array(reference, dtype=np.int64),
            latest_s=np.array(latest, dtype=np.int64),
        ),
        until_s=horizon.length_s + shift,
        outages=_outages(problem, shift),
    )
    placed: Ints = np.full(len(problem.jobs), DEFERRED, dtype=np.int64)
    node_of_unit = np.full(int(problem.columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    for index, place in enumerate(order):
        if is_new[index] and happened.start_s[index] >= 0:
            placed[place] = happened.start_s[index] - shift
            units = happened.node_of_unit[trace.unit_ptr[index] : trace.unit_ptr[index + 1]]
            node_of_unit[problem.columns.unit_ptr[place] : problem.columns.unit_ptr[place + 1]] = units
    return Plan(placed, node_of_unit)


def _outages(problem: Problem, shift: int) -> Outages:
    """The outages of the problem, all known from the start; running work is fixed and not lost to them."""
    ends = [outage.end_s for outage in problem.outages]
    return Outages(
        node=np.array([outage.node for outage in problem.outages], dtype=np.int64),
        start_s=np.array([max(0, outage.start_s + shift) for outage in problem.outages], dtype=np.int64),
        end_s=np.array([NEVER if end >= UNTIL_FURTHER_NOTICE_S else end + shift for end in ends], dtype=np.int64),
        known_from_s=np.zeros(len(problem.outages), dtype=np.int64),
        drains=np.ones(len(problem.outages), dtype=np.bool_),
    )
