"""The engine's default search on the whole day, from nothing: the baseline of the published system."""

from __future__ import annotations

import time

import numpy as np

from planner.accounting.settle import settle
from planner.cp.engines.choose import choose_engine
from planner.cp.engines.engine import Answer, Engine
from planner.cp.model import ProfitModel
from planner.cp.pooled import is_exact
from planner.cp.repair import Complete, finish
from planner.cp.subproblem import Subproblem, empty_plan
from planner.defaults import TIME_LIMIT_S
from planner.domain.candidate import BestSoFar, Candidate, Listener, Stop, never
from planner.domain.plan import DEFERRED
from planner.domain.problem import Problem
from planner.domain.result import Result, Status

MOST_SEATS = 20_000
"""With more choices of nodes than this the day is given to the engine in its pooled form."""

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

    ``stop`` is called at each solution with the profit that the engine claims for it. When the engine finds nothing in
    time, the plan is that of the jobs in order of submission.
    """
    so_far = BestSoFar(stop, on_trial)
    ends = time.perf_counter() + time_limit_s
    pooled = is_exact(problem) or _seats(problem) > MOST_SEATS
    model = ProfitModel(problem, Subproblem.whole_day(problem, pooled=pooled))
    chosen = choose_engine(engine, model.cpo)
    answer = _solve(chosen, model, ends - time.perf_counter(), seed, workers, stop)
    if answer.status == "infeasible":
        model = ProfitModel(problem, Subproblem.whole_day(problem, pooled=pooled, soft_deadlines=True))
        answer = _solve(chosen, model, ends - time.perf_counter(), seed, workers, stop)
    found = None
    if answer.solution is not None:
        name = f"{chosen.name}, {'pooled' if pooled else 'nodes'}"
        found = finish(
            problem, model.plan(answer.solution), model.starts(answer.solution), complete, name, so_far.broken
        )
    status: Status = "proven" if found is not None and _is_proven(model, answer, found) else "found"
    if found is None:
        name = f"{chosen.name} found nothing in time: order of submission"
        found = _by_submission(problem, complete, name, so_far.broken)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result("cp", status=status, engine_died=answer.died)


def _solve(engine: Engine, model: ProfitModel, time_limit_s: float, seed: int, workers: int, stop: Stop) -> Answer:
    def heard(value: float) -> bool:
        return stop(model.objective.to_eur(value))

    return engine.solve(model.cpo, time_limit_s=time_limit_s, seed=seed, workers=workers, heard=heard)


def _is_proven(model: ProfitModel, answer: Answer, found: Candidate) -> bool:
    """Whether the engine's proof covers the plan: an exact form, and no profit lost in finishing."""
    if answer.status != "optimal" or answer.objective is None or model.subproblem.soft_deadlines:
        return False
    slack = 2 * model.objective.scale.error_eur + PROOF_EUR
    return model.is_exact and found.profit_eur >= model.objective.to_eur(answer.objective) - slack


def _by_submission(problem: Problem, complete: Complete | None, name: str, broken: list[str]) -> Candidate:
    nothing = np.full(len(problem.jobs), DEFERRED, dtype=np.int64)
    whole_queue = nothing if problem.defer == "free" else problem.columns.release_s
    found = finish(problem, None, whole_queue, complete, name, broken)
    if found is None:
        plan = empty_plan(problem)
        found = Candidate(plan, settle(problem, plan), name)
    return found


def _seats(problem: Problem) -> int:
    """Choices of nodes that the form with nodes would have, at most."""
    return int(np.minimum(problem.columns.group_count, 8).sum()) * problem.cluster.node_count
