"""From a sequence of jobs to a plan, through the placement kernel."""

from __future__ import annotations

import weakref

import numpy as np

from planner.domain.columns import Ints
from planner.domain.job_order import overdue_first, predecessors_first
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.situation import UNTIL_FURTHER_NOTICE_S
from planner.machine.node_timelines import (
    JobTable,
    NodeTimelines,
    copy_timelines,
    jobs_of,
    kernel_jobs,
    new_timelines,
    wider_timelines,
)
from planner.machine.place import place_from

_OPENINGS: weakref.WeakKeyDictionary[Problem, tuple[JobTable, NodeTimelines]] = weakref.WeakKeyDictionary()


def decode(problem: Problem, order: Ints, release_s: Ints | None = None) -> Plan:
    """Place the jobs of ``order`` one by one, each at its earliest start; the others are deferred.

    ``release_s`` replaces the jobs' own release times [s]. Overdue jobs go first, whatever the order, and before every
    job what it waits for.
    """
    order = predecessors_first(problem, overdue_first(problem, order))
    jobs, opening = opening_timelines(problem)
    if release_s is not None:
        jobs = jobs._replace(release=release_s)
    start_s = np.full(len(problem.jobs), DEFERRED, dtype=np.int64)
    node_of_unit = np.full(int(jobs.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    place_all(copy_timelines(opening), jobs, order, start_s, node_of_unit)
    return Plan(start_s, node_of_unit)


def place_all(
    timelines: NodeTimelines, jobs: JobTable, order: Ints, start_s: Ints, node_of_unit: Ints, *, position: int = 0
) -> NodeTimelines:
    """Place the jobs of ``order`` from a position on; returns the timelines, or wider ones that took their place.

    Jobs that have a start already keep it; starts and nodes of the others are written.
    """
    while position < len(order):
        position = place_from(timelines, jobs, order, position, start_s, node_of_unit)
        if position < len(order):
            timelines = wider_timelines(timelines)
    return timelines


def decode_after(problem: Problem, plan: Plan, until_s: int, *, from_s: int = 0) -> Plan:
    """The plan with what starts before a moment as it is, and all other jobs placed again, each at its earliest start.

    Those that start later go in the order of their starts, then those that do not start; none before ``from_s``.
    """
    jobs, opening = opening_timelines(problem)
    jobs = jobs._replace(release=np.maximum(jobs.release, from_s))
    stays = plan.is_placed & (plan.start_s < until_s)
    start_s = np.where(stays, plan.start_s, DEFERRED).astype(np.int64)
    node_of_unit = plan.node_of_unit.copy()
    last = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    others = np.flatnonzero(~stays)
    others = others[np.lexsort((problem.submission_rank[others], last[others]))]
    order = np.concatenate([np.flatnonzero(stays), predecessors_first(problem, others)])
    place_all(copy_timelines(opening), jobs, order, start_s, node_of_unit)
    return Plan(start_s, node_of_unit)


def opening_timelines(problem: Problem) -> tuple[JobTable, NodeTimelines]:
    """The jobs as the kernel takes them, and the machine with all that has started; made once for a problem."""
    if problem not in _OPENINGS:
        jobs = jobs_of(problem.columns)
        _OPENINGS[problem] = jobs, _with_running(problem, jobs)
    return _OPENINGS[problem]


def _with_running(problem: Problem, jobs: JobTable) -> NodeTimelines:
    limit_mw = problem.cluster.power_limit_mw
    timelines = new_timelines(
        problem.nodes.capacity,
        day_end=problem.starts_end_s,
        power_limit=-1 if limit_mw is None else limit_mw,
        jobs=jobs,
        running=len(problem.running) + len(problem.closed_room),
    )
    started = jobs_of(problem.running_columns)._replace(duration=problem.running_end_s - problem.running_start_s)
    for held, start_s, nodes in (
        (started, problem.running_start_s, problem.running_nodes),
        (_closed(problem), problem.closed_room.start_s, problem.closed_room.node),
    ):
        # Outages may begin after the day: they are in the way of jobs that run into the next one.
        open_ended = timelines._replace(day_end_s=np.int64(UNTIL_FURTHER_NOTICE_S))
        placed = place_all(open_ended, held, np.arange(len(start_s)), start_s.copy(), nodes.copy())
        timelines = placed._replace(day_end_s=timelines.day_end_s)
    return timelines


def _closed(problem: Problem) -> JobTable:
    """What outages close, as jobs of one unit without power."""
    closed, count = problem.closed_room, len(problem.closed_room)
    each = np.arange(count + 1, dtype=np.int64)
    return kernel_jobs(
        release=closed.start_s,
        duration=closed.end_s - closed.start_s,
        power=np.zeros(count, dtype=np.int64),
        group_ptr=each,
        group_count=np.ones(count, dtype=np.int64),
        group_amount=closed.amount,
        unit_ptr=each,
    )
