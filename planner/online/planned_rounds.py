"""Rounds in which Python plans waiting jobs: what a plan is, what a solver is given, and how a plan is carried out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.state import UNPINNED, State
from planner.online.kernel.steps import costs_of, plan_in_order, start_planned
from planner.online.search_options import EngineCounts


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
