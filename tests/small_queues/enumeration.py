"""The best of all schedules of a small queue, by plain enumeration of starts and nodes."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from planner.domain.trace import Trace
from tests.online.test_queue_search import Cost

AT = 5
"""The second at which all jobs but the first come."""

Table = npt.NDArray[np.int64]


def choices(capacity: Table, counts: Table, amounts: Table) -> list[Table]:
    """All that groups of units can ask of the nodes: a table of nodes and resources for each way to put them there."""
    ways = (combinations_with_replacement(range(len(capacity)), count) for count in counts.tolist())
    found = {}
    for way in product(*ways):
        asked = np.zeros_like(capacity)
        for nodes, amount in zip(way, amounts, strict=True):
            np.add.at(asked, list(nodes), amount)
        if np.all(asked <= capacity):
            found[asked.tobytes()] = asked
    return list(found.values())


def choices_of(trace: Trace, job: int) -> list[Table]:
    """All that a job can ask of the nodes."""
    groups = slice(int(trace.group_ptr[job]), int(trace.group_ptr[job + 1]))
    return choices(trace.machine.capacity, trace.group_count[groups], trace.group_amount[groups])


def best_sum(trace: Trace, cost: Cost, before: Table, at_most: float = np.inf) -> float:
    """The least sum of all schedules, or ``at_most`` if that is less; the first job asks ``before`` of the nodes.

    Some best schedule has no job that could start earlier on its nodes beside those that start before it. So jobs are
    placed in the order of their starts, equal ones by number, each on all nodes that it could have, at the first second
    with room. Depth first; a branch ends where the jobs placed, and the others as early as the room beside these
    allows, already cost as much as the best schedule known. Nodes that have the same room take turns for nothing.
    """
    length, width = trace.runtime_s.tolist(), trace.width.tolist()
    room = np.repeat(trace.machine.capacity[:, :, None], AT + sum(length) + 1, axis=2)
    room[:, :, : length[0]] -= before[:, :, None]
    ways = {job: choices_of(trace, job) for job in range(1, len(trace))}
    best = [at_most]

    def place(left: frozenset[int], last: int, since: int, room: Table, spent: float) -> None:
        if not left:
            best[0] = min(best[0], spent)
            return
        starts = {job: [first_second(room, asked, length[job], since) for asked in ways[job]] for job in left}
        least = {job: cost(width[job], length[job], min(starts[job]) - AT) for job in left}
        bound = spent + sum(least.values())
        seen = set()
        branches = [(start, job, way) for job in left for way, start in enumerate(starts[job])]
        for start, job, way in sorted(branches):
            own = cost(width[job], length[job], start - AT)
            if bound - least[job] + own >= best[0] or (start, job) < (since, last):
                continue
            beside = room.copy()
            beside[:, :, start : start + length[job]] -= ways[job][way][:, :, None]
            key = (start, job, *sorted(node.tobytes() for node in beside))
            if key not in seen:
                seen.add(key)
                place(left - {job}, job, start, beside, spent + own)

    place(frozenset(ways), 0, AT, room, 0.0)
    return float(best[0])


def first_second(room: Table, asked: Table, length: int, since: int) -> int:
    """The first second from a given one on with so much room for so long."""
    is_narrow = np.any(room[:, :, since:] < asked[:, :, None], axis=(0, 1))
    start = 0
    for second in np.flatnonzero(is_narrow):
        if second - start >= length:
            break
        start = int(second) + 1
    return since + start
