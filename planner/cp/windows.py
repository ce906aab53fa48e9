"""Days with too many jobs for one model: the engine decides who starts in one window of the day after another.

In each window it gets the jobs that wait, the oldest first and no more than it can hold, around all that has started
before. Jobs are counted per node class and energy at its mean cost, so that the objective is linear; the starts that
the engine found then get nodes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.cp.engines.choose import ENGINES, choose_engine, engine_named
from planner.cp.engines.engine import Engine
from planner.cp.model import ProfitModel
from planner.cp.repair import Complete
from planner.cp.seats import Seats
from planner.cp.subproblem import Subproblem, empty_plan, must_start
from planner.domain.candidate import Stop
from planner.domain.columns import Ints
from planner.domain.job_order import overdue_first
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR

WINDOW_S = 2 * SECONDS_PER_HOUR
MOST_JOBS = 300
"""Jobs of one model."""


@dataclass
class Windows:
    """What the engine has found so far: the plan, its windows, those in which it found nothing, and whether it died."""

    plan: Plan
    engine: str
    asked: int = 0
    empty: int = 0
    died: bool = False


def solve_in_windows(
    problem: Problem,
    *,
    engine: str | None,
    ends: float,
    seed: int,
    workers: int,
    stop: Stop,
    complete: Complete | None,
) -> Windows:
    """Give a day to an engine window by window until a moment of the clock, each with its share of the time left."""
    chosen = _engine(engine)
    found = Windows(empty_plan(problem), chosen.name)
    seats = Seats(problem, complete)
    day, now_s = problem.horizon.length_s, max(0, problem.now_s)
    edges = [now_s, *range((now_s // WINDOW_S + 1) * WINDOW_S, day, WINDOW_S), day]
    by_turn = _by_turn(problem)
    for index, window in enumerate(pairwise(edges)):
        share_s = (ends - time.perf_counter()) / (len(edges) - 1 - index)
        waiting = by_turn[~found.plan.is_placed[by_turn] & (problem.columns.release_s[by_turn] < window[1])]
        if not len(waiting):
            continue
        if share_s <= 0:
            break
        began = time.perf_counter()
        model = _model_that_fits(problem, chosen, found.plan, waiting[:MOST_JOBS], window)
        left_s = share_s - (time.perf_counter() - began)
        answer = chosen.solve(model.cpo, time_limit_s=left_s, seed=seed, workers=workers)
        found.asked, found.died = found.asked + 1, found.died or answer.died
        starts = None if answer.solution is None else model.starts(answer.solution)
        if starts is None or not np.any((starts != DEFERRED) & ~found.plan.is_placed):
            found.empty += 1
        else:
            found.plan = seats.taken(found.plan, starts)
        if answer.interrupted or stop(-np.inf):
            break
    return found


def _by_turn(problem: Problem) -> Ints:
    """All jobs: the overdue ones first, then those that must start today, then by submission."""
    jobs = np.argsort(problem.submission_rank)
    urgent = np.array([must_start(problem, int(job)) for job in jobs], dtype=bool)
    return overdue_first(problem, np.concatenate([jobs[urgent], jobs[~urgent]]).astype(np.int64))


def _engine(name: str | None) -> Engine:
    """The engine asked for, else one without limits."""
    if name is not None:
        return engine_named(name)
    return ENGINES["cpo"] if ENGINES["cpo"].available() else engine_named("cpsat")


def _model_that_fits(problem: Problem, engine: Engine, plan: Plan, jobs: Ints, window: tuple[int, int]) -> ProfitModel:
    """The model of as many of the jobs as the engine takes; SolverError when that is not even one."""
    while True:
        scope = Subproblem(
            tuple(jobs.tolist()), plan, pooled=True, soft_deadlines=True, window_s=window, mean_cost=True
        )
        model = ProfitModel(problem, scope)
        if engine.fits(model.cpo) or len(jobs) == 1:
            choose_engine(engine.name, model.cpo)
            return model
        jobs = jobs[: len(jobs) * 7 // 8]
