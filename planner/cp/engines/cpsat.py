"""OR-Tools CP-SAT: the default engine, without limits, part of every installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from docplex.cp.model import CpoModel

from planner.cp.engines.engine import UNKNOWN, AnswerStatus, Engine, EngineAnswer, Heard
from planner.errors import SolverError

_STATUS: dict[str, AnswerStatus] = {"OPTIMAL": "optimal", "FEASIBLE": "feasible", "INFEASIBLE": "infeasible"}


class CpSat(Engine):
    """CP-SAT, which gets the docplex model walked into one of its own; it runs inside this process."""

    name = "cpsat"
    limits = "no limit on the size of a model"
    remedy = "install it with: pip install ortools"

    def available(self) -> bool:
        """Whether OR-Tools is installed."""
        return find_spec("ortools") is not None

    def version(self) -> str | None:
        """Version of OR-Tools."""
        try:
            return version("ortools")
        except PackageNotFoundError:
            return None

    def fits(self, model: CpoModel) -> bool:
        """Every model fits."""
        return True

    def solve(
        self, model: CpoModel, *, time_limit_s: float, seed: int = 0, workers: int = 1, heard: Heard | None = None
    ) -> EngineAnswer:
        """Solve a model in this process."""
        if time_limit_s <= 0:
            return UNKNOWN
        if not self.available():
            raise SolverError(f"the engine cpsat is not installed; {self.remedy}")
        try:
            return _solved(model, time_limit_s, seed, workers, heard)
        except (RuntimeError, ValueError) as error:
            raise SolverError(f"the engine cpsat failed: {error}; try another with --engine") from error


@dataclass(frozen=True)
class FoundInterval:
    """The start of an interval in a solution; None where it is absent. Read as docplex's are."""

    start: int | None

    def is_present(self) -> bool:
        """Whether it is present."""
        return self.start is not None

    def get_start(self) -> int | None:
        """Its start."""
        return self.start


@dataclass(frozen=True)
class Solution:
    """What CP-SAT found, by the id of the docplex variable."""

    found: Mapping[int, FoundInterval]

    def get_var_solution(self, variable: Any) -> FoundInterval | None:
        """What became of an interval; None for one that the model does not have."""
        return self.found.get(id(variable))


def _solved(model: CpoModel, time_limit_s: float, seed: int, workers: int, heard: Heard | None) -> EngineAnswer:
    from ortools.sat.python import cp_model

    from planner.cp.engines.cpsat_translate import Walk

    class Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        """Tells of each solution, and ends the search when asked to."""

        def on_solution_callback(self) -> None:
            if heard is not None and heard(self.objective_value):
                self.stop_search()

    walk, solver = Walk(model), cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = float(time_limit_s)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    # Probing takes most of a short solve, and in version 9.15 calls some feasible models infeasible.
    solver.parameters.cp_model_probing_level = 0
    status = solver.solve(walk.model, None if heard is None else Listener())
    if status == cp_model.MODEL_INVALID:
        raise SolverError(f"CP-SAT refuses the model: {walk.model.validate()}")
    told = _STATUS.get(solver.status_name(status), "unknown")
    if told not in ("optimal", "feasible"):
        return EngineAnswer(told)
    found = {
        variable: FoundInterval(
            int(solver.value(span.start.expression))
            if span.presence is None or solver.boolean_value(span.presence)
            else None
        )
        for variable, span in walk.spans.items()
    }
    return EngineAnswer(told, Solution(found), round(solver.objective_value), solver.best_objective_bound)
