"""The node of each unit of a job as short text: ``0-3 7*2`` is a unit on each of nodes 0 to 3 and two on node 7."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from planner.errors import InputError


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
    """The nodes of such a text, one a unit."""
    nodes: list[int] = []
    try:
        for part in text.split():
            if "*" in part:
                node, copies = part.split("*")
                nodes += [int(node)] * int(copies)
            elif "-" in part:
                first, last = part.split("-")
                nodes += range(int(first), int(last) + 1)
            else:
                nodes.append(int(part))
    except ValueError as error:
        raise InputError(f"cannot read {text!r} as nodes; expected text such as 0-3 7*2") from error
    return tuple(nodes)
