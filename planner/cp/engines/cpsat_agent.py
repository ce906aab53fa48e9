"""A docplex solver agent that hands a model to OR-Tools CP-SAT, so that models are written once."""

from __future__ import annotations

import json
from typing import Any

from docplex.cp.solution import CpoSolveResult
from docplex.cp.solver.solver import CpoSolverAgent
from ortools.sat.python import cp_model

from planner.cp.engines.cpsat_translate import Walk
from planner.cp.engines.engine import Heard
from planner.errors import SolverError

_STATUS = {
    cp_model.OPTIMAL: ("Optimal", "SearchHasNotFailed", "SearchCompleted"),
    cp_model.FEASIBLE: ("Feasible", "SearchHasNotFailed", "SearchStopped"),
    cp_model.INFEASIBLE: ("Infeasible", "SearchHasFailedNormally", "SearchCompleted"),
    cp_model.UNKNOWN: ("Unknown", "SearchHasFailedNormally", "SearchStopped"),
}


class _Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
    """Tells of each solution, and ends the search when asked to."""

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self._heard = heard

    def on_solution_callback(self) -> None:
        if self._heard(self.objective_value):
            self.stop_search()


class CpSatAgent(CpoSolverAgent):  # type: ignore[misc]
    """Walks the model into CP-SAT and answers in the JSON that docplex decodes."""

    def solve(self) -> Any:
        """Solve the model."""
        self.solver.get_cpo_model_string()
        walk = Walk(self.model)
        solver = cp_model.CpSolver()
        params = self.context.params
        solver.parameters.max_time_in_seconds = float(params.TimeLimit)
        solver.parameters.num_workers = int(params.Workers)
        solver.parameters.random_seed = int(params.RandomSeed)
        # Probing takes most of a short solve, and in version 9.15 calls some feasible models infeasible.
        solver.parameters.cp_model_probing_level = 0
        heard = self.context.heard
        status = solver.solve(walk.model, _Listener(heard) if heard is not None else None)
        if status == cp_model.MODEL_INVALID:
            raise SolverError(f"CP-SAT refuses the model: {walk.model.validate()}")
        return self._create_result_object(CpoSolveResult, json.dumps(self._result(walk, solver, status)))

    def _result(self, walk: Walk, solver: Any, status: Any) -> dict[str, Any]:
        solve, fail, search = _STATUS[status]
        result: dict[str, Any] = {
            "solutionStatus": {"solveStatus": solve, "failStatus": fail, "SearchStatus": search},
        }
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            result["objectives"] = [round(solver.objective_value)]
            result["bounds"] = [solver.best_objective_bound]
            result["intervalVars"] = {
                name: _interval(walk.spans[id(variable)], solver)
                for name, variable in self.solver.expr_map.items()
                if id(variable) in walk.spans
            }
        return result


def _interval(span: Any, solver: Any) -> dict[str, int]:
    if span.presence is not None and not solver.boolean_value(span.presence):
        return {}
    start = int(solver.value(span.start.expression))
    return {"start": start, "end": start + span.size, "size": span.size}
