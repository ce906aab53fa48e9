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

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import QueuePlan, QueueSolver
from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.list_plan import costs_of, has_choice, note_startable, start_planned
from planner.online.kernel.queue_order import ORDER_CODES
from planner.online.kernel.state import State
from planner.online.planned_rounds import (
    PlannedRounds,
    RoundPlan,
    as_known,
    carry_out,
    plan_tried,
    units_of,
    waiting_queue,
)
from planner.online.policies import NODES_AFTERWARDS, OF_2019, Policy


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


MOST_JOBS = 100
"""Jobs that are planned in one round, at most."""


class DispatchRounds(PlannedRounds):
    """Runs the rounds of a replay with a dispatcher."""

    def __init__(self, policy: Policy, solver: QueueSolver) -> None:
        super().__init__()
        self._solver = solver
        self._is_of_2019 = policy.dispatcher in OF_2019
        self._plans_nodes = policy.dispatcher not in NODES_AFTERWARDS
        self._most = MOST_JOBS
        self._before: tuple[int, ...] = ()

    def run_round(self, state: State, now: int) -> None:
        """Plan the jobs of highest priority that could start now, and start those whose planned start is now."""
        startable = self._startable(state, now)
        if len(startable) == 0 or self._is_as_before(state, startable):
            start_planned(state, now, startable[:0], startable[:0])
            return
        count = min(len(startable), self._most)
        state.lists["tried"][:count] = startable[:count]
        usual = plan_tried(state, now, count)
        if self._plans_nodes and np.all(usual.start_s == now):
            self._most = MOST_JOBS
            self.count(is_proven=True, is_fallback=False)
            carry_out(state, now, usual)
            return
        jobs = usual.placed
        answer = self._solver(waiting_queue(state, now, jobs), as_known(usual, jobs, now), from_known=False)
        is_solved = answer.plan is not None and (np.any(answer.plan.start_s == 0) or state.clock.running > 0)
        self.count(is_proven=is_solved and answer.is_proven, is_fallback=not is_solved)
        if answer.plan is not None and is_solved:
            self._most = MOST_JOBS
            _start(state, now, jobs, answer.plan)
        else:
            self._most = max(1, self._most // 2)
            carry_out(state, now, usual)

    def _startable(self, state: State, now: int) -> Ints:
        """The jobs with room now, highest priority first; equal ones as each dispatcher has it, then as submitted."""
        queue = state.queue[: int(state.clock.queued)]
        has_room = np.zeros(len(queue), dtype=np.int64)
        note_startable(state, now, has_room)
        jobs = queue[has_room == 1]
        priority: Floats = np.zeros(len(jobs))
        costs_of(state, jobs, np.full(len(jobs), now), priority)
        length = np.maximum(1, state.jobs["estimate"][jobs])
        area = state.jobs["width"][jobs] * length
        before_area = np.zeros_like(length) if self._is_of_2019 else length
        order: Ints = jobs[np.lexsort((jobs, area, before_area, -priority))]
        return order

    def _is_as_before(self, state: State, startable: Ints) -> bool:
        """Whether a dispatcher of 2019 has seen these jobs already with the same ones running: it skips the round."""
        told = (int(each) for each in (state.clock.started, state.clock.finished, state.clock.changes))
        seen, self._before = self._before, (*told, *sorted(startable.tolist()))
        return self._is_of_2019 and seen == self._before


def _start(state: State, now: int, jobs: Ints, plan: QueuePlan) -> None:
    """Start the jobs of a solver's plan that start now, on its nodes."""
    assert plan.node_of_unit is not None
    is_now = plan.start_s == 0
    started = jobs[is_now]
    if len(started):
        units = state.first["unit"][jobs + 1] - state.first["unit"][jobs]
        state.units["node"][units_of(state, started)] = plan.node_of_unit[np.repeat(is_now, units)]
    start_planned(state, now, started, np.full(len(started), now))
