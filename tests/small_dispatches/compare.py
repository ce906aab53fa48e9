"""What each dispatcher makes of a small queue, beside the best of all plans."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cp.dispatchers import NO_NODE, Hcp19, Pcp19, Pcp21, plan_by_engine
from planner.cp.engines import ENGINES
from planner.cp.queue_model import as_one_node
from planner.domain.waiting_queue import QueuePlan, QueueSolver, WaitingQueue
from tests.cp.test_queue_model import one_after_another
from tests.small_dispatches.queues import breaks_nothing, dispatch_queue, least_cost, started, value

CLOSE = 1e-7
"""Relative difference that counts as none: engines count in whole numbers."""

ENOUGH = 10**8
SOLVERS: dict[str, QueueSolver] = {
    "pcp21": Pcp21(ENOUGH),
    "pcp21s": Pcp21(ENOUGH, starts_first=True),
    "pcp19": Pcp19(ENGINES["cpsat"], 60.0),
}
"""All are complete."""


@dataclass(frozen=True)
class Compared:
    """A queue, what the best plan costs and what those of the dispatchers cost, and all that is wrong."""

    seed: int
    jobs: int
    best: float
    found: dict[str, float]
    wrong: list[str]


def compare(seed: int) -> Compared:
    """All dispatchers on one queue."""
    queue = dispatch_queue(seed)
    known = one_after_another(queue)
    best = least_cost(queue)
    found, wrong = {}, []
    for name, solver in SOLVERS.items():
        answer = solver(queue, known, from_known=False)
        if answer.plan is None or not answer.is_proven:
            wrong.append(f"{name} proves nothing")
            continue
        found[name] = value(queue, answer.plan)
        if not breaks_nothing(queue, answer.plan):
            wrong.append(f"{name} over-uses a node")
        if found[name] < best * (1 - CLOSE):
            wrong.append(f"{name} is better than the best: {found[name]}")
        if found[name] > best * (1 + CLOSE):
            wrong.append(f"{name} is not the best: {found[name]}")
    return Compared(seed, len(queue), best, found, wrong + wrong_with_hcp19(queue, known, best))


def wrong_with_hcp19(queue: WaitingQueue, known: QueuePlan, best: float) -> list[str]:
    """HCP'19: its starts are the best of the pool, so no worse than those of the nodes; what starts now has room."""
    wrong = []
    pool = as_one_node(queue)
    pooled = plan_by_engine(ENGINES["cpsat"], pool, known, time_limit_s=60.0, seed=0).plan
    plan = Hcp19(ENGINES["cpsat"], 60.0)(queue, known, from_known=False).plan
    if pooled is None or plan is None or plan.node_of_unit is None:
        return ["hcp19 finds nothing"]
    least = least_cost(pool)
    if abs(value(pool, pooled) - least) > CLOSE * least or least > best * (1 + CLOSE):
        wrong.append(f"hcp19 has not the best plan of the pool: {value(pool, pooled)}, {least}, {best}")
    if not breaks_nothing(pool, pooled):
        wrong.append("hcp19 over-uses the pool")
    now = started(queue, plan)
    if NO_NODE in now[1].node_of_unit or not breaks_nothing(*now):
        wrong.append("hcp19 over-uses a node")
    if any(plan.start_s[job] == 0 != pooled.start_s[job] for job in range(len(queue))):
        wrong.append("hcp19 starts what the pool does not start")
    return wrong
