"""Claims about the parts of a model, each small enough to be worked out: arithmetic, units, nodes, neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from docplex.cp.model import CpoModel
from ortools.sat.python import cp_model

from planner.cp.engines import cpo
from planner.cp.engines.cpsat_terms import Arithmetic, Bands, Term, constant
from planner.cp.engines.engine import UNKNOWN
from planner.cp.fixed_work import FixedWork
from planner.cp.interval_rates import ENERGY_STEPS, MONEY_STEPS, WholeUnits
from planner.cp.profit_model import ProfitModel
from planner.cp.relaxation import PICKERS
from planner.cp.repair import without
from planner.cp.subproblem import Subproblem, assign_nodes, busy_share, is_exact_when_pooled
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Running
from tests.factories import random_problem
from tests.plain_day import HOUR, LENGTH, day, job


class Seen(cp_model.CpSolverSolutionCallback):
    """Every solution: the values of some expressions."""

    def __init__(self, terms: list[Term]) -> None:
        super().__init__()
        self._terms = terms
        self.found: list[list[int]] = []

    def on_solution_callback(self) -> None:
        """Note one."""
        self.found.append([self.value(term.expression) for term in self._terms])


def test_arithmetic_of_cpsat_is_that_of_whole_numbers() -> None:
    """Every term has its one value at each of 48 points, within its bounds, and its hint is the value at (2, 3)."""
    model = cp_model.CpModel()
    make = Arithmetic(model)
    x, y = make.variable(-3, 4, 2), make.variable(0, 5, 3)
    cells, bands = [5, -2, 8, 1, 0, 3], Bands(make)
    row = make.quotient(make.total([y, constant(4)]), 3)
    both = make.total([x, y, constant(7)])
    is_exact: dict[Term, Callable[[int, int], int]] = {
        x: lambda x, y: x,
        y: lambda x, y: y,
        both: lambda x, y: x + y + 7,
        make.single(both): lambda x, y: x + y + 7,
        make.scaled(x, -3): lambda x, y: -3 * x,
        make.product(x, y): lambda x, y: x * y,
        make.product(constant(2), y): lambda x, y: 2 * y,
        make.product(y, constant(-2)): lambda x, y: -2 * y,
        make.quotient(x, 2): lambda x, y: int(x / 2),
        make.quotient(make.scaled(x, -3), 2): lambda x, y: int(-3 * x / 2),
        make.quotient(y, 100): lambda x, y: 0,
        row: lambda x, y: (y + 4) // 3,
        make.largest([x, y]): max,
        make.largest([x, constant(9)]): lambda x, y: 9,
        make.smallest([x, y]): min,
        make.smallest([x, constant(-9)]): lambda x, y: -9,
        make.cell(cells, y): lambda x, y: cells[y],
        make.cell(cells, constant(2)): lambda x, y: 8,
    }
    is_within: dict[Term, Callable[[int, int], int]] = {
        make.product(both, x): lambda x, y: (x + y + 7) * x,
        bands.product(x, cells, row): lambda x, y: x * cells[(y + 4) // 3],
        bands.product(y, cells, row): lambda x, y: y * cells[(y + 4) // 3],
        bands.product(make.quotient(y, 2), cells, row): lambda x, y: y // 2 * cells[(y + 4) // 3],
        bands.product(make.total([y, constant(1)]), cells, y): lambda x, y: (y + 1) * cells[y],
        bands.product(constant(3), cells, y): lambda x, y: 3 * cells[y],
    }
    values = is_exact | is_within
    seen, solver = Seen(list(values)), cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model, seen)
    points = [(a, b) for a in range(-3, 5) for b in range(6)]
    assert sorted(seen.found) == sorted([value(*point) for value in values.values()] for point in points)
    for term, value in values.items():
        assert term.hint == value(2, 3)
        lowest, highest = (end(value(*point) for point in points) for end in (min, max))
        assert term.least <= lowest
        assert highest <= term.most
        assert term not in is_exact or (term.least, term.most) == (lowest, highest)
    assert (row.root, row.offset, row.divisor) == (y, 4, 3)


def test_units_of_money_and_energy() -> None:
    """4 EUR are 2^46 units; energies of 600 and 900 mWs have 300 in common; rounding is counted by halves."""
    scale = WholeUnits.of(4.0, [600, -900])
    assert (scale.unit_eur, scale.unit_mws) == (4 / MONEY_STEPS, 300)
    assert scale.money(1.0) == MONEY_STEPS // 4
    assert scale.money(0.5, times=7) == MONEY_STEPS // 8
    assert scale.error_eur == 4 * scale.unit_eur
    assert scale.energy(1200) == 4
    assert [scale.coarse(most) for most in (0, ENERGY_STEPS, ENERGY_STEPS + 1)] == [1, 1, 2]
    assert WholeUnits.of(0.0, [0]) == WholeUnits(1.0, 1)


def whole_nodes(cores: float = 3.0) -> Problem:
    """Three nodes of four cores, the first with running work until three o'clock, and jobs of nodes of their own."""
    units = ((1, cores),)
    running = Running(job("r", 5, units=units), -HOUR, 3 * HOUR, (0,))
    jobs = (job("a", 2, units=((2, cores),)), job("b", 4, units=units), job("c", 1, units=units))
    return day(*jobs, nodes=3, running=(running,))


