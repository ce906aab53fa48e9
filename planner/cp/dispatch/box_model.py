"""The model of PCP'21 in CP-SAT: boxes of time and positions that do not overlap.

For each resource the positions of all nodes form one line, in the order of the nodes, with the same stride for each. A
unit of a job is a box on the line of every resource that it asks for: as long as the job, as wide as the amount. What
runs, and what a smaller node lacks, is a box at the upper end of its node, so that the free positions of a node are
neighbours. Written for CP-SAT directly: docplex has no rule for boxes in two dimensions, nor has CP Optimizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from planner.cp.queue_costs import costs_of
from planner.domain.columns import Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue, all_together


@dataclass(frozen=True)
class Unit:
    """One unit: its job, group and node, and its first position on the line of each resource that it asks for."""

    job: int
    group: int
    node: Any
    position: dict[int, Any]


class BoxModel:
    """A queue as a CP-SAT model.

    Plans that cost more than all jobs one after another, when those of the known plan have ended, are left out. The
    known plan itself may not be one of boxes.
    """

    def __init__(self, queue: WaitingQueue, known: QueuePlan) -> None:
        self.sat = cp_model.CpModel()
        self._queue = queue
        last_s = int((known.start_s + queue.length_s).max())
        self._costs = costs_of(queue, last_s + np.cumsum([0, *queue.length_s[:-1]]))
        self._step = _common_steps(queue)
        self._amount = queue.group_amount // self._step
        self._rooms = [FreeRoom(room.moment_s, room.free // self._step) for room in queue.nodes]
        self._stride = np.max([room.most for room in self._rooms], axis=0)
        self._start = [
            self.sat.new_int_var(0, latest_s, f"start{job}") for job, latest_s in enumerate(self._costs.latest_s)
        ]
        self._span = [
            self.sat.new_fixed_size_interval_var(start, int(length_s), f"job{job}")
            for job, (start, length_s) in enumerate(zip(self._start, queue.length_s, strict=True))
        ]
        self._end_s = max(latest_s + int(s) for latest_s, s in zip(self._costs.latest_s, queue.length_s, strict=True))
        self._units = [unit for job in range(len(queue)) for unit in self._units_of(job)]

    def add_all(self) -> BoxModel:
        """State all rules, the objective and the order of branching."""
        self._units_lie_in_one_node()
        self._boxes_do_not_overlap()
        self._equal_units_are_in_order()
        self._the_machine_is_not_overfilled()
        self._power_stays_within_the_limit()
        self._slowdown_is_least()
        self._branch_on_starts_then_positions()
        return self

    def plan(self, solver: cp_model.CpSolver) -> QueuePlan:
        """The plan of a solution."""
        starts = [solver.value(start) for start in self._start]
        nodes = [solver.value(unit.node) for unit in self._units]
        return QueuePlan(np.array(starts, dtype=np.int64), np.array(nodes, dtype=np.int64))

    def _units_of(self, job: int) -> list[Unit]:
        made = []
        for group in self._queue.groups_of(job):
            amount = self._amount[group]
            nodes = [node for node, room in enumerate(self._rooms) if np.all(room.most >= amount)]
            domain = cp_model.Domain.from_values(nodes)
            for number in range(int(self._queue.group_count[group])):
                name = f"{job}_{group}_{number}"
                node = self.sat.new_int_var_from_domain(domain, f"node{name}")
                position = {
                    resource: self.sat.new_int_var(
                        0, int(self._stride[resource] * len(self._rooms) - amount[resource]), f"y{name}_{resource}"
                    )
                    for resource in np.flatnonzero(amount).tolist()
                }
                made.append(Unit(job, group, node, position))
        return made

    def _units_lie_in_one_node(self) -> None:
        """All positions of a unit lie in one node, the same for every resource: stride x node + an offset."""
        for unit in self._units:
            for resource, position in unit.position.items():
                stride = int(self._stride[resource])
                offset = position - stride * unit.node
                self.sat.add_linear_constraint(offset, 0, stride - int(self._amount[unit.group, resource]))

    def _boxes_do_not_overlap(self) -> None:
        """On the line of a resource no two boxes share a position at any second, those of what runs included."""
        for resource in range(len(self._stride)):
            spans, widths = [], []
            for unit in self._units:
                if resource in unit.position:
                    width = int(self._amount[unit.group, resource])
                    spans.append(self._span[unit.job])
                    widths.append(self.sat.new_fixed_size_interval_var(unit.position[resource], width, ""))
            if spans:
                for node, room in enumerate(self._rooms):
                    for start_s, end_s, left in self._stretches(room, resource, int(self._stride[resource])):
                        first, last = (int(self._stride[resource]) * (node + k) for k in (0, 1))
                        spans.append(self.sat.new_fixed_size_interval_var(start_s, end_s - start_s, ""))
                        widths.append(self.sat.new_fixed_size_interval_var(first + left, last - first - left, ""))
                self.sat.add_no_overlap_2d(spans, widths)

    def _equal_units_are_in_order(self) -> None:
        """Of equal units of a job, each lies behind the one before it."""
        for before, after in pairwise(self._units):
            if before.group == after.group:
                for resource, position in before.position.items():
                    width = int(self._amount[before.group, resource])
                    self.sat.add(position + width <= after.position[resource])

    def _the_machine_is_not_overfilled(self) -> None:
        """All jobs together stay within what all nodes have of each resource: implied by the boxes, a help."""
        units = self._queue.group_count[:, None] * self._amount
        amounts = np.add.reduceat(units, self._queue.group_ptr[:-1])
        room = all_together(self._rooms)
        for resource in range(len(self._stride)):
            self._stay_within(amounts[:, resource], room, resource)

    def _power_stays_within_the_limit(self) -> None:
        """At every second, the power of all jobs stays within what the site has left."""
        if self._queue.power is not None:
            self._stay_within(self._queue.power_mw, self._queue.power, 0)

    def _stay_within(self, amounts: Ints, room: FreeRoom, resource: int) -> None:
        most = int(room.most[resource])
        if amounts.sum() <= room.free[:, resource].min():
            return
        spans, heights = list(self._span), amounts.tolist()
        for start_s, end_s, left in self._stretches(room, resource, most):
            spans.append(self.sat.new_fixed_size_interval_var(start_s, end_s - start_s, ""))
            heights.append(most - left)
        self.sat.add_cumulative(spans, heights, most)

    def _slowdown_is_least(self) -> None:
        """The total slowdown is the least: every start counts by the slope of its job's cost."""
        for lines in self._costs.lines:
            assert len(lines) == 1, "dispatchers plan for a cost that is straight in the start"
        slopes = [lines[0][0] for lines in self._costs.lines]
        self.sat.minimize(cp_model.LinearExpr.weighted_sum(self._start, slopes))

    def _branch_on_starts_then_positions(self) -> None:
        """The job that can start first starts at once; then the lowest positions, of the scarcest resource first."""
        order, least = cp_model.CHOOSE_LOWEST_MIN, cp_model.SELECT_MIN_VALUE
        self.sat.add_decision_strategy(self._start, order, least)
        for resource in scarcest_first(self._queue):
            lines = [unit.position[resource] for unit in self._units if resource in unit.position]
            if lines:
                self.sat.add_decision_strategy(lines, order, least)

    def _stretches(self, room: FreeRoom, resource: int, most: int) -> list[tuple[int, int, int]]:
        """Start, end and what is left of each stretch in which a room has less than the most."""
        ends_s = [*room.moment_s[1:].tolist(), self._end_s]
        every = zip(room.moment_s.tolist(), ends_s, room.free[:, resource].tolist(), strict=True)
        return [(start_s, min(end_s, self._end_s), left) for start_s, end_s, left in every
                if left < most and start_s < min(end_s, self._end_s)]  # fmt: skip


def scarcest_first(queue: WaitingQueue) -> list[int]:
    """The resources in order of how much the queue asks of them, as a part of what the machine has."""
    asked = (queue.group_count[:, None] * queue.group_amount).sum(axis=0)
    most = np.maximum(1, all_together(queue.nodes).most)
    return [int(each) for each in np.argsort(-asked / most, kind="stable")]


def _common_steps(queue: WaitingQueue) -> Ints:
    """The largest step per resource of which all amounts are multiples: positions count in these."""
    steps = np.gcd.reduce(queue.group_amount, axis=0)
    return np.where(steps > 0, steps, 1)
