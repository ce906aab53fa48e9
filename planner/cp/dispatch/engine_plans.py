"""A model of the waiting jobs given to a CP engine with a time limit that doubles."""

from __future__ import annotations

from planner.cp.dispatch.ladder import climb
from planner.cp.engines.engine import Engine
from planner.cp.queue_model import QueueModel
from planner.cp.queue_solver import ask_engine
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
