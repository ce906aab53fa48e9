"""Nodes that are alike as one row of a replay: reservations hold room among them, and nodes are fixed at the start.

Nodes are alike that have the same capacity. They become one row where it is the number of units that fills a node,
whatever the units: any k of those that fit on such a node fit together, and no k + 1 do. So it is where every unit
takes a node for itself, where every unit is one core, or where all units are equal. Then it is enough to count: jobs
that never hold more than k units per node at once can always be dealt to nodes in the order of their starts, as in a
pool of processors. Where jobs of several sizes share nodes this is not so, and every such node keeps a row of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.domain.columns import Ints, distinct_rows
from planner.domain.trace import Machine, Trace
from planner.online.initial_state import Past
from planner.online.kernel.nodes import deal

PLENTY = 1 << 30
"""More units than any machine takes."""


@dataclass(frozen=True, eq=False)
class LikeNodes:
    """A trace with like nodes as one row, and the way back to nodes.

    The rows of ``trace``, which is replayed, are classes of like nodes, or nodes of ``given``. ``units_per_node`` is
    how many units each node takes at once; 0 for nodes that have a row of their own.
    """

    trace: Trace
    given: Trace
    row_of_node: Ints
    units_per_node: Ints

    def past(self, past: Past | None) -> Past | None:
        """A past in rows."""
        if past is None:
            return None
        nodes = past.node_of_unit
        rows = np.where(nodes >= 0, self.row_of_node[nodes], -1)
        return replace(past, node_of_unit=rows[self.given.unit_ptr[:-1]] if self._is_pool else rows)

    def nodes(self, row_of_unit: Ints, start_s: Ints, end_s: Ints, past: Past | None) -> Ints:
        """The node of each unit, from its row: jobs take the first nodes with room, in the order of their starts.

        Those of a past have their nodes already.
        """
        given = self.given
        rows = np.repeat(row_of_unit, np.diff(given.unit_ptr)) if self._is_pool else row_of_unit
        is_own = self.units_per_node == 0
        node_of_row = np.full(len(self.trace.machine.capacity), -1, dtype=np.int64)
        node_of_row[self.row_of_node[is_own]] = np.flatnonzero(is_own)
        node_of_unit = np.where(rows >= 0, node_of_row[rows], -1)
        is_past = np.zeros(len(given), dtype=np.int64)
        if past is not None:
            is_past = (past.start_s >= 0).astype(np.int64)
            of_past = np.repeat(is_past > 0, np.diff(given.unit_ptr))
            node_of_unit = np.where(of_past, past.node_of_unit, node_of_unit)
        by_row = np.argsort(self.row_of_node, kind="stable")
        first = np.searchsorted(self.row_of_node[by_row], np.arange(len(node_of_row) + 1))
        started = np.flatnonzero(start_s >= 0)
        deal(
            started[np.argsort(start_s[started], kind="stable")],
            started[np.argsort(end_s[started], kind="stable")],
            start_s, end_s, is_past, given.unit_ptr, rows, by_row, first, self.units_per_node.copy(), node_of_unit,
        )  # fmt: skip
        return node_of_unit

    @property
    def _is_pool(self) -> bool:
        """Whether every job is one unit of the only row, as wide as the job."""
        return self.trace.machine.capacity.shape == (1, 1)


def with_like_nodes(trace: Trace) -> LikeNodes | None:
    """A trace with like nodes as one row each; None where all nodes keep rows of their own."""
    capacity = trace.machine.capacity
    if len(capacity) == 1 or len(trace) == 0:
        return None
    classes, class_of = _in_order(capacity)
    units, _ = distinct_rows(trace.group_amount)
    most = np.array([_units_per_node(each, units) for each in classes], dtype=np.int64)
    if not most.any():
        return None
    is_shared = most[class_of] > 0
    # A class that is one row is where its first node was.
    key = np.where(is_shared, _first_places(class_of), np.arange(len(capacity)))
    kept, row_of_node = np.unique(key, return_inverse=True)
    sizes = np.bincount(row_of_node)
    if len(classes) == 1 and _is_one_size(units, most[0], classes[0]):
        pooled = _one_pool(trace, int(sizes[0] * most[0] * units[0, 0]))
    else:
        pooled = _rows(trace, class_of[kept], sizes, most)
    return LikeNodes(pooled, trace, row_of_node.astype(np.int64), most[class_of])


def _in_order(capacity: Ints) -> tuple[Ints, Ints]:
    """The different capacities of nodes in order of their first nodes, and which one each node has."""
    _, first, found = np.unique(capacity, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return capacity[np.sort(first)], rank[found.reshape(-1)]


def _first_places(class_of: Ints) -> Ints:
    """The first node of the class of each node."""
    _, first, found = np.unique(class_of, return_index=True, return_inverse=True)
    places: Ints = first[found]
    return places


def _units_per_node(capacity: Ints, units: Ints) -> int:
    """How many units fill a node, whichever of those that fit on it; 0 where that depends on the units."""
    able = units[np.all(units <= capacity, axis=1)]
    if len(able) == 0:
        return 0
    largest, smallest = able.max(axis=0), able.min(axis=0)
    asked = largest > 0
    if not asked.any():
        return 0
    most = int(np.min(capacity[asked] // largest[asked]))
    return most if np.any((most + 1) * smallest > capacity) else 0


def _is_one_size(units: Ints, most: int, capacity: Ints) -> bool:
    """Whether all units ask for the same of the first resource, and it is this that fills a node."""
    size = units[0, 0]
    return bool(np.all(units[:, 0] == size) and (most + 1) * size > capacity[0])


def _one_pool(trace: Trace, room: int) -> Trace:
    """The trace on a pool: every job is one unit of its width."""
    pointers = np.arange(len(trace) + 1, dtype=np.int64)
    per_group = np.repeat(np.arange(len(trace)), np.diff(trace.group_ptr))
    asked = np.zeros(len(trace), dtype=np.int64)
    np.add.at(asked, per_group, trace.group_count * trace.group_amount[:, 0])
    return replace(
        trace,
        machine=replace(trace.machine, capacity=np.array([[room]], dtype=np.int64)),
        group_ptr=pointers,
        group_count=np.ones(len(trace), dtype=np.int64),
        group_amount=asked[:, None].copy(),
        unit_ptr=pointers,
    )


def _rows(trace: Trace, class_of_row: Ints, sizes: Ints, most: Ints) -> Trace:
    """The trace on rows, with a column that counts units, and one that bars units from the rows where they do not fit.

    A row of several nodes has what they have together, so it would take units that none of its nodes can.
    """
    capacity = trace.machine.capacity
    classes, _ = _in_order(capacity)
    is_shared = most[class_of_row] > 0
    counted = np.where(is_shared, sizes * most[class_of_row], PLENTY)
    room = [classes[class_of_row] * np.where(is_shared, sizes, 1)[:, None], counted[:, None]]
    asked = [trace.group_amount, np.ones((len(trace.group_count), 1), dtype=np.int64)]
    for each in np.flatnonzero(most > 0):
        does_not_fit = np.any(trace.group_amount > classes[each], axis=1)
        if does_not_fit.any():
            room.append(np.where(class_of_row == each, 0, PLENTY)[:, None])
            asked.append(does_not_fit.astype(np.int64)[:, None])
    machine = Machine(
        np.ascontiguousarray(np.concatenate(room, axis=1)), trace.machine.power_limit, trace.machine.scale
    )
    return replace(trace, machine=machine, group_amount=np.ascontiguousarray(np.concatenate(asked, axis=1)))
