"""The rounds of the policy ``cp``: an engine plans the queue, what then starts now is started, the rest is forgotten.

The starts that the engine finds are sorted, and the list plan of that order is looked at. On a pool no job starts later
in it than the engine planned. On nodes the list plan may choose other nodes and so be worse; then the engine's own plan
counts, with every job as early as it can on its nodes. The engine's search begins with the list plan in submit order,
or with what is left of the last round's plan where that is better; under a policy with a plus it begins with each of
the published seeds, and then with nothing. Of all these plans the best one is carried out, so that a round is never
worse than its seeds, whatever the engine does.
"""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Ints
from planner.domain.waiting_queue import QueuePlan, QueueSolver
from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.queue_order import ORDER_CODES
from planner.online.kernel.state import State
from planner.online.kernel.steps import has_choice, start_planned
from planner.online.planned_rounds import (
    PlannedRounds,
    RoundPlan,
    as_known,
    carry_out,
    plan_tried,
    units_of,
    waiting_queue,
)
from planner.online.policies import Policy


class EngineRounds(PlannedRounds):
    """Runs the rounds of a replay with an engine."""

    def __init__(self, policy: Policy, solver: QueueSolver) -> None:
        super().__init__()
        assert policy.objective is not None
        self._solver = solver
        self._seeds = policy.objective.seeds if policy.plus else ()
        self._last: RoundPlan | None = None

    def run_round(self, state: State, now: int) -> None:
        """A round of the whole queue, if its order can decide who starts now."""
        if has_choice(state, now):
            self._last = self._best_plan(state, now)
            carry_out(state, now, self._last)
        else:
            steps.run_list_round(state, now)

    def _best_plan(self, state: State, now: int) -> RoundPlan:
        """The best of the seeds and of what the engine makes of them."""
        usual = _seed_plan(state, now, "fcfs")
        if np.all(usual.start_s == now):
            return usual
        jobs = usual.placed
        best = min([usual, _left_of(state, now, usual, self._last)], key=lambda plan: plan.rank)
        plans = [_seed_plan(state, now, order) for order in self._seeds]
        seeds = [plan for plan in plans if np.isin(jobs, plan.placed).all()] or [best]
        best = min([best, *seeds], key=lambda plan: plan.rank)
        queue = waiting_queue(state, now, jobs)
        answered = proven = False
        for seed in [*seeds, None] if self._seeds else seeds:
            known = as_known(usual if seed is None else seed, jobs, now)
            answer = self._solver(queue, known, from_known=seed is not None)
            if answer.plan is not None:
                answered = True
                best = min([best, *_made_of(state, now, usual, jobs, answer.plan)], key=lambda plan: plan.rank)
            if answer.is_proven:
                proven = True
                break
        self.count(is_proven=proven, is_fallback=not answered)
        return best


def _seed_plan(state: State, now: int, order: str) -> RoundPlan:
    """The list plan of the queue in a known order."""
    size = int(state.clock.queued)
    steps.sort_by(state, state.lists["tried"], ORDER_CODES[order], size)
    return plan_tried(state, now, size)


def _made_of(state: State, now: int, usual: RoundPlan, jobs: Ints, plan: QueuePlan) -> list[RoundPlan]:
    """The list plan in the order of an engine's starts, equal ones as submitted; on nodes its own plan too."""
    starts = dict(zip(jobs.tolist(), (now + plan.start_s).tolist(), strict=True))
    order = sorted(usual.order.tolist(), key=lambda job: starts.get(job, NEVER))
    state.lists["tried"][: len(order)] = order
    made = [plan_tried(state, now, len(order))]
    if plan.node_of_unit is not None and state.clock.nodes > 1:
        ends = np.cumsum(state.first["unit"][jobs + 1] - state.first["unit"][jobs])
        pins = dict(zip(jobs.tolist(), np.split(plan.node_of_unit, ends[:-1]), strict=True))
        made.append(plan_tried(state, now, len(order), pins))
    return made


def _left_of(state: State, now: int, usual: RoundPlan, last: RoundPlan | None) -> RoundPlan:
    """What is left of the last round's plan: its jobs in its order on its nodes, then those that came since."""
    if last is None:
        return usual
    place = {job: place for place, job in enumerate(last.placed.tolist())}
    order = sorted(usual.order.tolist(), key=lambda job: place.get(job, len(place)))
    state.lists["tried"][: len(order)] = order
    return plan_tried(state, now, len(order), {job: last.nodes[job] for job in order if job in place})


def start_now(state: State, now: int, jobs: Ints, plan: QueuePlan) -> None:
    """Start the jobs of a solver's plan that start now, on its nodes."""
    assert plan.node_of_unit is not None
    is_now = plan.start_s == 0
    started = jobs[is_now]
    if len(started):
        units = state.first["unit"][jobs + 1] - state.first["unit"][jobs]
        state.units["node"][units_of(state, started)] = plan.node_of_unit[np.repeat(is_now, units)]
    start_planned(state, now, started, np.full(len(started), now))
