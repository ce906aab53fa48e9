"""The engine's default search on the day, from nothing: the baseline of the published system.

What it reports is what the engine found, with nodes: our own search adds nothing to it. Where the engine finds nothing
in time no job starts, and the result says so.
"""

from __future__ import annotations

import time

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cp.engines.choose import choose_engine, engine_named
from planner.cp.engines.engine import Answer, Engine
from planner.cp.model import ProfitModel
from planner.cp.pooled import is_exact
from planner.cp.repair import Complete
from planner.cp.seats import Seats
from planner.cp.subproblem import Subproblem, empty_plan, may_start
from planner.cp.windows import solve_in_windows
from planner.defaults import TIME_LIMIT_S
from planner.domain.candidate import BestSoFar, Candidate, Listener, Stop, never
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import Result, Status

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
    pooled = is_exact(problem)
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

    def asked(model: ProfitModel) -> Answer:
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


def _is_proven(model: ProfitModel, answer: Answer, profit_eur: float) -> bool:
    """Whether the engine's proof covers the plan: an exact form, and no profit lost with its nodes."""
    if answer.status != "optimal" or answer.objective is None or model.subproblem.soft_deadlines:
        return False
    slack = 2 * model.objective.scale.error_eur + PROOF_EUR
    return model.is_exact and profit_eur >= model.objective.to_eur(answer.objective) - slack


def _seats(problem: Problem) -> int:
    """Choices of nodes that the form with nodes would have, at most."""
    return int(np.minimum(problem.columns.group_count, 8).sum()) * problem.cluster.node_count
