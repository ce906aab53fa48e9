"""The rounds of the policy ``cp``: an engine plans the queue, what then starts now is started, the rest is forgotten.

The starts that the engine finds are sorted, and the list plan of that order is looked at. On a pool no job starts later
in it than the engine planned. On nodes the list plan may choose other nodes and so be worse; then the engine's own plan
counts, with every job as early as it can on its nodes. The engine's search begins with the list plan in submit order,
or with what is left of the last round's plan where that is better; under a policy with a plus it begins with each of
the published seeds, and then with nothing. Of all these plans the best one is carried out, so that a round is never
worse than its seeds, whatever the engine does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, QueueSolver, WaitingQueue
from planner.machine.timeline import NEVER
from planner.online.engine_counts import EngineCounts
from planner.online.kernel import steps
from planner.online.kernel.list_plan import costs_of, has_choice, plan_in_order, start_planned
from planner.online.kernel.queue_order import ORDER_CODES
from planner.online.kernel.state import (
    ESTIMATE,
    GROUPS,
    LIMITED,
    NODE,
    NODES,
    POWER,
    QUEUED,
    TRIED_ORDER,
    TRIED_PIN,
    UNITS,
    UNPINNED,
    State,
)
from planner.online.policies import Policy


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """A plan of the whole queue: jobs in the order of the plan, the start of each, and the nodes of its units.

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


class EngineRounds:
    """Runs the rounds of a replay with an engine, and counts how it did."""

    def __init__(self, policy: Policy, solver: QueueSolver) -> None:
        assert policy.objective is not None
        self._solver = solver
        self._seeds = policy.objective.seeds if policy.plus else ()
        self._last: RoundPlan | None = None
        self.counts = EngineCounts()

    def schedule(self, state: State, now: int) -> None:
        """The rounds that are due, as in the kernel's clock, with the queue put in order before each."""
        if steps.is_due(state, now):
            self._run_round(state, now)
        while steps.is_another_due(state, now):
            self._run_round(state, now)

    def _run_round(self, state: State, now: int) -> None:
        if has_choice(state, now):
            self._last = self._best_plan(state, now)
            _carry_out(state, now, self._last)
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
            known = _as_known(usual if seed is None else seed, jobs, now)
            answer = self._solver(queue, known, from_known=seed is not None)
            if answer.plan is not None:
                answered = True
                best = min([best, *_made_of(state, now, usual, jobs, answer.plan)], key=lambda plan: plan.rank)
            if answer.is_proven:
                proven = True
                break
        counts = self.counts
        self.counts = EngineCounts(counts.rounds + 1, counts.proven + proven, counts.fallbacks + (not answered))
        return best


def waiting_queue(state: State, now: int, jobs: Ints) -> WaitingQueue:
    """Some waiting jobs, and the room that the running ones leave, as an engine is given them."""
    groups = [np.arange(state.ptr[GROUPS, job], state.ptr[GROUPS, job + 1]) for job in jobs]
    nodes = int(state.clock[NODES])

    def cost(place: Ints, start_s: Ints) -> Floats:
        found = np.zeros(len(place))
        costs_of(state, jobs[place], now + start_s, found)
        return found

    return WaitingQueue(
        length_s=np.maximum(1, state.job[ESTIMATE, jobs]),
        power_mw=state.job[POWER, jobs],
        group_ptr=np.cumsum([0, *(len(each) for each in groups)]),
        group_count=state.group_count[np.concatenate(groups)],
        group_amount=state.group_amount[np.concatenate(groups)],
        nodes=tuple(_free_room(state, now, row) for row in range(nodes)),
        power=_free_room(state, now, nodes) if state.clock[LIMITED] else None,
        cost=cost,
    )


def _free_room(state: State, now: int, row: int) -> FreeRoom:
    """What a row of the timelines has free from now on; a drained node may have less than nothing."""
    length = int(state.length[row])
    return FreeRoom(np.maximum(0, state.times[row, :length] - now), np.maximum(0, state.free[row, :length]))


