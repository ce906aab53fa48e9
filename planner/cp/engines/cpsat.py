"""OR-Tools CP-SAT: the default engine, without limits, part of every installation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from docplex.cp.model import CpoModel
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from planner.cp.engines.engine import UNKNOWN, AnswerStatus, Engine, EngineAnswer, Heard
from planner.errors import SolverError

QUIET = {"trace_log": False, "add_log_to_solution": False, "log_output": None}
"""Settings that keep docplex from printing."""

_STATUS: dict[str, AnswerStatus] = {"Optimal": "optimal", "Feasible": "feasible", "Infeasible": "infeasible"}


class CpSat(Engine):
    """CP-SAT through a docplex agent of our own; it runs inside this process."""

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
        register_agent()
        solver = CpoSolver(
            model,
            agent=self.name,
            heard=heard,
            TimeLimit=time_limit_s,
            Workers=workers,
            RandomSeed=seed,
            **QUIET,
        )
        try:
            return answer_of(solver.solve())
        except (CpoException, RuntimeError, ValueError) as error:
            raise SolverError(f"the engine cpsat failed: {error}; try another with --engine") from error


def answer_of(result: Any) -> EngineAnswer:
    """An answer from a docplex result."""
    status = _STATUS.get(result.get_solve_status(), "unknown")
    if not result.is_solution():
        return EngineAnswer("infeasible" if status == "infeasible" else "unknown")
    bounds = result.get_objective_bounds()
    values = result.get_objective_values()
    return EngineAnswer(
        status,
        result.get_solution(),
        float(values[0]) if values else None,
        float(bounds[0]) if bounds else None,
    )


def register_agent() -> None:
    """Make our agent known to docplex, once."""
    from docplex.cp.config import context
    from docplex.cp.utils import Context

    if context.solver.cpsat is None:
        context.solver.cpsat = Context(class_name="planner.cp.engines.cpsat_agent.CpSatAgent", heard=None)
