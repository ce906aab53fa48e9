"""Which unit is on which node, where a source names only the nodes of a job: every node gets a unit, and all units fit.

Where a job has as many nodes as units, each gets one; where it has fewer, the first nodes are filled first. What other
jobs hold at the same time counts. A job of several sizes of units is dealt by looking at one node after another, most
units of the first size first, and going back where that leads nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Ints, class_capacities, unit_amount
from planner.domain.ever_fits import Fit, require_fit
from planner.domain.job import Job
from planner.domain.plan import copies_of
from planner.domain.situation import StartedJob
from planner.errors import InputError

MOST_STEPS = 100_000
"""Ways to fill a node that are looked at for one job."""
MOST_SIZES = 50
"""Sizes of units that are dealt; a job of more must say its nodes unit by unit."""
FOR_EVER = 2**62

Counts = tuple[int, ...]
Amounts = tuple[int, ...]
"""So much of each resource, as plain numbers: arrays of so few take longer."""


def has_choice(job: Job, nodes: Sequence[int]) -> bool:
    """Whether there is more than one way to deal the units of a job to its nodes."""
    return len(nodes) > 1 and (len(nodes) < job.unit_count or len(job.units) > 1)


class Dealer:
    """Deals jobs one by one to what those before have left; ``watched`` are the nodes where that may matter."""

    def __init__(self, cluster: Cluster, watched: Collection[int]) -> None:
        self._cluster = cluster
        self._capacities = class_capacities(cluster)
        self._fit = Fit(cluster)
        self._held: dict[int, list[tuple[int, int, Ints]]] = defaultdict(list)
        self._watched = frozenset(watched)

    def take(self, started: StartedJob) -> None:
        """Note what a job holds."""
        if self._watched.isdisjoint(started.nodes):
            return
        until = FOR_EVER if started.end_unix is None else started.end_unix
        nodes = iter(started.nodes)
        for group in started.job.units:
            amount = unit_amount(group, self._cluster)
            for node in (next(nodes) for _ in range(group.count)):
                if node in self._watched:
                    self._held[node].append((started.start_unix, until, amount))

    def deal(self, job: Job, nodes: Sequence[int], start_unix: int, end_unix: int | None) -> tuple[int, ...]:
        """A node for each unit, in the order of the job's groups; InputError when they do not fit.

        Where they fit on the nodes as such but not beside the jobs before, those are left out of account: that jobs
        hold too much of a node together is for `require_possible` to say.
        """
        if len(nodes) > job.unit_count:
            raise InputError(
                f"job {job.id} has {job.unit_count} units on {len(nodes)} nodes; name at most one node per unit"
            )
        require_fit(job, self._fit)
        whole = self._capacities[[self._cluster.class_index(node) for node in nodes]]
        amounts = [unit_amount(group, self._cluster) for group in job.units]
        counts = tuple(group.count for group in job.units)
        until = FOR_EVER if end_unix is None else end_unix
        left = whole
        if has_choice(job, nodes):
            left = whole - np.array([self._peak(node, start_unix, until) for node in nodes])
        dealt = deal_units(left, amounts, counts)
        if dealt is None and np.any(left != whole):
            dealt = deal_units(whole, amounts, counts)
        if dealt is None:
            raise InputError(
                f"the {job.unit_count} units of job {job.id} do not fit on {self._cluster.node_list(nodes)};"
                " correct its nodes or its size, or give unit_nodes"
            )
        return tuple(nodes[place] for place in dealt)

    def _peak(self, node: int, start: int, end: int) -> Ints:
        """The most of each resource that is held on a node at any second of a stretch."""
        held = [each for each in self._held[node] if each[0] < end and start < each[1]]
        changes = [(max(begins, start), amount) for begins, _, amount in held]
        changes += [(ends, -amount) for _, ends, amount in held if ends < end]
        most = used = np.zeros(self._capacities.shape[1], dtype=np.int64)
        # What ends at a second is gone before what begins then.
        for _, change in sorted(changes, key=lambda each: (each[0], each[1].max() > 0)):
            used = used + change
            most = np.maximum(most, used)
        return most


def deal_units(free: Ints, amounts: Sequence[Ints], counts: Counts) -> list[int] | None:
    """Place among the nodes for every unit, in the order of the groups; None when no way was found.

    ``free`` is what each node has, shape (nodes, resources); every node gets at least one unit.
    """
    room = np.array([copies_of(free, amount) for amount in amounts])
    filled = _equal(room[0], counts[0]) if len(counts) == 1 else _several(free, amounts, counts, room)
    if filled is None:
        return None
    return [place for group in range(len(counts)) for place, taken in enumerate(filled) for _ in range(taken[group])]


def _equal(room: Ints, count: int) -> list[Counts] | None:
    further = count - len(room)
    if further < 0 or np.any(room < 1) or int(room.sum()) < count:
        return None
    filled: list[Counts] = []
    for most in room.tolist():
        more = min(most - 1, further)
        further -= more
        filled.append((1 + more,))
    return filled


class _TooManyWaysError(Exception):
    """The search has looked at as many ways as it may."""


def _several(free: Ints, amounts: Sequence[Ints], counts: Counts, room: Ints) -> list[Counts] | None:
    """How many units of each group go to each node."""
    nodes = len(free)
    if len(counts) > MOST_SIZES:
        return None
    # What the nodes from each one on can take of each group.
    later = [*np.cumsum(room[:, ::-1], axis=1)[:, ::-1].T.tolist(), [0] * len(counts)]
    free_of: list[Amounts] = [tuple(row) for row in free.tolist()]
    asked: list[Amounts] = [tuple(amount.tolist()) for amount in amounts]
    steps = 0

    def ways(node: int, left: Counts) -> Iterator[Counts]:
        nonlocal steps
        most = sum(left) - (nodes - node - 1)
        for way in _ways(free_of[node], asked, left):
            steps += 1
            if steps > MOST_STEPS:
                raise _TooManyWaysError
            if 1 <= sum(way) <= most and all(n - k <= m for n, k, m in zip(left, way, later[node + 1], strict=True)):
                yield way

    dead: set[tuple[int, Counts]] = set()
    taken: list[Counts] = []
    left = [counts]
    trail = [ways(0, counts)]
    try:
        while trail:
            way = next(trail[-1], None)
            if way is None:
                dead.add((len(taken), left.pop()))
                trail.pop()
                if taken:
                    taken.pop()
                continue
            rest = tuple(n - k for n, k in zip(left[-1], way, strict=True))
            if len(taken) + 1 == nodes:
                return [*taken, way]
            if (len(taken) + 1, rest) not in dead:
                taken.append(way)
                left.append(rest)
                trail.append(ways(len(taken), rest))
    except _TooManyWaysError:
        pass
    return None


def _ways(free: Amounts, amounts: Sequence[Amounts], left: Counts) -> Iterator[Counts]:
    """What one node can take, most of the first group first."""
    if not left:
        yield ()
        return
    amount = amounts[0]
    most = min(left[0], max(0, min(f // a for f, a in zip(free, amount, strict=True) if a > 0)))
    for taken in range(most, -1, -1):
        rest = tuple(f - taken * a for f, a in zip(free, amount, strict=True))
        for others in _ways(rest, amounts[1:], left[1:]):
            yield (taken, *others)
