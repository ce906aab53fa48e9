"""The waiting jobs of a scheduling round as a docplex model, and an engine that plans them within a time limit.

An interval per job, as long as its estimate; what runs already holds its room until its expected end. On a pool the
jobs share one room. On nodes, each group of units chooses seats: an optional interval per unit that a node could take.

Every local objective is a sum over jobs of a cost that rises with the start at a rate that never falls. Such a cost is
the largest of the lines between its neighbouring points. A straight cost is one line. A curved one, as of P2SF, is cut
into stretches in which the line is nowhere more than PRECISION above the cost. All is counted in a unit that makes the
cost of a known plan at most 2^42, so that whole numbers change it by far less than that, and the sums of a thousand
jobs stay below the 2^53 up to which CP Optimizer is exact.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import docplex.cp.modeler as md
import numpy as np
from docplex.cp.expression import interval_var
from docplex.cp.model import CpoModel

from planner.cp.engines.engine import Engine
from planner.domain.columns import Ints
from planner.domain.waiting_queue import NOTHING_FOUND, FreeRoom, QueueAnswer, QueuePlan, WaitingQueue, all_together
from planner.errors import SolverError

PRECISION = 0.002
"""How far a line may be above the cost that it stands for, as a part of that cost."""

COST_BITS = 42
"""A known plan costs at most 2 to this power."""

ROUNDING = 1e-9
"""What sums of costs may be wrong by, as a part of them."""

Line = tuple[int, int]
"""What a cost rises by in a second, and its value at second 0."""


@dataclass(frozen=True)
class Costs:
    """The latest start of each job that can be part of a better plan [s from now], and the lines of its cost."""

    latest_s: tuple[int, ...]
    lines: tuple[tuple[Line, ...], ...]


def costs_of(queue: WaitingQueue, known_s: Ints) -> Costs:
    """The costs of a queue, as far as plans are no worse than a known one."""
    latest_s = _latest_starts(queue, known_s)
    worst = float(queue.cost(np.arange(len(queue)), known_s).sum())
    unit = 2.0 ** (math.ceil(math.log2(worst)) - COST_BITS)
    lines = [_lines(queue, job, int(latest), unit) for job, latest in enumerate(latest_s)]
    return Costs(tuple(latest_s.tolist()), tuple(lines))


def _latest_starts(queue: WaitingQueue, known_s: Ints) -> Ints:
    """The latest start of each job that leaves a plan no worse than the known one, if all others started now.

    A plan in which nobody waits for nothing has started all jobs when what changes has changed and all others are done.
    """
    jobs = np.arange(len(queue))
    least = queue.cost(jobs, np.zeros_like(known_s))
    most = least + float((queue.cost(jobs, known_s) - least).sum()) * (1 + ROUNDING)
    low, high = known_s.copy(), np.maximum(known_s, queue.last_change_s + int(queue.length_s.sum()))
    while np.any(low < high):
        middle = (low + high + 1) // 2
        is_possible = queue.cost(jobs, middle) <= most
        low, high = np.where(is_possible, middle, low), np.where(is_possible, high, middle - 1)
    return low


def _lines(queue: WaitingQueue, job: int, latest_s: int, unit: float) -> tuple[Line, ...]:
    """The cost of a job from now until its latest start."""
    start_s = np.unique([0, latest_s])
    while True:
        middle = np.unique((start_s[:-1] + start_s[1:]) // 2)
        between = np.interp(middle, start_s, _cost(queue, job, start_s))
        cost = _cost(queue, job, middle)
        more = np.setdiff1d(middle[between - cost > PRECISION * cost], start_s)
        if len(more) == 0:
            break
        start_s = np.union1d(start_s, more)
    points = list(zip(start_s.tolist(), (_cost(queue, job, start_s) / unit).tolist(), strict=True))
    if len(points) == 1:
        return ((0, round(points[0][1])),)
    lines = []
    for (before, low), (after, high) in pairwise(points):
        slope = round((high - low) / (after - before))
        lines.append((slope, round(low) - slope * before))
    return tuple(dict.fromkeys(lines))


def _cost(queue: WaitingQueue, job: int, start_s: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return queue.cost(np.full(len(start_s), job), start_s)


@dataclass(frozen=True)
class Seat:
    """While ``interval`` is present a unit of a group runs on a node; ``copy`` counts the seats of a group there."""

    interval: Any
    group: int
    node: int
    copy: int


class QueueModel:
    """A queue as a docplex model; plans that are worse than the known one may be left out."""

    def __init__(self, queue: WaitingQueue, known: QueuePlan) -> None:
        self._queue = queue
        self.cpo = CpoModel(name="queue")
        costs = costs_of(queue, known.start_s)
        self._end_s = max(int(s + length) for s, length in zip(costs.latest_s, queue.length_s, strict=True))
        self._jobs = [
            interval_var(start=(0, latest_s), size=int(queue.length_s[job]), name=f"job{job}")
            for job, latest_s in enumerate(costs.latest_s)
        ]
        self._seats: list[list[Seat]] = [self._choose_seats(job) for job in range(len(queue))]
        self._the_machine_is_not_overfilled()
        self._nodes_are_not_overfilled()
        self._power_stays_within_the_limit()
        starts = [md.start_of(interval) for interval in self._jobs]
        each = [_largest(start, lines) for start, lines in zip(starts, costs.lines, strict=True)]
        self.cpo.add(md.minimize(md.sum(each)))

    def start_from(self, plan: QueuePlan) -> None:
        """Give the engine a plan to begin with, which has nodes."""
        assert plan.node_of_unit is not None
        point = self.cpo.create_empty_solution()
        unit = 0
        for job, interval in enumerate(self._jobs):
            start = int(plan.start_s[job])
            point.add_interval_var_solution(interval, presence=True, start=start)
            taken: Counter[tuple[int, int]] = Counter()
            for group in self._queue.groups_of(job):
                count = int(self._queue.group_count[group])
                taken.update((group, int(node)) for node in plan.node_of_unit[unit : unit + count])
                unit += count
            for seat in self._seats[job]:
                if seat.copy < taken[seat.group, seat.node]:
                    point.add_interval_var_solution(seat.interval, presence=True, start=start)
                else:
                    point.add_interval_var_solution(seat.interval, presence=False)
        self.cpo.set_starting_point(point)

    def plan(self, solution: Any) -> QueuePlan:
        """The plan of a solution."""
        starts = [solution.get_var_solution(interval).get_start() for interval in self._jobs]
        nodes = [0] * int(self._queue.group_count.sum())
        if len(self._queue.nodes) > 1:
            taken = (seat for of_job in self._seats for seat in of_job)
            nodes = [seat.node for seat in taken if solution.get_var_solution(seat.interval).is_present()]
        return QueuePlan(np.array(starts, dtype=np.int64), np.array(nodes, dtype=np.int64))

    def _choose_seats(self, job: int) -> list[Seat]:
        """While a job runs, as many seats of each of its groups are taken as the group has units.

        A second seat on a node is taken only with the first: equal units need no order of their own.
        """
        seats: list[Seat] = []
        if len(self._queue.nodes) == 1:
            return seats
        for group in self._queue.groups_of(job):
            offered = []
            for node, room in enumerate(self._queue.nodes):
                for copy in range(copies_on(self._queue, group, room)):
                    name = f"job{job}_group{group}_node{node}_{copy}"
                    interval = interval_var(size=int(self._queue.length_s[job]), optional=True, name=name)
                    offered.append(Seat(interval, group, node, copy))
            count = int(self._queue.group_count[group])
            self.cpo.add(md.alternative(self._jobs[job], [seat.interval for seat in offered], count))
            for before, after in pairwise(offered):
                if before.node == after.node:
                    self.cpo.add(md.presence_of(after.interval) <= md.presence_of(before.interval))
            seats += offered
        return seats

    def _nodes_are_not_overfilled(self) -> None:
        """On every node, at every second, each resource is used within what it has."""
        for node, room in enumerate(self._queue.nodes):
            seats = [seat for of_job in self._seats for seat in of_job if seat.node == node]
            for resource in range(room.free.shape[1]):
                asked = [(seat.interval, int(self._queue.group_amount[seat.group, resource])) for seat in seats]
                self._stay_within(asked, room, resource)

    def _the_machine_is_not_overfilled(self) -> None:
        """All jobs together stay within what all nodes have: a pool's only rule, and on nodes a help for the engine."""
        units = self._queue.group_count[:, None] * self._queue.group_amount
        amounts = np.add.reduceat(units, self._queue.group_ptr[:-1])
        room = all_together(self._queue.nodes)
        for resource in range(room.free.shape[1]):
            self._stay_within(list(zip(self._jobs, amounts[:, resource].tolist(), strict=True)), room, resource)

    def _power_stays_within_the_limit(self) -> None:
        """At every second, the power of all jobs stays within what the site has left."""
        if self._queue.power is not None:
            asked = list(zip(self._jobs, self._queue.power_mw.tolist(), strict=True))
            self._stay_within(asked, self._queue.power, 0)

    def _stay_within(self, asked: list[tuple[Any, int]], room: FreeRoom, resource: int) -> None:
        free, most = room.free[:, resource], int(room.most[resource])
        if sum(amount for _, amount in asked) <= free.min():
            return
        pulses = [md.pulse(interval, amount) for interval, amount in asked if amount > 0]
        ends_s = [*room.moment_s[1:].tolist(), self._end_s]
        for start_s, end_s, left in zip(room.moment_s.tolist(), ends_s, free.tolist(), strict=True):
            if left < most and start_s < end_s:
                pulses.append(md.pulse((start_s, end_s), most - left))
        self.cpo.add((md.sum(pulses) if len(pulses) > 1 else pulses[0]) <= most)


