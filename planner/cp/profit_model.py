"""The profit model of a subproblem: built once in docplex, read back as a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from docplex.cp.model import CpoModel, maximize

from planner.cp.constraints import Constraints
from planner.cp.fixed_work import FixedWork
from planner.cp.profit_objective import ProfitObjective
from planner.cp.subproblem import Subproblem, assign_nodes, is_exact_when_pooled, whole_node_class
from planner.cp.variables import Use, make_variables
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem


class ProfitModel:
    """A subproblem of a day as a docplex model.

    ``cpo`` is the model, ``objective`` says what its value means in money.
    """

    def __init__(self, problem: Problem, subproblem: Subproblem) -> None:
        self._problem = problem
        self.subproblem = subproblem
        self.variables = make_variables(problem, subproblem)
        fixed = FixedWork.of(problem, subproblem)
        self.objective = ProfitObjective(problem, subproblem, self.variables, fixed)
        self.cpo = CpoModel(name="profit")
        Constraints(self.cpo, problem, subproblem, self.variables, fixed, self.objective).add_all()
        self.cpo.add(maximize(self.objective.expression))

    @property
    def is_exact(self) -> bool:
        """Whether the model decides exactly the day's plans and profits: then its optimum is the day's."""
        scope = self.subproblem
        if scope.mean_cost or scope.window_s is not None or not prices_exactly(self._problem):
            return False
        return not scope.pooled or is_exact_when_pooled(self._problem)

    def start_from(self, plan: Plan) -> None:
        """Give the engine a plan to start from."""
        point = self.cpo.create_empty_solution()
        for job, interval in self.variables.jobs.items():
            placed = bool(plan.is_placed[job])
            _suggest(point, interval, int(plan.start_s[job]) if placed else None)
        for choice in self.variables.choices:
            start = int(plan.start_s[choice.job]) if plan.is_placed[choice.job] else None
            open_units = self._units_by_place(plan, choice.group) if start is not None else {}
            for seat in choice.seats:
                taken = open_units.get(seat.place, 0) >= seat.units
                if taken:
                    open_units[seat.place] -= seat.units
                _suggest(point, seat.interval, start if taken else None)
        self.cpo.set_starting_point(point)

    def starts(self, solution: Any) -> Any:
        """Start of every job of the day under a solution; jobs outside the subproblem keep theirs."""
        start_s = self.subproblem.others(self._problem).start_s.copy()
        for job, interval in self.variables.jobs.items():
            value = solution.get_var_solution(interval)
            start_s[job] = value.get_start() if value is not None and value.is_present() else DEFERRED
        return start_s

    def plan(self, solution: Any) -> Plan | None:
        """The plan of a solution; None when it was pooled and its nodes remain to be found."""
        start_s = self.starts(solution)
        if self.subproblem.pooled:
            return (
                assign_nodes(self._problem, start_s, self._classes()) if is_exact_when_pooled(self._problem) else None
            )
        node_of_unit = self.subproblem.others(self._problem).node_of_unit.copy()
        columns = self._problem.columns
        for use in self._taken(solution):
            if start_s[use.job] == DEFERRED:
                continue
            units = slice(columns.unit_ptr[use.job], columns.unit_ptr[use.job + 1])
            open_units = np.flatnonzero((columns.unit_group[units] == use.group) & (node_of_unit[units] == DEFERRED))
            node_of_unit[units.start + open_units[: use.units]] = use.place
        for job in self.subproblem.kept:
            kept = self.subproblem.kept_nodes(self._problem, job)
            if start_s[job] != DEFERRED and kept is not None:
                node_of_unit[columns.unit_ptr[job] : columns.unit_ptr[job + 1]] = kept
        return Plan(start_s, node_of_unit)

    def _taken(self, solution: Any) -> list[Use]:
        taken = list(self.variables.fixed_uses)
        for choice in self.variables.choices:
            for seat in choice.seats:
                value = solution.get_var_solution(seat.interval)
                if value is not None and value.is_present():
                    taken.append(seat)
        return taken

    def _classes(self) -> dict[int, int]:
        return {use.group: use.place for use in self.variables.fixed_uses}

    def _units_by_place(self, plan: Plan, group: int) -> dict[int, int]:
        nodes = plan.node_of_unit[self._problem.columns.unit_group == group]
        places = self._problem.nodes.class_of[nodes] if self.subproblem.pooled else nodes
        values, counts = np.unique(places, return_counts=True)
        return dict(zip(values.tolist(), counts.tolist(), strict=True))


def prices_exactly(problem: Problem) -> bool:
    """Whether the model's profit of a plan is the ledger's.

    With idle power it is if no two units can share a node; with nodes that sleep, or a battery, it is not.
    """
    if problem.nodes.sleeps or problem.rates.battery is not None:
        return False
    classes = range(len(problem.cluster.classes))
    return not problem.nodes.saved_mw.any() or all(whole_node_class(problem, k) for k in classes)


def _suggest(point: Any, interval: Any, start: int | None) -> None:
    if start is None:
        point.add_interval_var_solution(interval, presence=False)
    else:
        point.add_interval_var_solution(interval, presence=True, start=start)
