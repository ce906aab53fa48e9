"""Nodes that are lost for a while: which and when, who knows of it when, and the runs that it costs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.errors import InputError
from planner.online.kernel import state as places
from planner.online.kernel.state import Records

UNTIL_FURTHER_NOTICE = int(np.iinfo(np.int64).max // 2)
"""End of an outage that does not end; the kernel's moment that does not come."""

Flags = npt.NDArray[np.bool_]


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


def _no_flags() -> Flags:
    return np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Outages:
    """Nodes on which nothing runs from a moment until another, one entry per outage; times in seconds of the trace.

    An end of `UNTIL_FURTHER_NOTICE` never comes. Nothing is planned to overlap an outage from ``known_from_s`` on, at
    most its start. Where the node ``drains``, jobs that run on it at the start may end there; else they are lost. Where
    it ``is_open``, the end is known to nobody beforehand.
    """

    node: Ints = field(default_factory=_no_ints)
    start_s: Ints = field(default_factory=_no_ints)
    end_s: Ints = field(default_factory=_no_ints)
    known_from_s: Ints = field(default_factory=_no_ints)
    drains: Flags = field(default_factory=_no_flags)
    is_open: Flags = field(default_factory=_no_flags)

    def __post_init__(self) -> None:
        columns = (self.start_s, self.end_s, self.known_from_s, self.drains, self.is_open)
        if any(len(column) != len(self.node) for column in columns):
            raise InputError(f"{len(self.node)} outages, but a column of another length")
        for entry in np.flatnonzero((self.end_s <= self.start_s) | (self.known_from_s > self.start_s)):
            raise InputError(
                f"an outage of node {self.node[entry]} from {self.start_s[entry]} s until {self.end_s[entry]} s, known"
                f" from {self.known_from_s[entry]} s; it must end after it begins, and be known by then"
            )

    def __len__(self) -> int:
        return len(self.node)

    @property
    def believed_end_s(self) -> Ints:
        """When each outage ends, as far as anybody knows beforehand."""
        return np.where(self.is_open, UNTIL_FURTHER_NOTICE, self.end_s)

    def losses_s(self, moment_s: int) -> list[int]:
        """The moments from a given one on at which runs may be lost."""
        costly = ~self.drains & (self.end_s > moment_s)
        return sorted({max(moment_s, int(start)) for start in self.start_s[costly]})

    def require_nodes(self, nodes: int) -> None:
        """InputError when an outage is of no node of the machine."""
        for node in self.node[(self.node < 0) | (self.node >= nodes)]:
            raise InputError(f"an outage of node {node}; the machine has nodes 0 to {nodes - 1}")

    def shut(self, nodes: int) -> Ints:
        """When all of so many nodes go down together, and from when on that is known: a row for each such moment."""
        if len(np.unique(self.node)) < nodes:
            return np.zeros((0, 2), dtype=np.int64)
        starts, ends = np.sort(self.start_s), np.sort(self.end_s)
        moments = np.unique(starts)
        # Outages of a node may overlap: where enough of them do, nodes are counted.
        many = np.searchsorted(starts, moments, side="right") - np.searchsorted(ends, moments, side="right") >= nodes
        found, was_shut_until = [], -1
        for moment in moments[many].tolist():
            is_down = (self.start_s <= moment) & (moment < self.end_s)
            if moment >= was_shut_until and len(np.unique(self.node[is_down])) == nodes:
                found.append((moment, int(self.known_from_s[is_down].max())))
                was_shut_until = int(self.end_s[is_down].min())
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def changes(self, moment_s: int) -> Records:
        """What happens to nodes from a moment on, as the kernel takes it, in order of time.

        What is known or down at the moment becomes so then. In one second nodes return first, then outages become
        known, then nodes go down.
        """
        believed = self.believed_end_s
        rows: list[tuple[int, int, int, int, int]] = []
        for entry in range(len(self)):
            node, start, end = int(self.node[entry]), int(self.start_s[entry]), int(self.end_s[entry])
            if end <= moment_s:
                continue
            known = max(moment_s, int(self.known_from_s[entry]))
            rows.append((known, int(places.ANNOUNCED), node, start, int(believed[entry])))
            if not self.drains[entry]:
                rows.append((max(moment_s, start), int(places.GOES_DOWN), node, start, end))
            if end < UNTIL_FURTHER_NOTICE:
                rows.append((end, int(places.RETURNS), node, start, int(believed[entry])))
        return np.array(sorted(rows), dtype=places.CHANGE).view(np.recarray)


NO_OUTAGES = Outages()


@dataclass(frozen=True)
class LostRun:
    """A run that ended because a node was lost: the job, from when until when, and the node of each unit."""

    job: int
    start_s: int
    lost_at_s: int
    nodes: tuple[int, ...]
