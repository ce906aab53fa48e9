"""RelaxationSearch: the engine improves a plan, free in all starts and in the nodes of single-unit jobs.

Faithful to the published search: the nodes of every job with more than one unit stay as the seed has them, a solution
must earn more than the best so far, and the engine searches over everything else. Where it cannot hold the day, it gets
one part of it after another, with the rest as constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from planner.cp.engines import choose_engine, engine_named
from planner.cp.engines.engine import COMMUNITY_BITS, Engine, EngineAnswer, bits
from planner.cp.profit_model import ProfitModel, prices_exactly
from planner.cp.repair import Complete, finish
from planner.cp.subproblem import Subproblem, subproblem_around
from planner.domain.columns import Ints
from planner.domain.method_params import RelaxationParams
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Listener, Result, Stop, never
from planner.errors import SolverError

MOST_DEATHS = 3
"""Deaths of the engine in a row after which the search ends with what it has."""


def relaxation_search(
    problem: Problem,
    first: Result,
    *,
    engine: str | None = None,
    seed: int = 0,
    workers: int = 1,
    stop: Stop = never,
    complete: Complete | None = None,
    on_trial: Listener | None = None,
    params: RelaxationParams | None = None,
) -> Result:
    """Improve a first result until ``stop`` says so, or the whole day has been proven to hold nothing better.

    The result is never worse than the first and always clean. SolverError when the engine asked for is missing.
    """
    so_far = BestSoFar.after(first, stop, on_trial)
    search = _Search(problem, so_far, engine, seed, workers, complete, params or RelaxationParams())
    return search.run()


class _Search:
    def __init__(
        self,
        problem: Problem,
        so_far: BestSoFar,
        engine: str | None,
        seed: int,
        workers: int,
        complete: Complete | None,
        params: RelaxationParams,
    ) -> None:
        self._problem = problem
        self._so_far = so_far
        self._engine = engine
        self._seed = seed
        self._workers = workers
        self._complete = complete
        self._params = params
        self._deaths = 0
        if engine is not None:
            engine_named(engine)

    def run(self) -> Result:
        with suppress(KeyboardInterrupt):
            if not self._so_far.is_over() and self._problem.jobs:
                self._search()
        return self._so_far.result("relaxation", engine_died=self._deaths >= MOST_DEATHS)

    def _search(self) -> None:
        if len(self._problem.jobs) <= self._params.whole_day and self._whole_day():
            return
        rng = np.random.default_rng(self._seed)
        size = min(self._params.part, len(self._problem.jobs))
        for number, (name, subproblem_of) in enumerate(neighbourhoods(self._problem, rng, size), start=1):
            if self._so_far.is_over() or self._deaths >= MOST_DEATHS:
                return
            subproblem = subproblem_of(self._so_far.best.plan)
            if subproblem.jobs:
                self._improve(f"{name} {number}", subproblem)

    def _whole_day(self) -> bool:
        """Search the whole day, a step at a time; true when it is proven to hold nothing better."""
        every = np.arange(len(self._problem.jobs), dtype=np.int64)
        for number in range(1, 1000):
            subproblem = subproblem_around(self._problem, self._so_far.best.plan, every, None)
            if not subproblem.jobs:
                return True
            answer = self._improve(f"whole day {number}", subproblem, must_fit=False)
            if answer is None:
                return False
            if answer.status == "optimal" or self._deaths >= MOST_DEATHS:
                return True
            if self._so_far.is_over():
                return True
            if answer.solution is None and number >= 3:
                return False
        return False

    def _improve(self, name: str, subproblem: Subproblem, *, must_fit: bool = True) -> EngineAnswer | None:
        """Ask the engine for a better plan within a subproblem; None when it does not fit the engine."""
        if prices_exactly(self._problem):
            subproblem = replace(subproblem, at_least_eur=self._so_far.best.worth_eur)
        model = ProfitModel(self._problem, subproblem)
        while must_fit and self._engine == "cpo-community" and bits(model.cpo) > COMMUNITY_BITS:
            subproblem = _smaller(subproblem, COMMUNITY_BITS / bits(model.cpo))
            model = ProfitModel(self._problem, subproblem)
        try:
            chosen = choose_engine(self._engine, model.cpo)
        except SolverError:
            return None
        model.start_from(self._so_far.best.plan)
        answer = self._ask(chosen, model)
        if answer.solution is not None:
            self._keep_if_better(name, model, answer)
        if answer.interrupted:
            raise KeyboardInterrupt
        return answer

    def _ask(self, engine: Engine, model: ProfitModel) -> EngineAnswer:
        try:
            answer = engine.solve(model.cpo, time_limit_s=self._params.step_s, seed=self._seed, workers=self._workers)
        except SolverError:
            # The engine died with nothing in its hands; the best plan so far stands.
            self._deaths += 1
            return EngineAnswer("unknown", died=True)
        self._deaths = self._deaths + 1 if answer.died else 0
        return answer

    def _keep_if_better(self, name: str, model: ProfitModel, answer: EngineAnswer) -> None:
        plan, start_s = model.plan(answer.solution), model.starts(answer.solution)
        found = finish(self._problem, plan, start_s, self._complete, name, self._so_far.broken)
        if found is not None and self._so_far.keep_if_better(found):
            self._so_far.trials.append(found.trial)
            self._so_far.tell(found.trial)


def _smaller(subproblem: Subproblem, share: float) -> Subproblem:
    """A subproblem with fewer jobs, so that it takes about that share of the bits."""
    jobs = subproblem.jobs[: max(1, int(len(subproblem.jobs) * share * 0.95))]
    return replace(subproblem, jobs=jobs, kept=subproblem.kept & set(jobs))


Picker = Callable[[Problem, Plan, np.random.Generator, int], Ints]
"""Picks about this many jobs of a plan."""


def neighbourhoods(
    problem: Problem, rng: np.random.Generator, size: int
) -> Iterator[tuple[str, Callable[[Plan], Subproblem]]]:
    """Ever new neighbourhoods in turn: a stretch of time, a set of nodes, jobs at random."""
    while True:
        for name, pick in PICKERS.items():

            def subproblem_of(plan: Plan, pick: Picker = pick) -> Subproblem:
                return subproblem_around(problem, plan, pick(problem, plan, rng, size), rng)

            yield name, subproblem_of


def pick_stretch(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs that start around a moment of the day, with some deferred ones that could."""
    waiting = _some_deferred(problem, plan, rng, size // 4)
    placed = np.flatnonzero(plan.is_placed)
    moment = int(rng.integers(0, problem.horizon.length_s))
    near = placed[np.argsort(np.abs(plan.start_s[placed] - moment), kind="stable")][: size - len(waiting)]
    return np.concatenate([near, waiting])


def pick_nodes(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs on some nodes, drawn until there are enough, with some deferred ones."""
    waiting = _some_deferred(problem, plan, rng, size // 4)
    unit_job = np.repeat(np.arange(len(problem.jobs)), np.diff(problem.columns.unit_ptr))
    chosen: set[int] = set()
    for node in rng.permutation(problem.cluster.node_count):
        here = set(unit_job[plan.node_of_unit == node].tolist())
        if len(chosen | here) > size - len(waiting):
            break
        chosen |= here
    return np.concatenate([np.array(sorted(chosen), dtype=np.int64), waiting])


def pick_any(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs at random, placed or not."""
    return rng.permutation(len(problem.jobs))[:size].astype(np.int64)


PICKERS: dict[str, Picker] = {"stretch": pick_stretch, "nodes": pick_nodes, "any": pick_any}


def _some_deferred(problem: Problem, plan: Plan, rng: np.random.Generator, most: int) -> Ints:
    single = np.diff(problem.columns.unit_ptr) == 1
    deferred = np.flatnonzero(~plan.is_placed & single)
    return rng.permutation(deferred)[:most].astype(np.int64)
