"""The dispatchers of 2019, for which a CP engine plans the waiting jobs with a time limit that doubles.

HCP'19: the engine plans the starts as if all nodes were one, then best fit gives nodes to what starts now. Where the
pool promised more than the nodes can hold, a job is passed over until the next dispatch; nothing is solved again.

PCP'19: the engine chooses starts and nodes at once, with an optional interval per unit and node. The model is that of
`planner.cp.queue_model`: an alternative per group of equal units, a cumulative per node and resource. Equal units share
their intervals, so that they need no order of their own. It grows with the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cp.dispatch.pcp21 import RoomTable, climb
from planner.cp.engines.engine import Engine
from planner.cp.queue_model import MOST_SEATS, QueueModel, as_one_node, ask_engine, seat_count
from planner.domain.columns import Ints
from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue
from planner.errors import SolverError


def plan_by_engine(
    engine: Engine, queue: WaitingQueue, known: QueuePlan, *, time_limit_s: float, seed: int
) -> QueueAnswer:
    """The best plan that an engine finds; it begins with nothing, and after each limit with its own last plan.

    An engine that dies, or for which the model is too large, finds nothing. The known plan says how late the last start
    can be, no more.
    """
    model = QueueModel(queue, known)
    if not engine.fits(model.cpo):
        return NOTHING_FOUND

    def ask(factor: int) -> QueueAnswer:
        answer = ask_engine(engine, model, time_limit_s * factor, seed)
        if answer.plan is not None:
            model.start_from(answer.plan)
        return answer

    try:
        return climb(queue, ask)
    except SolverError:
        return NOTHING_FOUND


LATER = 1
"""The start of a job that the pool starts now and for which no nodes were found: not now [s]."""

NO_NODE = -1


@dataclass(frozen=True)
class Hcp19:
    """Plans queues as HCP'19 does. Nothing is proven, since a pool is not the machine."""

    engine: Engine
    time_limit_s: float
    seed: int = 0

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool = False) -> QueueAnswer:
        """Starts on the pool; nodes for the jobs that start now, -1 for all others."""
        starts = known.start_s
        if np.any(starts > 0):
            limit_s, seed = self.time_limit_s, self.seed
            pooled = plan_by_engine(self.engine, as_one_node(queue), known, time_limit_s=limit_s, seed=seed)
            if pooled.plan is None:
                return NOTHING_FOUND
            starts = pooled.plan.start_s
        return QueueAnswer(with_nodes(queue, starts))


def with_nodes(queue: WaitingQueue, start_s: Ints) -> QueuePlan:
    """Best fit for the jobs that start now, in the order of the queue.

    For each job the nodes are put in order of what they have free, the sum over all resources, fullest first; every
    unit takes the first node with room. A job of which a unit finds none does not start.
    """
    table = RoomTable.of(queue.nodes)
    starts = start_s.copy()
    nodes = np.full(int(queue.group_count.sum()), NO_NODE, dtype=np.int64)
    taken = np.zeros_like(table.free[:, 0])
    unit = 0
    for job in range(len(queue)):
        groups = queue.groups_of(job)
        units = np.repeat(np.arange(groups.start, groups.stop), queue.group_count[groups.start : groups.stop])
        if starts[job] == 0:
            free = table.least_until(int(queue.length_s[job])) - taken
            order = np.argsort((table.free[:, 0] - taken).sum(axis=1), kind="stable")
            chosen = _fill(free, queue.group_amount[units], order)
            if chosen is None:
                starts[job] = LATER
            else:
                nodes[unit : unit + len(units)] = chosen
                np.add.at(taken, chosen, queue.group_amount[units])
        unit += len(units)
    return QueuePlan(starts, nodes)


def _fill(free: Ints, amounts: Ints, order: Ints) -> Ints | None:
    """A node for each unit: the first in the order that has room; None when a unit finds none."""
    chosen = np.zeros(len(amounts), dtype=np.int64)
    for unit, amount in enumerate(amounts):
        place = int(np.argmax(np.all(free[order] >= amount, axis=1)))
        chosen[unit] = order[place]
        free[chosen[unit]] -= amount
        if np.any(free[chosen[unit]] < 0):
            return None
    return chosen


@dataclass(frozen=True)
class Pcp19:
    """Plans queues as PCP'19 does; a queue with too many choices of nodes counts as not solved."""

    engine: Engine
    time_limit_s: float
    seed: int = 0

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool = False) -> QueueAnswer:
        """Starts and nodes of all jobs."""
        if seat_count(queue) > MOST_SEATS:
            return NOTHING_FOUND
        return plan_by_engine(self.engine, queue, known, time_limit_s=self.time_limit_s, seed=self.seed)