def _seed_plan(state: State, now: int, order: str) -> RoundPlan:
    """The list plan of the queue in a known order."""
    steps.sort_by(state, TRIED_ORDER, ORDER_CODES[order])
    return _plan_tried(state, now)


def _made_of(state: State, now: int, usual: RoundPlan, jobs: Ints, plan: QueuePlan) -> list[RoundPlan]:
    """The list plan in the order of an engine's starts, equal ones as submitted; on nodes its own plan too."""
    starts = dict(zip(jobs.tolist(), (now + plan.start_s).tolist(), strict=True))
    order = sorted(usual.order.tolist(), key=lambda job: starts.get(job, NEVER))
    state.job[TRIED_ORDER, : len(order)] = order
    made = [_plan_tried(state, now)]
    if plan.node_of_unit is not None and state.clock[NODES] > 1:
        ends = np.cumsum(state.ptr[UNITS, jobs + 1] - state.ptr[UNITS, jobs])
        pins = dict(zip(jobs.tolist(), np.split(plan.node_of_unit, ends[:-1]), strict=True))
        made.append(_plan_tried(state, now, pins))
    return made


def _left_of(state: State, now: int, usual: RoundPlan, last: RoundPlan | None) -> RoundPlan:
    """What is left of the last round's plan: its jobs in its order on its nodes, then those that came since."""
    if last is None:
        return usual
    place = {job: place for place, job in enumerate(last.placed.tolist())}
    order = sorted(usual.order.tolist(), key=lambda job: place.get(job, len(place)))
    state.job[TRIED_ORDER, : len(order)] = order
    return _plan_tried(state, now, {job: last.nodes[job] for job in order if job in place})


def _plan_tried(state: State, now: int, pins: dict[int, Ints] | None = None) -> RoundPlan:
    """The list plan of the order that the state has on trial, with some jobs pinned to nodes."""
    if state.clock[NODES] > 1:
        state.unit[TRIED_PIN, state.ptr[UNITS, state.job[TRIED_ORDER, : state.clock[QUEUED]]]] = UNPINNED
        for job, nodes in (pins or {}).items():
            state.unit[TRIED_PIN, state.ptr[UNITS, job] : state.ptr[UNITS, job + 1]] = nodes
    start = np.zeros(int(state.clock[QUEUED]), dtype=np.int64)
    plan_in_order(state, now, start)
    return _noted(state, start)


def _noted(state: State, start: Ints) -> RoundPlan:
    """A plan of the order that the state has on trial, with the nodes that are noted there."""
    order = state.job[TRIED_ORDER, : len(start)].copy()
    nodes = {job: state.unit[NODE, state.ptr[UNITS, job] : state.ptr[UNITS, job + 1]].copy() for job in order.tolist()}
    is_placed = start < NEVER
    costs = np.zeros(int(is_placed.sum()))
    costs_of(state, order[is_placed], start[is_placed], costs)
    return RoundPlan(order, start, nodes, (int((~is_placed).sum()), float(costs.sum())))


def _carry_out(state: State, now: int, plan: RoundPlan) -> None:
    """Start what a plan starts now, on its nodes."""
    state.unit[NODE, _units_of(state, plan.order)] = np.concatenate([plan.nodes[job] for job in plan.order.tolist()])
    start_planned(state, now, plan.order, plan.start_s)


def _units_of(state: State, jobs: Ints) -> Ints:
    """The units of some jobs, job after job."""
    return np.concatenate([np.arange(state.ptr[UNITS, job], state.ptr[UNITS, job + 1]) for job in jobs])


def _as_known(plan: RoundPlan, jobs: Ints, now: int) -> QueuePlan:
    """A plan as the engine is given it."""
    starts = dict(zip(plan.order.tolist(), plan.start_s.tolist(), strict=True))
    start_s = np.array([starts[job] - now for job in jobs.tolist()], dtype=np.int64)
    return QueuePlan(start_s, np.concatenate([plan.nodes[job] for job in jobs.tolist()]))
