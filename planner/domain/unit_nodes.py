"""The nodes of each unit of a job as text: ``0-3 7*2`` is a unit on each of nodes 0 to 3 and two on node 7."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from planner import limits
from planner.errors import InputError
from planner.printable import shortened

_PART = re.compile(r"(\d{1,12})(?:\*(\d{1,12})|-(\d{1,12}))?", re.ASCII)


def format_unit_nodes(nodes: Sequence[int]) -> str:
    """Nodes in the order of the units."""
    counted = [(node, len(list(same))) for node, same in groupby(nodes)]
    parts: list[str] = []
    position = 0
    while position < len(counted):
        node, copies = counted[position]
        if copies > 1:
            parts.append(f"{node}*{copies}")
            position += 1
            continue
        last = position
        while last + 1 < len(counted) and counted[last + 1] == (counted[last][0] + 1, 1):
            last += 1
        parts.append(f"{node}-{counted[last][0]}" if last > position else str(node))
        position = last + 1
    return " ".join(parts)


def parse_unit_nodes(text: str) -> tuple[int, ...]:
    """The nodes of such a text, one per unit; InputError when they are more than a job may have."""
    nodes: list[int] = []
    for part in text.split():
        match = _PART.fullmatch(part)
        if match is None:
            raise InputError(f"cannot read '{shortened(text, 60)}' as nodes; expected text such as 0-3 7*2")
        node, copies, last = int(match[1]), int(match[2] or 1), int(match[3] or match[1])
        limits.UNITS.require("the number of unit_nodes", len(nodes) + max(copies, last - node + 1))
        nodes += [node] * copies if match[2] else range(node, last + 1)
    return tuple(nodes)
