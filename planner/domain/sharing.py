"""Jobs that meet on a node although one of them has its nodes for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Stay(NamedTuple):
    """A job on a node from a start until an end; ``exclusive`` says that nobody else may be there."""

    node: int
    start: int
    end: int
    job: str
    exclusive: bool


def meetings(stays: Iterable[Stay]) -> list[tuple[Stay, Stay]]:
    """Stays that begin while another goes on, with that other one, where one of them is exclusive.

    Of each stay one meeting is enough, with who stays longest. A job is on a node once, with however many units.
    """
    found = []
    longest: dict[tuple[int, bool], Stay] = {}
    for stay in sorted(set(stays)):
        for alone in (False, True):
            before = longest.get((stay.node, alone))
            if before is not None and before.end > stay.start and (alone or stay.exclusive):
                found.append((before, stay))
                break
        for alone in (False, True) if stay.exclusive else (False,):
            before = longest.get((stay.node, alone))
            if before is None or before.end < stay.end:
                longest[stay.node, alone] = stay
    return found
