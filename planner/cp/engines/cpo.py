"""IBM's CP Optimizer as a process beside ours: a licensed installation, or the Community Edition of ``pip``."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from docplex.cp.expression import interval_var
from docplex.cp.model import CpoModel
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from planner.cp.engines.engine import COMMUNITY_BITS, UNKNOWN, AnswerStatus, Engine, EngineAnswer, Heard, bits, calls_of
from planner.errors import SolverError

EXECUTABLE = "cpoptimizer"

QUIET = {"trace_log": False, "add_log_to_solution": False, "log_output": None}
"""Settings that keep docplex from printing."""

_STATUS: dict[str, AnswerStatus] = {"Optimal": "optimal", "Feasible": "feasible", "Infeasible": "infeasible"}


class CpOptimizer(Engine):
    """CP Optimizer in one of its editions, told apart by what it does with a model above the Community limit."""

    def __init__(self, *, community: bool) -> None:
        self._community = community
        self.name = "cpo-community" if community else "cpo"
        if community:
            self.limits = f"models of at most {COMMUNITY_BITS} bits: about 140 starts, or 69 starts on one of 300 nodes"
            self.remedy = "install it with: pip install 'hpc-day-planner[cpo]'"
        else:
            self.limits = "no limit on the size of a model"
            self.remedy = "install IBM ILOG CPLEX Optimization Studio and set CPLEX_STUDIO_DIR to its folder"

    def available(self) -> bool:
        """Whether an executable of this edition was found."""
        return self.executable() is not None

    def executable(self) -> str | None:
        """The first executable of this edition."""
        return next((path for path in executables() if refuses_large(path) == self._community), None)

    def version(self) -> str | None:
        """Version of the engine."""
        path = self.executable()
        return None if path is None else version_of(path)

    def fits(self, model: CpoModel) -> bool:
        """Whether a model is within the limit of the edition."""
        return not self._community or bits(model) <= COMMUNITY_BITS

    def solve(
        self, model: CpoModel, *, time_limit_s: float, seed: int = 0, workers: int = 1, heard: Heard | None = None
    ) -> EngineAnswer:
        """Solve a model, hearing of every solution; if the process dies, the last one stands."""
        if time_limit_s <= 0:
            return UNKNOWN
        path = self.executable()
        if path is None:
            raise SolverError(f"the engine {self.name} is not installed; {self.remedy}, or use --engine cpsat")
        return _search(self.name, model, path, time_limit_s, seed, workers, heard)


def executables() -> list[str]:
    """Every ``cpoptimizer``: of CPLEX_STUDIO_DIR, beside this Python, on PATH."""
    found = []
    for name, value in sorted(os.environ.items(), reverse=True):
        if name.startswith("CPLEX_STUDIO_DIR") and value:
            found += sorted(Path(value).glob(f"cpoptimizer/bin/*/{EXECUTABLE}*"))
    found += [folder / EXECUTABLE for folder in (Path(sys.prefix) / "bin", Path(sys.executable).parent)]
    on_path = shutil.which(EXECUTABLE)
    if on_path is not None:
        found.append(Path(on_path))
    paths = [str(path) for path in found if path.is_file() and os.access(path, os.X_OK)]
    return list(dict.fromkeys(paths))


@lru_cache(maxsize=8)
def refuses_large(path: str) -> bool | None:
    """Whether an executable refuses a model above the Community limit; None when it does not run at all."""
    model = CpoModel(name="probe")
    for number in range(COMMUNITY_BITS // 5):
        model.add(interval_var(start=(0, 10**6), size=1, name=f"probe{number}"))
    try:
        _search("cpo", model, path, 5.0, 0, 1, lambda objective: True)
    except TooLargeError:
        return True
    except SolverError:
        return None
    return False


@lru_cache(maxsize=8)
def version_of(path: str) -> str | None:
    """The version that an executable reports."""
    try:
        with CpoSolver(CpoModel(name="version"), agent="local", execfile=path, **QUIET) as solver:
            return str(solver.get_solver_version())
    except CpoException:
        return None


class TooLargeError(SolverError):
    """The Community Edition refused a model."""


def _search(
    name: str, model: CpoModel, path: str, time_limit_s: float, seed: int, workers: int, heard: Heard | None
) -> EngineAnswer:
    """Solve at once; or, to report them, one solution after the other, which costs some speed.

    Presolve is off where the model takes a maximum: version 22.2 then proves optima that are none.
    """
    end = time.monotonic() + time_limit_s
    best = UNKNOWN
    try:
        with CpoSolver(
            model,
            agent="local",
            execfile=path,
            **QUIET,
            TimeLimit=time_limit_s,
            Workers=workers,
            RandomSeed=seed,
            Presolve="Off" if any(True for _ in calls_of(model, "max", "min")) else "On",
            RelativeOptimalityTolerance=0,
            OptimalityTolerance=1e-9,
            LogVerbosity="Quiet",
        ) as solver:
            if heard is None:
                return _answer_of(solver.solve())
            while True:
                result = solver.search_next()
                answer = _answer_of(result)
                if answer.solution is not None:
                    best = answer
                if not result.is_new_solution():
                    return best if best.solution is not None else answer
                if heard(best.objective or 0.0) or time.monotonic() >= end:
                    return best
    except (CpoException, OSError) as error:
        if "community" in str(error).lower() or "size" in str(error).lower():
            raise TooLargeError(
                f"the model is too large for the Community Edition of CP Optimizer ({bits(model):.0f} bits of"
                f" {COMMUNITY_BITS}); use --engine cpsat, or a licensed CP Optimizer"
            ) from error
        interrupted = isinstance(error.__context__, KeyboardInterrupt)
        if best.solution is None and interrupted:
            raise KeyboardInterrupt from error
        if best.solution is None:
            text = f"the engine {name} died before its first solution: {error}; try --engine cpsat"
            raise SolverError(text) from error
        return replace(best, status="feasible", died=not interrupted, interrupted=interrupted)


def _answer_of(result: Any) -> EngineAnswer:
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
