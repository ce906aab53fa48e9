"""Dispatchers for machines with node classes and several resources: HCP'19, PCP'19, PCP'21 and PCP'21s.

Each plans the waiting jobs of a scheduling round for the least total slowdown, and has its own way with nodes.

HCP'19: a CP engine plans the starts as if all nodes were one, then best fit gives nodes to what starts now. Where the
pool promised more than the nodes can hold, a job is passed over until the next dispatch; nothing is solved again.

PCP'19: a CP engine chooses starts and nodes at once, with an optional interval per unit and node. The model is that of
`planner.cp.queue_model`: an alternative per group of equal units, a cumulative per node and resource. Equal units share
their intervals, so that they need no order of their own. It grows with the machine. In both the time limit doubles.

PCP'21 and PCP'21s: a search of our own, which branches as published and needs no engine. CP-SAT does not take a CP
solver's rule of branching, and CP Optimizer has no boxes in two dimensions; hence a search on the timelines of the
nodes (`planner.cp.kernel.pcp21_search`). Its limit is a number of steps, so that the same queue always has the same
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cp.engines import engine_named
from planner.cp.engines.engine import Engine
from planner.cp.kernel import pcp21_search as places
from planner.cp.queue_model import MOST_SEATS, QueueModel, as_one_node, ask_engine, seat_count
from planner.domain.columns import Ints
from planner.domain.waiting_queue import NOTHING_FOUND, FreeRoom, QueueAnswer, QueuePlan, QueueSolver, WaitingQueue
from planner.errors import InputError, SolverError
from planner.machine.timeline import NEVER

LATER = 1
"""The start of a job that the pool starts now and for which no nodes were found: not now [s]."""

NO_NODE = -1

FAR_S = 1_000_000
"""The rate of a cost is taken from now to this second: costs are straight in the start [s]."""

FACTORS = (1, 2, 4, 8, 16)
"""Times the first limit: 1 s doubled up to 16 s in the published runs."""

PATIENCE = 2
"""So many limits in a row without a better plan end the search, as published."""


def dispatcher_named(name: str, *, engine: str, time_limit_s: float, steps: int, seed: int) -> QueueSolver:
    """What plans the queues under a dispatcher; SolverError with the remedy when its engine is not installed."""
    if name in ("pcp21", "pcp21s"):
        return Pcp21(steps, starts_first=name == "pcp21s")
    if name in ("hcp19", "pcp19"):
        return (Hcp19 if name == "hcp19" else Pcp19)(engine_named(engine), time_limit_s, seed)
    raise InputError(f"unknown dispatcher {name!r}; known: hcp19, pcp19, pcp21, pcp21s")


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


@dataclass(frozen=True, eq=False)
class RoomTable:
    """Free room, one row per node: ``moment_s`` and ``free`` of its entries, and how many it has in ``length``.

    Rows with fewer entries than others end with the last one at NEVER, again and again.
    """

    moment_s: Ints
    free: Ints
    length: Ints

    @classmethod
    def of(cls, rooms: Sequence[FreeRoom], spare: int = 0) -> RoomTable:
        """The rooms as tables, with so many entries to spare in every row."""
        length = np.array([len(room.moment_s) for room in rooms], dtype=np.int64)
        resources = max(room.free.shape[1] for room in rooms)
        entries = int(length.max()) + spare
        moment_s = np.full((len(rooms), entries), NEVER, dtype=np.int64)
        free = np.zeros((len(rooms), entries, resources), dtype=np.int64)
        for row, room in enumerate(rooms):
            kinds = room.free.shape[1]
            moment_s[row, : length[row]] = room.moment_s
            free[row, : length[row], :kinds] = room.free
            free[row, length[row] :, :kinds] = room.free[-1]
        return cls(moment_s, free, length)

    def least_until(self, end_s: int) -> Ints:
        """What each node has free of each resource all the way from now to a moment."""
        is_later = self.moment_s[:, :, None] >= end_s
        least: Ints = np.where(is_later, NEVER, self.free).min(axis=1)
        return least


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
            while phases and places.search(tables, until - int(tables.counter[places.STEPS]), phases[0]):
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
