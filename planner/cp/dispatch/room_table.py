"""The free room of all nodes in tables, for arithmetic on all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.waiting_queue import FreeRoom
from planner.machine.timeline import NEVER


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
