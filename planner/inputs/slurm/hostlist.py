"""Lists of hosts as Slurm writes them: ``node[01-03,07],gpu1,rack[1-2]n[01-04]``; leading zeros are kept."""

from __future__ import annotations

import re
from itertools import product

from planner.errors import InputError
from planner.printable import one_line

MOST_HOSTS = 100_000
"""Names that one list may stand for."""
LONGEST_NAME = 255
"""Characters of a name outside of brackets; DNS allows no more."""
MOST_PIECES = 16
"""Of a name: brackets, and what stands between them."""

_PIECE = re.compile(r"([^\[\],\s]+)|\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
Ranges = list[tuple[int, int, int]]
"""First, last and digits of each range of a bracket."""


def expand(text: str) -> tuple[str, ...]:
    """The names that a list stands for, in its order; InputError where it cannot be read, or stands for too many."""
    names: list[str] = []
    position = 0
    while position < len(text):
        pieces, position = _host(text, position)
        count = 1
        for piece in pieces:
            count *= sum(last - first + 1 for first, last, _ in piece) if isinstance(piece, list) else 1
            if len(names) + count > MOST_HOSTS:
                raise InputError(f"'{one_line(text, 60)}' names more than {MOST_HOSTS:,} hosts; give a shorter list")
        names += ["".join(parts) for parts in product(*(_written(piece) for piece in pieces))]
    return tuple(names)


def _host(text: str, start: int) -> tuple[list[str | Ranges], int]:
    """The pieces of the host at a position, and where the next one starts."""
    pieces: list[str | Ranges] = []
    position = start
    while len(pieces) < MOST_PIECES and (match := _PIECE.match(text, position)) is not None:
        pieces.append(_ranges(match[2], text) if match[1] is None else match[1])
        position = match.end()
    rest = text[position : position + 1]
    # A bracket with nothing before it is no name; neither is what stands after a comma at the end.
    if not pieces or not isinstance(pieces[0], str) or rest not in ("", ",") or position + 1 == len(text):
        raise _unreadable(text)
    if sum(len(piece) for piece in pieces if isinstance(piece, str)) > LONGEST_NAME:
        raise InputError(f"'{one_line(text[start:position], 60)}' is too long for the name of a host")
    return pieces, position + 1


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
    return InputError(f"'{one_line(text, 60)}' is no list of hosts; expected text such as node[01-03,07],gpu1")
