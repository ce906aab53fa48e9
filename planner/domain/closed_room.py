"""Room that outages close: what started work leaves of nodes on which nothing new may run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.situation import Outage
from planner.errors import InputError

UNTIL_FURTHER_NOTICE_S = 2**40
"""End of an outage whose end is not known [s]: later than anything, with room to add to it."""


@dataclass(frozen=True, slots=True)
class NodeOutage:
    """A node that takes no new work from a start until an end [s]. Work that has started there may go on."""

    node: int
    start_s: int
    end_s: int

    def __post_init__(self) -> None:
        if self.end_s <= self.start_s:
            raise InputError(f"an outage of node {self.node} from {self.start_s} to {self.end_s} s has no length")


def node_outages(outages: Iterable[Outage], horizon: Horizon) -> tuple[NodeOutage, ...]:
    """The outages that are not over when a horizon begins, in its seconds."""
    found = []
    for outage in outages:
        end_s = UNTIL_FURTHER_NOTICE_S if outage.end_unix is None else horizon.to_s(outage.end_unix)
        start_s = max(0, horizon.to_s(outage.start_unix))
        if end_s > start_s:
            found.append(NodeOutage(outage.node, start_s, end_s))
    return tuple(found)


@dataclass(frozen=True)
class ClosedRoom:
    """Pieces of node and time that are closed, none over another.

    ``amount`` is what is left of the node in a piece, in thousandths of each resource; ``is_empty`` says that no unit
    runs there, so that the node counts as idle.
    """

    node: Ints
    start_s: Ints
    end_s: Ints
    amount: Ints
    is_empty: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.node)


def closed_room(
    outages: Sequence[NodeOutage], capacity: Ints, unit_node: Ints, unit_start_s: Ints, unit_end_s: Ints, amount: Ints
) -> ClosedRoom:
    """What units of started work, with their nodes, times and amounts, leave of the nodes during outages."""
    pieces = []
    for node in sorted({outage.node for outage in outages}):
        own = [(max(0, outage.start_s), outage.end_s) for outage in outages if outage.node == node and outage.end_s > 0]
        here = unit_node == node
        starts, ends, taken = unit_start_s[here], unit_end_s[here], amount[here]
        edges = np.unique(np.concatenate([*own, starts, ends]).astype(np.int64)) if own else np.zeros(0, np.int64)
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if any(first <= start and end <= last for first, last in own):
                inside = (starts < end) & (ends > start)
                left = np.maximum(0, capacity[node] - taken[inside].sum(axis=0))
                pieces.append((node, start, end, left, not inside.any()))
    return ClosedRoom(
        node=np.array([piece[0] for piece in pieces], dtype=np.int64),
        start_s=np.array([piece[1] for piece in pieces], dtype=np.int64),
        end_s=np.array([piece[2] for piece in pieces], dtype=np.int64),
        amount=np.array([piece[3] for piece in pieces], dtype=np.int64).reshape(len(pieces), capacity.shape[1]),
        is_empty=np.array([piece[4] for piece in pieces], dtype=np.bool_),
    )
