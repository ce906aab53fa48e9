"""Small queues on nodes with several resources: the best of all plans by enumeration, and an audit of plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from planner.errors import InputError
from tests.cp.test_queue_model import fits, one_after_another


def dispatch_queue(seed: int) -> WaitingQueue:
    """Two to five jobs that may have waited, on two to four nodes of two classes with running jobs; total slowdown.

    Two or three resources; nodes of the second class have less of the first and more of the last. Units of one or two
    sizes. Every third queue has a limit of power.
    """
    rng = np.random.default_rng(seed)
    while True:
        queue = _drawn(rng, jobs=2 + seed % 4, nodes=2 + seed // 4 % 3, limited=seed % 3 == 0)
        try:
            one_after_another(queue)
        except StopIteration:  # a job that does not fit on the empty machine
            continue
        return queue


def _drawn(rng: np.random.Generator, *, jobs: int, nodes: int, limited: bool) -> WaitingQueue:
    resources = int(rng.integers(2, 4))
    large = rng.integers(3, 6, resources)
    small = large + np.where(np.arange(resources) == resources - 1, 1, -1)
    groups = rng.choice([1, 1, 1, 2], jobs)
    total = int(groups.sum())
    amount = rng.integers(0, 4, (total, resources))
    amount[:, 0] = np.maximum(1, amount[:, 0])
    length, waited = rng.integers(1, 8, jobs), rng.integers(0, 9, jobs)
    watts = rng.integers(1, 5, jobs)

    def cost(job: Ints, start_s: Ints) -> Floats:
        return (waited[job] + start_s + length[job]) / length[job]

    return WaitingQueue(
        length_s=length,
        power_mw=watts,
        group_ptr=np.concatenate([[0], np.cumsum(groups)]),
        group_count=rng.integers(1, 3, total),
        group_amount=amount,
        nodes=tuple(_room(rng, large if node % 2 == 0 else small) for node in range(nodes)),
        power=_room(rng, np.array([int(watts.max()) + 3])) if limited else None,
        cost=cost,
    )


def _room(rng: np.random.Generator, capacity: Ints) -> FreeRoom:
    """What one or two running jobs leave free: more after each end."""
    moments = np.unique([0, *rng.integers(1, 9, rng.integers(0, 3))])
    free = np.sort([*(rng.integers(0, capacity + 1) for _ in moments[1:]), capacity], axis=0)
    return FreeRoom(moments, free)


def least_cost(queue: WaitingQueue) -> float:
    """The least cost of all plans.

    In some best plan, each job starts as early as it can on its nodes beside those that start no later. So all orders
    of the jobs and all choices of nodes are tried, each job at its first second on its nodes, no earlier than the one
    before. A branch ends where the jobs placed, and the others at once, cost as much as the best plan known.
    """
    jobs = np.arange(len(queue))
    horizon = queue.last_change_s + int(2 * queue.length_s.sum()) + 1
    seconds = np.arange(horizon)
    room = np.stack([each.at(seconds) for each in queue.nodes])
    power = None if queue.power is None else queue.power.at(seconds)[:, 0]
    cost = np.stack([queue.cost(jobs, np.full(len(jobs), second)) for second in range(horizon)])
    choices = [list(_node_choices(queue, job)) for job in jobs]
    best = [np.inf]

    def place(left: frozenset[int], room: Ints, power: Ints | None, after: int, spent: float) -> None:
        if not left:
            best[0] = min(best[0], spent)
            return
        if spent + sum(cost[after, job] for job in left) >= best[0]:
            return
        for job in left:
            for asked in choices[job]:
                start = _first_second(queue, job, asked, room, power, after)
                if start >= horizon:
                    continue
                during = slice(start, start + int(queue.length_s[job]))
                beside = room.copy()
                beside[:, during] -= asked[:, None]
                drawn = None if power is None else power.copy()
                if drawn is not None:
                    drawn[during] -= queue.power_mw[job]
                place(left - {job}, beside, drawn, start, spent + cost[start, job])

    place(frozenset(jobs.tolist()), room, power, 0, 0.0)
    if np.isinf(best[0]):
        raise InputError("no plan at all")
    return float(best[0])


def _node_choices(queue: WaitingQueue, job: int) -> Iterator[Ints]:
    """What a job asks of each node and resource, for every choice of nodes on which it fits when they are empty."""
    nodes = range(len(queue.nodes))
    most = np.stack([room.most for room in queue.nodes])
    per_group = [list(combinations_with_replacement(nodes, int(queue.group_count[g]))) for g in queue.groups_of(job)]
    seen = set()
    for chosen in product(*per_group):
        asked = np.zeros_like(most)
        for group, places in zip(queue.groups_of(job), chosen, strict=True):
            np.add.at(asked, list(places), queue.group_amount[group])
        if np.all(asked <= most) and asked.tobytes() not in seen:
            seen.add(asked.tobytes())
            yield asked


def _first_second(queue: WaitingQueue, job: int, asked: Ints, room: Ints, power: Ints | None, after: int) -> int:
    """The first second from one on with room for what a job asks of each node; the end of the room if there is none."""
    is_narrow = np.any(room < asked[:, None], axis=(0, 2))
    if power is not None:
        is_narrow |= power < queue.power_mw[job]
    start, length = after, int(queue.length_s[job])
    while start + length <= len(is_narrow):
        narrow = np.flatnonzero(is_narrow[start : start + length])
        if len(narrow) == 0:
            return start
        start += int(narrow[-1]) + 1
    return len(is_narrow)


def breaks_nothing(queue: WaitingQueue, plan: QueuePlan) -> bool:
    """Whether every node, every resource and the power have room for a plan at every second."""
    assert plan.node_of_unit is not None
    return fits(queue, tuple(plan.start_s.tolist()), tuple(plan.node_of_unit.tolist()))


def value(queue: WaitingQueue, plan: QueuePlan) -> float:
    """What a plan costs."""
    return float(queue.cost(np.arange(len(queue)), plan.start_s).sum())


def started(queue: WaitingQueue, plan: QueuePlan) -> tuple[WaitingQueue, QueuePlan]:
    """The jobs that a plan starts now, by themselves."""
    assert plan.node_of_unit is not None
    jobs = np.flatnonzero(plan.start_s == 0)
    job_of_group = np.repeat(np.arange(len(queue)), np.diff(queue.group_ptr))
    is_group = np.isin(job_of_group, jobs)
    is_unit = np.repeat(is_group, queue.group_count)
    some = replace(
        queue,
        length_s=queue.length_s[jobs],
        power_mw=queue.power_mw[jobs],
        group_ptr=np.concatenate([[0], np.cumsum(np.diff(queue.group_ptr)[jobs])]),
        group_count=queue.group_count[is_group],
        group_amount=queue.group_amount[is_group],
    )
    return some, QueuePlan(plan.start_s[jobs], plan.node_of_unit[is_unit])
