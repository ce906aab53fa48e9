"""The node of each unit of a job as short text: ``0-3 7*2`` is a unit on each of nodes 0 to 3 and two on node 7."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from planner.errors import InputError

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


def parse_unit_nodes(text: str, most: int = 10_000_000) -> tuple[int, ...]:
    """The nodes of such a text, one a unit; InputError when they are more than ``most``."""
    nodes: list[int] = []
    for part in text.split():
        match = _PART.fullmatch(part)
        if match is None:
            shown = text if len(text) <= 60 else text[:57] + "..."
            raise InputError(f"cannot read '{shown}' as nodes; expected text such as 0-3 7*2")
        node, copies, last = int(match[1]), int(match[2] or 1), int(match[3] or match[1])
        if len(nodes) + max(copies, last - node + 1) > most:
            raise InputError(f"more than {most:,} nodes")
        nodes += [node] * copies if match[2] else range(node, last + 1)
    return tuple(nodes)
