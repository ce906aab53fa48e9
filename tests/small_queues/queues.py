"""Small queues on a pool and on nodes: the best plan of all, beside what the search of orders and the engines find.

The best plan is found by enumeration; for longer queues on nodes an engine proves it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cp.queue_model import EngineSolver
from planner.domain.trace import Machine, Trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.online.audit_replay import violations
from planner.online.policies import QueueSearch, policy_named
from planner.online.replay import Replay, replay
from tests.online.test_queue_search import SUMS, Cost, small_queue, total
from tests.small_queues.enumeration import AT, Table, best_sum, choices

ENOUGH = QueueSearch(evaluations=2_000)
CLOSE = 1e-6
"""Relative difference that counts as none: engines count in whole numbers."""

MOST_ON_NODES = 5
"""Jobs whose schedules on nodes are enumerated at most."""

MACHINES = ("pool", "nodes")


@dataclass(frozen=True)
class Compared:
    """The best sum of one queue and objective, who says that it is the best, and what each way found.

    ``unproven`` names engines whose time was over before they had proven all their plans.
    """

    seed: int
    jobs: int
    objective: str
    best: float
    witness: str
    found: dict[str, float]
    unproven: tuple[str, ...] = ()

    @property
    def wrong(self) -> dict[str, float]:
        """What is better than the best of all, or worse and said to be the best."""
        better, worse = self.best * (1 - CLOSE), self.best * (1 + CLOSE)
        return {
            name: value
            for name, value in self.found.items()
            if value < better or (value > worse and name not in self.unproven)
        }


class Proving:
    """An engine that notes whether it proved all its plans."""

    def __init__(self, solver: EngineSolver) -> None:
        self.name, self.has_proven = solver.engine.name, True
        self._solver = solver

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        """Ask the engine."""
        answer = self._solver(queue, known, from_known=from_known)
        self.has_proven &= answer.is_proven
        return answer


def compare(seed: int, solvers: list[EngineSolver], machine: str = "pool", most_jobs: int = 8) -> list[Compared]:
    """A queue of two to ``most_jobs`` jobs, for every objective; without those for which nobody knows the best."""
    jobs = 2 + seed % (most_jobs - 1)
    if machine == "pool":
        trace = small_queue(seed, jobs, longest=30, processors=4 + seed % 5)
    else:
        trace = cluster_queue(seed, jobs)
    found = (_compared(seed, trace, objective, cost, solvers) for objective, cost in SUMS.items())
    return [each for each in found if each is not None]


def _compared(seed: int, trace: Trace, objective: str, cost: Cost, solvers: list[EngineSolver]) -> Compared | None:
    """What each way finds for one objective."""
    result = replay(trace, policy_named(f"order-{objective}"), trace.runtime_s, search=ENOUGH)
    found, proven = {"order": _sum(result, cost)}, {}
    for solver in map(Proving, solvers):
        found[solver.name] = _sum(replay(trace, policy_named(f"cp-{objective}"), trace.runtime_s, solver=solver), cost)
        if solver.has_proven:
            proven[solver.name] = found[solver.name]
    if len(trace.machine.capacity) == 1 or len(trace) <= 1 + MOST_ON_NODES:
        best, witness = best_sum(trace, cost, before(result), min(found.values()) * (1 + CLOSE)), "enumeration"
    elif proven:
        best, witness = min(proven.values()), "proof"
    else:
        return None
    unproven = tuple(name for name in found if name not in proven and name != "order")
    return Compared(seed, len(trace) - 1, objective, best, witness, found, unproven)


def _sum(result: Replay, cost: Cost) -> float:
    """The objective of the jobs that come at once. Runtimes are known, so that later rounds make no plan worse."""
    assert violations(result) == []
    starts = {job: int(result.start_s[job]) for job in range(1, len(result.trace))}
    return total(result.trace, cost, starts)


def before(result: Replay) -> Table:
    """What the job that came before the others has of the nodes."""
    trace = result.trace
    asked = np.zeros_like(trace.machine.capacity)
    groups = slice(0, int(trace.group_ptr[1]))
    amounts = np.repeat(trace.group_amount[groups], trace.group_count[groups], axis=0)
    np.add.at(asked, result.node_of_unit[: len(amounts)], amounts)
    return asked


def cluster_queue(seed: int, jobs: int, longest: int = 30) -> Trace:
    """Jobs of one or two groups of units that come at once, on two to four nodes with two or three resources.

    One job came before them and has part of the nodes.
    """
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, 7, (2, int(rng.integers(2, 4))))
    capacity = classes[rng.integers(0, 2, int(rng.integers(2, 5)))]
    counts, amounts = zip(*(_groups_that_fit(rng, capacity) for _ in range(jobs + 1)), strict=True)
    runtime = np.array([int(rng.integers(AT + 1, 10 + longest)), *rng.integers(1, longest + 1, jobs)])
    unknown = np.full(jobs + 1, -1)
    return Trace(
        ids=tuple(f"j{k}" for k in range(jobs + 1)),
        submit_s=np.array([0, *[AT] * jobs]),
        runtime_s=runtime,
        requested_s=runtime,
        width=np.array([int(count @ amount[:, 0]) for count, amount in zip(counts, amounts, strict=True)]),
        machine=Machine(capacity),
        group_ptr=np.cumsum([0, *map(len, counts)]),
        group_count=np.concatenate(counts),
        group_amount=np.concatenate(amounts),
        unit_ptr=np.cumsum([0, *map(np.sum, counts)]),
        power_mw=np.zeros(jobs + 1, dtype=np.int64),
        user=unknown,
        name=unknown,
        group=unknown,
        queue=unknown,
    )


def _groups_that_fit(rng: np.random.Generator, capacity: Table) -> tuple[Table, Table]:
    """One or two groups of one or two units: how many there are, and what each asks; the empty nodes have room."""
    most = capacity.max(axis=0)
    while True:
        counts = rng.integers(1, 3, int(rng.integers(1, 3)))
        amounts = rng.integers(0, most + 1, (len(counts), len(most)))
        amounts[:, 0] = np.maximum(1, amounts[:, 0])
        if choices(capacity, counts, amounts):
            return counts, amounts
