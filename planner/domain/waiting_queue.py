"""What a scheduling round knows of its waiting jobs, for an engine that plans them all, and what the engine answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from planner.domain.columns import Floats, Ints

Cost = Callable[[Ints, Ints], Floats]
"""What starts count for under a local objective: from places in the queue and starts, one entry each."""


@dataclass(frozen=True, eq=False)
class FreeRoom:
    """What running jobs leave free: row k of ``free`` holds from ``moment_s[k]`` to the next moment, the last for ever.

    ``free`` has one column per resource; moments are in seconds from now, and the first is 0.
    """

    moment_s: Ints
    free: Ints

    @property
    def most(self) -> Ints:
        """The most that is ever free of each resource."""
        found: Ints = self.free.max(axis=0)
        return found

    def at(self, moment_s: Ints) -> Ints:
        """What is free at some moments."""
        found: Ints = self.free[np.searchsorted(self.moment_s, moment_s, side="right") - 1]
        return found


def all_together(rooms: Sequence[FreeRoom]) -> FreeRoom:
    """The sum of what several nodes have free."""
    moments = np.unique(np.concatenate([room.moment_s for room in rooms]))
    return FreeRoom(moments, np.sum([room.at(moments) for room in rooms], axis=0))


@dataclass(frozen=True, eq=False)
class WaitingQueue:
    """Waiting jobs of a round, as submitted or by priority, and the room that there is; times in seconds from now.

    ``length_s`` is the estimate of each job. Its groups of equal units are ``group_ptr[j]:group_ptr[j + 1]``;
    ``group_amount`` is what a unit asks of every resource. ``nodes`` is the free room on each node, a pool being one;
    ``power`` what is left of the site's limit [mW], None without one. ``cost`` is what a start counts for: it never
    falls with a later start, and rises ever more steeply or at the same rate.
    """

    length_s: Ints
    power_mw: Ints
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    nodes: tuple[FreeRoom, ...]
    power: FreeRoom | None
    cost: Cost

    def __len__(self) -> int:
        return len(self.length_s)

    @property
    def last_change_s(self) -> int:
        """From when on the free room stays as it is [s]."""
        rooms = self.nodes if self.power is None else (*self.nodes, self.power)
        return max(int(room.moment_s[-1]) for room in rooms)

    def groups_of(self, job: int) -> range:
        """The groups of a job."""
        return range(int(self.group_ptr[job]), int(self.group_ptr[job + 1]))


@dataclass(frozen=True, eq=False)
class QueuePlan:
    """A start for each job of a queue [s from now], and a node for each unit, group after group, where it has nodes."""

    start_s: Ints
    node_of_unit: Ints | None


@dataclass(frozen=True, eq=False)
class QueueAnswer:
    """The plan that an engine found, None if it found none; and whether no plan is better."""

    plan: QueuePlan | None = None
    is_proven: bool = False


NOTHING_FOUND = QueueAnswer()


class QueueSolver(Protocol):
    """Something that plans a queue."""

    def __call__(self, queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
        """Look for a better plan than a known one; ``from_known`` says whether the search begins with that plan."""
