"""How long a dispatcher searches: with a limit that doubles, until a proof or until the plan no longer gets better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planner.domain.waiting_queue import NOTHING_FOUND, QueueAnswer, QueuePlan, WaitingQueue

FACTORS = (1, 2, 4, 8, 16)
"""Times the first limit: 1 s doubled up to 16 s in the published runs."""

PATIENCE = 2
"""So many limits in a row without a better plan end the search, as published."""


def climb(queue: WaitingQueue, ask: Callable[[int], QueueAnswer]) -> QueueAnswer:
    """Ask with one limit after another, as a factor of the first; returns the best answer.

    Where nothing is found the limit doubles up to the last.
    """
    best, least, unchanged = NOTHING_FOUND, np.inf, 0
    for factor in FACTORS:
        answer = ask(factor)
        value = np.inf if answer.plan is None else total_cost(queue, answer.plan)
        unchanged = 0 if value < least else unchanged + 1
        if value <= least and answer.plan is not None:
            best, least = answer, value
        if answer.is_proven or (best.plan is not None and unchanged == PATIENCE):
            break
    return best


def total_cost(queue: WaitingQueue, plan: QueuePlan) -> float:
    """What a plan costs: for dispatchers its total slowdown."""
    return float(queue.cost(np.arange(len(queue)), plan.start_s).sum())