def test_nodes_of_a_pooled_solution() -> None:
    """In order of start: b at one o'clock on node 1, a at three on nodes 0 and 2, c at five on node 0.

    Node 0 is free at three, when the running job ends; nodes 0 and 2 at five, when a does. Without b, a has node 1.
    """
    problem = whole_nodes()
    assert is_exact_when_pooled(problem)
    for start_of_b, nodes in ((HOUR, [0, 2, 1, 0]), (DEFERRED, [0, 1, DEFERRED, 0])):
        starts = np.array([3 * HOUR, start_of_b, 5 * HOUR], dtype=np.int64)
        assert assign_nodes(problem, starts, dict.fromkeys(range(3), 0)).node_of_unit.tolist() == nodes


def test_where_the_pooled_form_is_exact() -> None:
    """Not where two units of two cores share a node of four; then a unit keeps half of it busy."""
    assert (busy_share(whole_nodes(), 3.0, 0), is_exact_when_pooled(whole_nodes(2.0))) == (1.0, False)
    assert busy_share(whole_nodes(2.0), 2.0, 0) == 0.5


def test_energy_of_what_does_not_change() -> None:
    """The running job draws 1 kW until three; of three nodes with 100 W when idle it keeps one busy.

    From two to four: 1 kWh, and 2 hours of 300 W less one of 100 W: 500 Wh.
    """
    problem = whole_nodes()
    idle = Cluster((NodeClass("n", 3, {"cores": 4}, idle_w=100.0),))
    problem = replace(problem, cluster=idle)
    fixed = FixedWork.of(problem, Subproblem.whole_day(problem))
    assert fixed.energy_mws(2 * HOUR, 4 * HOUR) == 1_500 * HOUR * 1000
    assert fixed.revenue_eur == pytest.approx(3 * 3 * 0.1)


@pytest.mark.parametrize("mean_cost", [False, True])
def test_what_no_engine_decides_is_in_the_constant(mean_cost: bool) -> None:
    """The running job earns 9 core-hours at 0.1 EUR, and its 1 kW costs 0.1, 0.3 and 0.3 EUR/kWh until three."""
    problem = replace(whole_nodes(), segments=day(prices=(0.1, 0.3)).segments)
    whole = replace(Subproblem.whole_day(problem), mean_cost=mean_cost)
    assert ProfitModel(problem, whole).objective.constant_eur == pytest.approx(0.9 - 0.7)


def test_a_job_taken_out_leaves_the_others_where_they_are() -> None:
    """Its units have no nodes, those before and behind keep theirs."""
    plan = Plan(np.array([0, HOUR, 2 * HOUR]), np.array([0, 2, 1, 0]))
    left = without(whole_nodes(), plan, 1)
    assert left.start_s.tolist() == [0, DEFERRED, 2 * HOUR]
    assert left.node_of_unit.tolist() == [0, 2, DEFERRED, 0]
    assert plan.start_s.tolist() == [0, HOUR, 2 * HOUR]


@pytest.mark.parametrize("name", PICKERS)
def test_neighbourhoods_keep_to_their_size(name: str) -> None:
    """At most so many jobs, each once; where placed and deferred ones are told apart, a quarter at most is deferred."""
    rng = np.random.default_rng(4)
    sizes = set()
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), jobs=24)
        starts = np.where(np.arange(24) % 3 > 0, rng.integers(0, LENGTH, 24), DEFERRED)
        units = np.repeat(starts != DEFERRED, np.diff(problem.columns.unit_ptr))
        nodes = np.where(units, rng.integers(0, problem.cluster.node_count, len(units)), DEFERRED)
        picked = PICKERS[name](problem, Plan(starts, nodes), rng, 12)
        assert len(picked) == len(set(picked.tolist())) <= 12
        assert name == "any" or np.sum(starts[picked] == DEFERRED) <= 3
        sizes.add(len(picked))
    assert max(sizes) == 12


class Told:
    """A CP Optimizer that finds solutions of 0 and 5, and then no other."""

    def __init__(self, model: CpoModel, **settings: Any) -> None:
        self.left = [0.0, 5.0]

    def __enter__(self) -> Told:
        """Start it."""
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""

    def solve(self) -> Any:
        """The best solution, with a proof."""
        return result("Optimal", 5.0)

    def search_next(self) -> Any:
        """The next solution, or the end of the search."""
        return result("Feasible", self.left.pop(0)) if self.left else result("Optimal", None)


def result(status: str, value: float | None) -> Any:
    """What docplex makes of an answer."""
    return SimpleNamespace(
        get_solve_status=lambda: status,
        is_solution=lambda: value is not None,
        is_new_solution=lambda: value is not None,
        get_objective_bounds=lambda: (9.0,),
        get_objective_values=lambda: (value,),
        get_solution=lambda: f"solution of {value}",
    )


def test_answers_of_cp_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, or one solution after the other: the last one stands, or the one at which the listener stops."""
    engine, model = cpo.CpOptimizer(community=False), CpoModel(name="empty")
    monkeypatch.setattr(cpo, "executables", list)
    assert engine.solve(model, time_limit_s=0) is UNKNOWN
    monkeypatch.setattr(engine, "executable", lambda: "cpoptimizer")
    monkeypatch.setattr(cpo, "CpoSolver", Told)
    answer = engine.solve(model, time_limit_s=60)
    assert (answer.status, answer.solution, answer.objective, answer.bound) == ("optimal", "solution of 5.0", 5.0, 9.0)
    assert (answer.died, answer.interrupted) == (False, False)
    heard: list[float] = []
    assert engine.solve(model, time_limit_s=60, heard=lambda value: bool(heard.append(value))).objective == 5.0
    assert heard == [0.0, 5.0]
    assert engine.solve(model, time_limit_s=60, heard=lambda value: True).objective == 0.0
    monkeypatch.setattr(Told, "search_next", lambda self: result("Infeasible", None))
    assert engine.solve(model, time_limit_s=60, heard=lambda value: True).status == "infeasible"
