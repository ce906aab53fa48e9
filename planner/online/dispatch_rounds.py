"""Rounds of a dispatcher: the first jobs of the queue, planned by a constraint program."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import QueueSolver
from planner.online.engine_rounds import start_now
from planner.online.kernel.state import State
from planner.online.kernel.steps import costs_of, note_startable, start_planned
from planner.online.planned_rounds import (
    PlannedRounds,
    as_known,
    carry_out,
    plan_tried,
    waiting_queue,
)
from planner.online.policies import NODES_AFTERWARDS, OF_2019, Policy

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
            start_now(state, now, jobs, answer.plan)
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
