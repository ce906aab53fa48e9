"""The same jobs sooner: of plans that start the same jobs and earn as much, one in which users wait less.

Many plans of a full day earn the same but for some cents, and a search for profit ends at any of them: long jobs first
and all short ones in the evening, say. Steps of RebuildSearch lead from there to a plan with shorter waits.
"""

from __future__ import annotations

import time
from dataclasses import replace

from planner.accounting.audit import audit, why_broken
from planner.accounting.settle import settle
from planner.domain.problem import Problem
from planner.domain.result import Result, Stop
from planner.search.kernel.search_state import BEST, Habits
from planner.search.rebuild import Chain
from planner.search.whole_plan_rules import complete

ROUND_STEPS = 500
"""Steps between two looks at the clock, after which neighbours are looked for anew."""

LARGEST = 16
"""Most jobs that a step takes out."""

LEAST_PART = 1e-4
"""Plans earn as much as each other if they differ by no more than this part of the profit."""


def sooner(problem: Problem, result: Result, *, seed: int, steps: int, stop: Stop) -> Result:
    """The result with its jobs started sooner, at a loss of at most ``LEAST_PART``; as it is where none can be.

    Which jobs start on the day stays as it is, but for those that now have room and must start under ``defer: full``.
    Priorities count as in the search. Cost: that of the steps.
    """
    began = time.perf_counter()
    counted = problem.counted
    earned = settle(counted, result.plan).profit_eur
    floor_eur = earned - LEAST_PART * abs(earned)
    chain = _chain(counted, result, floor_eur, seed)
    for begun in range(0, steps, ROUND_STEPS):
        if stop(floor_eur) or not len(chain.state.members):
            break
        chain.run(min(ROUND_STEPS, steps - begun), 0.0)
    plan = chain.present_plan()
    if not result.leaves_room:
        plan = complete(problem, plan)
    if settle(counted, plan).profit_eur < floor_eur:
        return result
    if why := why_broken("starting jobs sooner", audit(problem, plan, leaves_room=result.leaves_room)):
        return replace(result, stands_in_for=result.stands_in_for or why)
    spent_s = time.perf_counter() - began
    return replace(result, plan=plan, ledger=settle(problem, plan), solve_s=result.solve_s + spent_s)


def _chain(problem: Problem, result: Result, floor_eur: float, seed: int) -> Chain:
    """Steps among the jobs that the plan starts, from the plan on."""
    habits = Habits(LARGEST, guests=1, priced=0.0, wanders=0.0, exact=False, may_refuse=False, sooner=True)
    chain = Chain.from_plan(problem, result.plan, seed=seed, habits=habits)
    chain.state = chain.state._replace(members=chain.state.members[: chain.state.placed[0]].copy())
    chain.state.profits[BEST] = floor_eur
    return chain
