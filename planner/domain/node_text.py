"""Nodes as text: those of each unit, ``0-3 7*2``, and those of a job by name, ``cpu[001-004,007]``, as Slurm has them.

``0-3 7*2`` is a unit on each of nodes 0 to 3 and two on node 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, product

from planner import limits
from planner.domain.cluster import Cluster
from planner.errors import InputError
from planner.printable import shortened

_NAMES = re.compile(r"\s*([^\s,\[\]]+(?:\[[^\[\]]*\][^\s,\[\]]*)*)\s*(?:,|$)")
_PIECE = re.compile(r"([^\[\]]+)|\[([^\[\]]*)\]")
_NUMBERS = re.compile(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", re.ASCII)
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


def parse_node_list(text: str, cluster: Cluster) -> tuple[int, ...]:
    """Numbers of the nodes that a text names, sorted: ``cpu[001-004,007]``, or names with commas between them.

    InputError when the text cannot be read, or names a node twice or one that the cluster does not have.
    """
    nodes: set[int] = set()
    for name in expanded(text, cluster.node_count):
        node = cluster.node_number(name)
        if node in nodes:
            raise InputError(f"node {name} is named twice; name it once")
        nodes.add(node)
    return tuple(sorted(nodes))


def expanded(text: str, most: int) -> Iterator[str]:
    """The names in a list one by one, as Slurm counts them: ``r[1-2]n[1-2]`` is r1n1, r1n2, r2n1, r2n2.

    No part of a list may stand for more nodes than there are.
    """
    position = 0
    while position < len(text) or not position:
        match = _NAMES.match(text, position)
        if match is None:
            raise _unreadable(text)
        position = match.end()
        pieces: list[list[str]] = []
        count = 1
        for plain, inside in _PIECE.findall(match[1]):
            ranges = [] if plain else [_range(part, text) for part in inside.split(",")]
            count *= sum(last - first + 1 for first, last, _ in ranges) if ranges else 1
            if count > most:
                raise InputError(f"'{shortened(text, 60)}' names more nodes than the {most:,} of the machine")
            numbers = [f"{number:0{width}d}" for first, last, width in ranges for number in range(first, last + 1)]
            pieces.append(numbers or [plain])
        yield from map("".join, product(*pieces))


def _range(part: str, text: str) -> tuple[int, int, int]:
    """First and last number, and how many digits they have at least."""
    numbers = _NUMBERS.fullmatch(part)
    if numbers is None or int(numbers[2] or numbers[1]) < int(numbers[1]):
        raise _unreadable(text)
    return int(numbers[1]), int(numbers[2] or numbers[1]), len(numbers[1])


def _unreadable(text: str) -> InputError:
    return InputError(f"cannot read '{shortened(text, 60)}' as nodes; write cpu[001-004,007] or cpu001,cpu002")
