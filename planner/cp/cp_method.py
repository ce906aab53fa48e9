"""The engine's default search on the day, from nothing: the baseline of the published system.

What it reports is what the engine found, with nodes: our own search adds nothing to it. Where the engine finds nothing
in time no job starts, and the result says so.

A day with too many jobs for one model is decided in one window after another. In each the engine gets the jobs that
wait, the oldest first and no more than it can hold, around all that has started before. Jobs are counted per node class
and energy at its mean cost, so that the objective is linear; the starts that the engine found then get nodes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cp.engines import ENGINES, choose_engine, engine_named
from planner.cp.engines.engine import Engine, EngineAnswer
from planner.cp.profit_model import ProfitModel
from planner.cp.repair import Complete, Seats
from planner.cp.subproblem import Subproblem, empty_plan, is_exact_when_pooled, may_start, must_start
from planner.defaults import TIME_LIMIT_S
from planner.domain.columns import Ints
from planner.domain.job_order import overdue_first
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Candidate, Listener, Result, Status, Stop, never
from planner.units import SECONDS_PER_HOUR

MOST_SEATS = 20_000
"""With more choices of nodes than this a day is not given to the engine with its nodes."""

MOST_JOBS = 100
"""With more jobs than this a day is given to the engine window by window."""

PROOF_EUR = 1e-6
"""A plan is proven when no other can earn more than this, and the error of whole numbers, beyond it."""


def default_search(
    problem: Problem,
    *,
    engine: str | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    seed: int = 0,
    workers: int = 1,
    stop: Stop = never,
    complete: Complete | None = None,
    on_trial: Listener | None = None,
) -> Result:
    """Give the day to an engine without a starting point and keep the best that it finds in time.

    Small days are one model with all costs, larger ones a model of each window. ``complete`` places jobs at their
    earliest starts from a moment on: it gives nodes to the starts of an engine that counted them. ``stop`` is called at
    each solution with the profit that the engine claims for it.
    """
    so_far = BestSoFar(stop, on_trial)
    ends = time.perf_counter() + time_limit_s
    whole = _whole_day(problem, engine)
    if whole is not None:
        plan, status, name, died = _solved(problem, *whole, ends, seed, workers, stop, complete)
        leaves_room = bool(audit(problem, plan))
    else:
        windows = solve_in_windows(
            problem, engine=engine, ends=ends, seed=seed, workers=workers, stop=stop, complete=complete
        )
        plan, status, died = windows.plan, "found", windows.died
        leaves_room = True  # nobody looks: that takes minutes where thousands of jobs wait beside much room
        name = f"{windows.engine}, {windows.asked} windows, nothing found in {windows.empty}"
    if status != "proven" and len(may_start(problem)) and not plan.is_placed.any():
        status, name = "nothing", "the engine found nothing in time"
    found = Candidate(plan, settle(problem, plan), name)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    if leaves_room and status == "proven":
        # The best of all plans, but the rule of deferral wants no room left: the best that keeps it is not known.
        status = "found"
    return so_far.result("cp", status=status, leaves_room=leaves_room, engine_died=died)


def _whole_day(problem: Problem, engine: str | None) -> tuple[Engine, ProfitModel] | None:
    """The day as one model and the engine for it; None where that would be too much."""
    if len(may_start(problem)) > MOST_JOBS:
        return None
    pooled = is_exact_when_pooled(problem)
    if not pooled and _seats(problem) > MOST_SEATS:
        return None
    model = ProfitModel(problem, Subproblem.whole_day(problem, pooled=pooled))
    if engine is not None and not engine_named(engine).fits(model.cpo):
        return None
    return choose_engine(engine, model.cpo), model


def _solved(
    problem: Problem,
    engine: Engine,
    model: ProfitModel,
    ends: float,
    seed: int,
    workers: int,
    stop: Stop,
    complete: Complete | None,
) -> tuple[Plan, Status, str, bool]:
    """The plan of a whole day, how good it is, its name, and whether the engine died."""

    def asked(model: ProfitModel) -> EngineAnswer:
        def heard(value: float) -> bool:
            return stop(model.objective.to_eur(value))

        left_s = ends - time.perf_counter()
        return engine.solve(model.cpo, time_limit_s=left_s, seed=seed, workers=workers, heard=heard)

    answer = asked(model)
    pooled = model.subproblem.pooled
    if answer.status == "infeasible":
        model = ProfitModel(problem, Subproblem.whole_day(problem, pooled=pooled, soft_deadlines=True))
        answer = asked(model)
    if answer.solution is None:
        return empty_plan(problem), "nothing", "", answer.died
    plan = model.plan(answer.solution)
    if plan is None:
        plan = Seats(problem, complete).taken(empty_plan(problem), model.starts(answer.solution))
    status: Status = "proven" if _is_proven(model, answer, settle(problem, plan).profit_eur) else "found"
    return plan, status, f"{engine.name}, {'pooled' if pooled else 'nodes'}", answer.died


def _is_proven(model: ProfitModel, answer: EngineAnswer, profit_eur: float) -> bool:
    """Whether the engine's proof covers the plan: an exact form, and no profit lost with its nodes."""
    if answer.status != "optimal" or answer.objective is None or model.subproblem.soft_deadlines:
        return False
    slack = 2 * model.objective.scale.error_eur + PROOF_EUR
    return model.is_exact and profit_eur >= model.objective.to_eur(answer.objective) - slack


def _seats(problem: Problem) -> int:
    """Choices of nodes that the form with nodes would have, at most."""
    return int(np.minimum(problem.columns.group_count, 8).sum()) * problem.cluster.node_count


WINDOW_S = 2 * SECONDS_PER_HOUR
MOST_IN_WINDOW = 300
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
        model = _model_that_fits(problem, chosen, found.plan, waiting[:MOST_IN_WINDOW], window)
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
