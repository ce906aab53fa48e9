"""Rounds in which a solver plans waiting jobs: those of the policy ``cp``, with an engine, and those of a dispatcher.

**An engine** plans the queue; what then starts now is started, the rest is forgotten. The starts that it finds are
sorted, and the list plan of that order is looked at. On a pool no job starts later in it than the engine planned. On
nodes the list plan may choose other nodes and so be worse; then the engine's own plan counts, with every job as early
as it can on its nodes. The engine's search begins with the list plan in submit order, or with what is left of the last
round's plan where that is better; under a policy with a plus it begins with each of the published seeds, and then with
nothing. Of all these plans the best one is carried out, so that a round is never worse than its seeds, whatever the
engine does.

**A dispatcher** plans the first jobs of the queue, by a constraint program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, QueueSolver, WaitingQueue
from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.queue_order import ORDER_CODES
from planner.online.kernel.state import UNPINNED, State
from planner.online.kernel.steps import costs_of, has_choice, note_startable, plan_in_order, start_planned
from planner.online.policies import NODES_AFTERWARDS, OF_2019, EngineCounts, Policy

MOST_JOBS = 100
"""Jobs that a dispatcher plans in one round, at most."""


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """A plan of waiting jobs: jobs in the order of the plan, the start of each, and the nodes of its units.

    ``rank`` is smaller for better plans: jobs without a start first, then the local objective.
    """

    order: Ints
    start_s: Ints
    nodes: dict[int, Ints]
    rank: tuple[int, float]

    @property
    def placed(self) -> Ints:
        """The jobs that have a start: all, unless nodes are down until further notice."""
        return self.order[self.start_s < NEVER]


class PlannedRounds(ABC):
    """Runs the rounds of a replay in Python, and counts how the solver did."""

    def __init__(self) -> None:
        self.counts = EngineCounts()

    def schedule(self, state: State, now: int) -> None:
        """The rounds that are due, as in the kernel's clock, with a plan made for each."""
        if steps.is_due(state, now):
            self.run_round(state, now)
        while steps.is_another_due(state, now):
            self.run_round(state, now)

    @abstractmethod
    def run_round(self, state: State, now: int) -> None:
        """Plan waiting jobs, and start what then starts now."""

    def count(self, *, is_proven: bool, is_fallback: bool) -> None:
        """Count a round in which the solver was asked."""
        counts = self.counts
        self.counts = EngineCounts(counts.rounds + 1, counts.proven + is_proven, counts.fallbacks + is_fallback)


def waiting_queue(state: State, now: int, jobs: Ints) -> WaitingQueue:
    """Some waiting jobs, and the room that the running ones leave, as an engine is given them."""
    groups = [np.arange(state.first["group"][job], state.first["group"][job + 1]) for job in jobs]
    nodes = int(state.clock.nodes)

    def cost(place: Ints, start_s: Ints) -> Floats:
        found = np.zeros(len(place))
        costs_of(state, jobs[place], now + start_s, found)
        return found

    return WaitingQueue(
        length_s=np.maximum(1, state.jobs["estimate"][jobs]),
        power_mw=state.jobs["power"][jobs],
        group_ptr=np.cumsum([0, *(len(each) for each in groups)]),
        group_count=state.group_count[np.concatenate(groups)],
        group_amount=state.group_amount[np.concatenate(groups)],
        nodes=tuple(_free_room(state, now, row) for row in range(nodes)),
        power=_free_room(state, now, nodes) if state.clock.limited else None,
        cost=cost,
    )


def _free_room(state: State, now: int, row: int) -> FreeRoom:
    """What a row of the timelines has free from now on; a drained node may have less than nothing."""
    length = int(state.length[row])
    return FreeRoom(np.maximum(0, state.times[row, :length] - now), np.maximum(0, state.free[row, :length]))


def plan_tried(state: State, now: int, count: int, pins: dict[int, Ints] | None = None) -> RoundPlan:
    """The list plan of so many of the first jobs of the order that the state has on trial, some pinned to nodes."""
    if state.clock.nodes > 1:
        state.pins["tried"][state.first["unit"][state.lists["tried"][:count]]] = UNPINNED
        for job, nodes in (pins or {}).items():
            state.pins["tried"][state.first["unit"][job] : state.first["unit"][job + 1]] = nodes
    start = np.zeros(count, dtype=np.int64)
    plan_in_order(state, now, start)
    return noted(state, start)


def noted(state: State, start: Ints) -> RoundPlan:
    """A plan of the order that the state has on trial, with the nodes that are noted there."""
    order = state.lists["tried"][: len(start)].copy()
    nodes = {
        job: state.units["node"][state.first["unit"][job] : state.first["unit"][job + 1]].copy()
        for job in order.tolist()
    }
    is_placed = start < NEVER
    costs = np.zeros(int(is_placed.sum()))
    costs_of(state, order[is_placed], start[is_placed], costs)
    return RoundPlan(order, start, nodes, (int((~is_placed).sum()), float(costs.sum())))


def carry_out(state: State, now: int, plan: RoundPlan) -> None:
    """Start what a plan starts now, on its nodes."""
    state.units["node"][units_of(state, plan.order)] = np.concatenate([plan.nodes[job] for job in plan.order.tolist()])
    start_planned(state, now, plan.order, plan.start_s)


def units_of(state: State, jobs: Ints) -> Ints:
    """The units of some jobs, job after job."""
    return np.concatenate([np.arange(state.first["unit"][job], state.first["unit"][job + 1]) for job in jobs])


def as_known(plan: RoundPlan, jobs: Ints, now: int) -> QueuePlan:
    """A plan as the engine is given it."""
    starts = dict(zip(plan.order.tolist(), plan.start_s.tolist(), strict=True))
    start_s = np.array([starts[job] - now for job in jobs.tolist()], dtype=np.int64)
    return QueuePlan(start_s, np.concatenate([plan.nodes[job] for job in jobs.tolist()]))


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
