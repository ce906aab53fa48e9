"""Small queues on a pool: the best plan by enumeration, beside what the search of orders and the engines find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.cp.queue_solver import EngineSolver
from planner.domain.trace import Trace
from planner.online.policies import policy_named
from planner.online.queue_search import QueueSearch
from planner.online.replay import Replay, replay
from tests.online.test_queue_search import SUMS, Cost, small_queue, total

AT = 5
"""The second at which all jobs but the first come."""

ENOUGH = QueueSearch(evaluations=2_000)
CLOSE = 1e-6
"""Relative difference that counts as none: engines count in whole numbers."""


@dataclass(frozen=True)
class Compared:
    """The best sum of one queue and objective, and what each way found."""

    seed: int
    jobs: int
    objective: str
    best: float
    found: dict[str, float]

    @property
    def wrong(self) -> dict[str, float]:
        """What is not the best: worse, or better than the best of all."""
        return {name: value for name, value in self.found.items() if abs(value - self.best) > CLOSE * self.best}


def compare(seed: int, solvers: list[EngineSolver], most_jobs: int = 8) -> list[Compared]:
    """A queue of two to ``most_jobs`` jobs, for every objective."""
    trace = small_queue(seed, 2 + seed % (most_jobs - 1), longest=30, processors=4 + seed % 5)
    rows = []
    for objective, cost in SUMS.items():
        found = {"order": _sum(replay(trace, policy_named(f"order-{objective}"), trace.runtime_s, search=ENOUGH), cost)}
        for solver in solvers:
            result = replay(trace, policy_named(f"cp-{objective}"), trace.runtime_s, solver=solver)
            found[solver.engine.name] = _sum(result, cost)
        rows.append(Compared(seed, len(trace) - 1, objective, best_sum(trace, cost), found))
    return rows


def _sum(result: Replay, cost: Cost) -> float:
    """The objective of the jobs that come at once. Runtimes are known, so that later rounds make no plan worse."""
    starts = {job: int(result.start_s[job]) for job in range(1, len(result.trace))}
    return total(result.trace, cost, starts)


def best_sum(trace: Trace, cost: Cost) -> float:
    """The least sum of all orders of list placement: some order leads to a best plan where waiting never pays.

    Depth first; a branch ends where the jobs placed, and the others as early as the room beside these allows, already
    cost as much as the best plan known.
    """
    length, width = trace.runtime_s.tolist(), trace.width.tolist()
    room = np.full(AT + sum(length) + 1, int(trace.machine.processors), dtype=np.int64)
    room[: length[0]] -= width[0]
    best = [np.inf]

    def place(left: frozenset[int], room: npt.NDArray[np.int64], spent: float) -> None:
        if not left:
            best[0] = min(best[0], spent)
            return
        starts = {job: _first_second(room, width[job], length[job]) for job in left}
        costs = {job: cost(width[job], length[job], start - AT) for job, start in starts.items()}
        if spent + sum(costs.values()) >= best[0]:
            return
        for job in sorted(left, key=lambda each: (starts[each], costs[each])):
            beside = room.copy()
            beside[starts[job] : starts[job] + length[job]] -= width[job]
            place(left - {job}, beside, spent + costs[job])

    place(frozenset(range(1, len(trace))), room, 0.0)
    return float(best[0])


def _first_second(room: npt.NDArray[np.int64], width: int, length: int) -> int:
    """The first second from AT on with so much room for so long."""
    start = AT
    while True:
        narrow = np.flatnonzero(room[start : start + length] < width)
        if len(narrow) == 0:
            return start
        start += int(narrow[-1]) + 1
