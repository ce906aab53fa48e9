"""The waiting jobs of a scheduling round as a docplex model: all start together with their units, at the least cost.

An interval per job, as long as its estimate; what runs already holds its room until its expected end. On a pool the
jobs share one room. On nodes, each group of units chooses seats: an optional interval per unit that a node could take.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import docplex.cp.modeler as md
import numpy as np
from docplex.cp.expression import interval_var
from docplex.cp.model import CpoModel

from planner.cp.queue_costs import Line, costs_of
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue, all_together


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
