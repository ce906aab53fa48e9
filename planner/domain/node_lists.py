"""Nodes as text: by name as in lists of Slurm, ``node[01-03,07],gpu1``, and by number those of the units of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, product

from planner import limits
from planner.domain.cluster import Cluster
from planner.errors import InputError
from planner.printable import one_line, shortened

LONGEST_NAME = 255
"""Characters of a name outside of brackets; DNS allows no more."""

MOST_PIECES = 16
"""Of a name: brackets, and what stands between them."""

_PIECE = re.compile(r"([^\[\],\s]+)|\[([^\[\]]*)\]")
_RANGE = re.compile(r"\s*(\d{1,18})(?:-(\d{1,18}))?\s*", re.ASCII)

Ranges = list[tuple[int, int, int]]
"""First, last and digits of each range of a bracket."""


def parse_node_list(text: str, cluster: Cluster) -> tuple[int, ...]:
    """Numbers of the nodes of a list, sorted.

    InputError when the text cannot be read, or names a node twice or one that the cluster does not have.
    """
    nodes: set[int] = set()
    for name in expanded(text, cluster.node_count):
        node = cluster.node_number(name)
        if node in nodes:
            raise InputError(f"node {name} is named twice; name it once")
        nodes.add(node)
    return tuple(sorted(nodes))


def expanded(text: str, most: int = int(limits.NODES.high)) -> tuple[str, ...]:
    """The names in a list, as Slurm counts them: ``r[1-2]n[1-2]`` is r1n1, r1n2, r2n1, r2n2.

    InputError where it cannot be read, or stands for more than ``most``: a short text may fill the memory.
    """
    names: list[str] = []
    position = 0
    while position <= len(text):
        pieces, position = _host(text, position)
        count = 1
        for piece in pieces:
            count *= sum(last - first + 1 for first, last, _ in piece) if isinstance(piece, list) else 1
            if len(names) + count > most:
                raise InputError(f"'{one_line(text, 60)}' names more than {most:,} nodes; give a shorter list")
        names += ["".join(parts) for parts in product(*(_written(piece) for piece in pieces))]
    return tuple(names)


def _host(text: str, start: int) -> tuple[list[str | Ranges], int]:
    """The pieces of the name at a position, of which plain text comes first, and where the next one begins."""
    pieces: list[str | Ranges] = []
    first = position = _behind_spaces(text, start)
    while len(pieces) < MOST_PIECES and (match := _PIECE.match(text, position)) is not None:
        pieces.append(_ranges(match[2], text) if match[1] is None else match[1])
        position = match.end()
    end = _behind_spaces(text, position)
    if not pieces or not isinstance(pieces[0], str) or text[end : end + 1] not in ("", ","):
        raise _unreadable(text)
    if sum(len(piece) for piece in pieces if isinstance(piece, str)) > LONGEST_NAME:
        raise InputError(f"'{one_line(text[first:position], 60)}' is too long for the name of a node")
    return pieces, end + 1


def _behind_spaces(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _ranges(inside: str, text: str) -> Ranges:
    found: Ranges = []
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise _unreadable(text)
        found.append((int(match[1]), int(match[2] or match[1]), len(match[1])))
    return found


def _written(piece: str | Ranges) -> list[str]:
    if isinstance(piece, str):
        return [piece]
    return [f"{number:0{digits}d}" for first, last, digits in piece for number in range(first, last + 1)]


def _unreadable(text: str) -> InputError:
    return InputError(f"cannot read '{one_line(text, 60)}' as nodes; write cpu[001-004,007] or cpu001,cpu002")


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
