"""PCP'21 and PCP'21s by a search of our own, which branches as published and needs no engine.

CP-SAT does not take a CP solver's rule of branching, and CP Optimizer has no boxes in two dimensions; hence a search on
the timelines of the nodes (`planner.cp.dispatch.kernel.search`). Its limit is a number of steps, so that the same queue
always has the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cp.dispatch.kernel import tables as places
from planner.cp.dispatch.kernel.search import search
from planner.cp.dispatch.ladder import climb
from planner.cp.dispatch.room_table import RoomTable
from planner.domain.columns import Ints
from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue

FAR_S = 1_000_000
"""The rate of a cost is taken from now to this second: costs are straight in the start [s]."""


@dataclass(frozen=True)
class Pcp21:
    """Plans queues with the published branching, in at most ``steps`` steps at first.

    With ``starts_first`` (PCP'21s) it goes back to starts alone, and only when all of these are tried to nodes as well.
    """

    steps: int
    starts_first: bool = False

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool = False) -> QueueAnswer:
        """Starts and nodes of all jobs, in order of priority; proven where everything has been tried."""
        tables = tables_of(queue)
        phases = [False, True] if self.starts_first else [True]

        def ask(factor: int) -> QueueAnswer:
            until = int(tables.counter[places.STEPS]) + self.steps * factor
            while phases and search(tables, until - int(tables.counter[places.STEPS]), phases[0]):
                phases.pop(0)
                tables.counter[places.LEVEL] = 0
                tables.earliest[0] = tables.moment[0] = 0
                tables.chosen[0] = -1
            if not tables.counter[places.SOLUTIONS]:
                return NOTHING_FOUND
            plan = QueuePlan(tables.job[places.BEST_START].copy(), tables.unit[places.BEST_NODE].copy())
            return QueueAnswer(plan, is_proven=not phases and not tables.counter[places.IS_CUT])

        return climb(queue, ask)


def tables_of(queue: WaitingQueue) -> places.Tables:
    """A search of a queue before its first step."""
    jobs, nodes, units = len(queue), len(queue.nodes), int(queue.group_count.sum())
    rooms = queue.nodes if queue.power is None else (*queue.nodes, queue.power)
    room = RoomTable.of(rooms, spare=2 * jobs + 8)
    capacity = np.ascontiguousarray(room.free[:nodes].max(axis=1))
    job = np.zeros((5, jobs), dtype=np.int64)
    job[places.LENGTH], job[places.POWER] = queue.length_s, queue.power_mw
    unit = np.zeros((3, units), dtype=np.int64)
    unit[places.GROUP] = np.repeat(np.arange(len(queue.group_count)), queue.group_count)
    every = np.arange(jobs)
    at_once = queue.cost(every, np.zeros(jobs, dtype=np.int64))
    later = queue.cost(every, np.full(jobs, FAR_S))
    chosen = np.full(jobs + 1, -1, dtype=np.int64)
    return places.Tables(
        job=job,
        cost=np.array([at_once, (later - at_once) / FAR_S]),
        group_ptr=queue.group_ptr,
        group_count=queue.group_count,
        group_amount=queue.group_amount,
        unit_ptr=np.concatenate([[0], np.cumsum(queue.group_count)])[queue.group_ptr],
        unit=unit,
        times=room.moment_s,
        free=room.free,
        length=room.length,
        capacity=capacity,
        most=np.ascontiguousarray(capacity[:, 0]),
        earliest=np.zeros((jobs + 1, jobs), dtype=np.int64),
        moment=np.zeros(jobs + 1, dtype=np.int64),
        chosen=chosen,
        spent=np.zeros(jobs + 1),
        known=np.zeros(nodes, dtype=np.int64),
        ready=np.zeros(max(nodes, _most_at_once(queue, capacity)), dtype=np.int64),
        least=np.zeros((nodes, capacity.shape[1]), dtype=np.int64),
        watts=np.zeros(1, dtype=np.int64),
        counter=np.zeros(places.COUNTERS, dtype=np.int64),
        best=np.full(1, np.inf),
    )


def _most_at_once(queue: WaitingQueue, capacity: Ints) -> int:
    """The most units of one group that the nodes ever take at once."""
    most = 1
    for amount, count in zip(queue.group_amount, queue.group_count.tolist(), strict=True):
        copies = np.min(capacity[:, amount > 0] // amount[amount > 0], axis=1)
        most = max(most, int(np.minimum(copies, count).sum()))
    return most
