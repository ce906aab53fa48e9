"""PCP'19: a CP engine chooses starts and nodes at once, with an optional interval per unit and node.

The model is that of `planner.cp.queue_model`: an alternative per group of equal units, a cumulative per node and
resource. Equal units share their intervals, so that they need no order of their own. It grows with the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.cp.dispatch.engine_plans import plan_by_engine
from planner.cp.engines.engine import Engine
from planner.cp.queue_solver import MOST_SEATS, seat_count
from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue


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