def copies_on(queue: WaitingQueue, group: int, room: FreeRoom) -> int:
    """How many units of a group a node can take when most of it is free."""
    amount = queue.group_amount[group]
    return min(int(queue.group_count[group]), int(np.min(room.most[amount > 0] // amount[amount > 0])))


def _largest(start: Any, lines: tuple[Line, ...]) -> Any:
    """The largest of some lines at a start."""
    values = [start * slope + offset for slope, offset in lines]
    return values[0] if len(values) == 1 else md.max(values)


SEATS_PER_S = 1_000
"""With more choices of nodes than this per second of the time limit, the engine plans as if all nodes were one.

A model of a thousand choices takes some 0.1 s to make in docplex alone. The time limit does not bound that; this does.
"""

MOST_SEATS = 20_000
"""The same, however long the time limit is."""


@dataclass(frozen=True)
class EngineSolver:
    """Plans queues with an engine.

    When it finds nothing within the time limit, it gets twice the time once more, as published. An engine that dies, or
    for which the queue is too large, finds nothing.
    """

    engine: Engine
    time_limit_s: float
    seed: int = 0

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        """Look for a better plan than a known one."""
        is_exact = seat_count(queue) <= min(MOST_SEATS, SEATS_PER_S * self.time_limit_s)
        model = QueueModel(queue if is_exact else as_one_node(queue), known)
        if from_known:
            model.start_from(known)
        if not self.engine.fits(model.cpo):
            return NOTHING_FOUND
        try:
            for limit_s in (self.time_limit_s, 2 * self.time_limit_s):
                answer = ask_engine(self.engine, model, limit_s, self.seed)
                if answer.plan is not None:
                    return answer if is_exact else QueueAnswer(replace(answer.plan, node_of_unit=None))
        except SolverError:
            return NOTHING_FOUND
        return NOTHING_FOUND


def ask_engine(engine: Engine, model: QueueModel, time_limit_s: float, seed: int) -> QueueAnswer:
    """What an engine finds for a model within a time limit; SolverError if it dies."""
    answer = engine.solve(model.cpo, time_limit_s=time_limit_s, seed=seed)
    if answer.interrupted:
        raise KeyboardInterrupt
    if answer.solution is None:
        return NOTHING_FOUND
    return QueueAnswer(model.plan(answer.solution), is_proven=answer.status == "optimal")


def seat_count(queue: WaitingQueue) -> int:
    """Choices of nodes that a model of the queue has; none on a pool."""
    if len(queue.nodes) == 1:
        return 0
    return sum(copies_on(queue, group, room) for group in range(len(queue.group_count)) for room in queue.nodes)


def as_one_node(queue: WaitingQueue) -> WaitingQueue:
    """The queue on one node with the room of all: the order of its starts says something of the real one, no more."""
    return replace(queue, nodes=(all_together(queue.nodes),))
