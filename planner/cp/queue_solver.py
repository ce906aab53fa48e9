"""The waiting jobs of a scheduling round planned by a CP engine, within a time limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.cp.engines.engine import Engine
from planner.cp.queue_model import QueueModel, copies_on
from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue, all_together
from planner.errors import SolverError

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
