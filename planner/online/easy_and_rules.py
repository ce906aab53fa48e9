"""EASY and the rules of common schedulers on one day, to compare a plan with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from planner.accounting.settle import settle
from planner.domain.columns import Floats, Ints
from planner.domain.job_order import by_priority, overdue_first, profit_per_kw
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Candidate, Listener, Result, never
from planner.online.day_replay import DayTrace
from planner.online.policies import Policy

EASY = Policy("easy")


def _submit(problem: Problem) -> Ints:
    return np.array([job.submit_unix for job in problem.jobs], dtype=np.int64)


def _wallclock(problem: Problem) -> Ints:
    return problem.columns.duration_s


def _profit_over_cost(problem: Problem) -> Floats:
    return -profit_per_kw(problem, problem.columns)


RULES: dict[str, Callable[[Problem], Ints | Floats]] = {
    "est": _submit,
    "wt": _wallclock,
    "profit": _profit_over_cost,
}
"""Keys, the least first; ties go by submit time, then id. Profit over cost sorts as profit per kW does."""

STRICT = "-strict"
"""Ending of the names of rules that stop at the first job that does not fit, until some job has ended."""


def easy_plan(problem: Problem, happened: Problem) -> Plan:
    """What EASY starts on a day, knowing only jobs that are submitted and the times that they ask for.

    The ``problem`` has every job as long as planning thinks, ``happened`` the same jobs as long as they ran.
    """
    day = DayTrace(problem, happened)
    return day.plan_of(day.play(EASY))


def rule_plan(problem: Problem, name: str, on_trial: Listener | None = None) -> Result:
    """The plan that a rule makes: at each arrival or completion it starts what fits now, nodes in number order."""
    day = DayTrace(problem, problem)
    policy = Policy("strict" if name.endswith(STRICT) else "greedy", as_rule=True)
    return result_of(problem, day.plan_of(day.play(policy, order=rule_order(problem, name))), name, on_trial)


def easy_result(problem: Problem, on_trial: Listener | None = None) -> Result:
    """EASY's plan, with every job as long as planning thinks."""
    return result_of(problem, easy_plan(problem, problem), "easy", on_trial)


def result_of(problem: Problem, plan: Plan, name: str, on_trial: Listener | None, **more: Any) -> Result:
    """The result of a plan that was not searched for, settled; it may leave room."""
    so_far = BestSoFar(never, on_trial)
    found = Candidate(plan, settle(problem, plan), name)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(name, leaves_room=True, **more)


def rule_order(problem: Problem, name: str) -> Ints:
    """Indices of the problem's jobs in the order of a rule: by priority first, unless its key knows what they count."""
    rule = name.removesuffix(STRICT)
    order = np.lexsort((problem.submission_rank, RULES[rule](problem))).astype(np.int64)
    return overdue_first(problem, order if rule == "profit" else by_priority(problem, order))
