"""Each rule of the model in the engine's own language, held against its golden text."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from docplex.cp.model import CpoModel

from planner.cp.constraints import Constraints
from planner.cp.fixed_work import FixedWork
from planner.cp.profit_objective import ProfitObjective
from planner.cp.subproblem import Subproblem
from planner.cp.variables import make_variables
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup, parse_dependencies
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Running
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from tests.cp.instances import SHORT

GOLDEN = Path(__file__).parent / "golden"


def day() -> Problem:
    """Two nodes, a running job on the first, a single-unit job and a job of two units."""

    def job(name: str, units: int, cores: float, seconds: int, power_w: float) -> Job:
        return Job(name, SHORT.start_unix, seconds, (UnitGroup.of(units, {"cores": cores}),), power_w)

    cooling = np.array([[0.1], [0.2], [0.4]])
    return Problem(
        horizon=SHORT,
        cluster=Cluster((NodeClass("cpu", 2, {"cores": 4}),), power_limit_w=500),
        jobs=(job("one", 1, 3, 4, 200), job("two", 2, 2, 5, 300)),
        segments=(Segment(0, 3, 0, 0.2), Segment(3, 8, 0, 0.1)),
        table=PueTable("golden", 100, 100, 0, 5, cooling),
        rates=Rates(0.02),
        running=(Running(job("r", 1, 2, 9, 100), -1, 2, (0,)),),
        defer="free",
    )


def whole_nodes() -> Problem:
    """The same day with jobs that take whole nodes."""
    problem = day()
    jobs = tuple(replace(one, units=(UnitGroup.of(one.unit_count, {"cores": 4.0}),)) for one in problem.jobs)
    held = problem.running[0]
    return replace(problem, jobs=jobs, running=(replace(held, job=replace(held.job, units=jobs[0].units)),))


def chain() -> tuple[Problem, Subproblem]:
    """b and c are decided between a and d, which stay; f waits for g, which is deferred."""
    problem = day()
    waits = {"a": "", "b": "afterok:a", "c": "after:b", "d": "afterany:c", "f": "afterok:g", "g": ""}
    one = replace(problem.jobs[0], requested_s=2)
    jobs = tuple(replace(one, id=name, after=parse_dependencies(text)) for name, text in waits.items())
    plan = Plan(np.array([0, 2, 3, 5, -1, -1], dtype=np.int64), np.array([1, 1, 0, 1, -1, -1], dtype=np.int64))
    return replace(problem, jobs=jobs), Subproblem((1, 2, 4), plan)


def scopes() -> dict[str, tuple[Problem, Subproblem]]:
    """The day and subproblem that each rule is shown on."""
    problem = day()
    whole = Subproblem.whole_day(problem)
    plan = Plan(np.array([2, 3], dtype=np.int64), np.array([1, 0, 1], dtype=np.int64))
    improving = Subproblem((0,), plan, nodes=(0, 1), at_least_eur=0.0001)
    return {
        "_whole_nodes_are_counted": (whole_nodes(), Subproblem.whole_day(problem, pooled=True)),
        "_profit_does_not_fall": (problem, improving),
        "_jobs_come_after_others": chain(),
    } | dict.fromkeys(
        (
            "_units_take_nodes",
            "_seats_of_a_node_fill_in_order",
            "_nodes_are_not_overfilled",
            "_power_stays_within_the_limit",
            "_power_stays_within_the_table",
        ),
        (problem, whole),
    )


def rules() -> list[str]:
    """Every method of the constraints that states a rule: those that `add_all` calls."""
    return re.findall(r"self\.(_\w+)\(\)", inspect.getsource(Constraints.add_all))


def text_of(rule: str) -> str:
    """The CPO text of one rule alone, without line numbers and dates."""
    problem, subproblem = scopes()[rule]
    variables, model = make_variables(problem, subproblem), CpoModel(name="golden")
    held = FixedWork.of(problem, subproblem)
    objective = ProfitObjective(problem, subproblem, variables, held)
    getattr(Constraints(model, problem, subproblem, variables, held, objective), rule)()
    lines = model.get_cpo_string().splitlines()
    return "\n".join(line for line in lines if line and not line.startswith(("//", "#"))) + "\n"


@pytest.mark.parametrize("rule", rules())
def test_rule_reads_as_before(rule: str) -> None:
    """The text of a rule is its golden text; GOLDEN=write renews it."""
    path = GOLDEN / f"{rule.strip('_')}.cpo"
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text_of(rule), encoding="utf-8")
    assert text_of(rule) == path.read_text(encoding="utf-8")


def test_every_rule_has_a_golden_text() -> None:
    """A new rule without a golden text, or a text without a rule, fails here."""
    assert sorted(rules()) == sorted(scopes())
    assert sorted(path.stem for path in GOLDEN.glob("*.cpo")) == sorted(rule.strip("_") for rule in rules())


@pytest.mark.parametrize("rule", rules())
def test_rule_opens_with_words(rule: str) -> None:
    """Each rule says in its first line what it demands."""
    words = (getattr(Constraints, rule).__doc__ or "").splitlines()[0]
    assert words.endswith((".", ":"))
    assert len(words.split()) > 5
