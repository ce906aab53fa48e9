"""How far a profit is below what no schedule can exceed: as a share, or in money where a share says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

LARGEST_GAP = 0.5
"""A larger share of the limit is told in money: on a nearly idle day it is a share of next to nothing."""


def is_share(gap: float) -> bool:
    """Whether a gap is told as a share of the limit."""
    return gap <= LARGEST_GAP


def distance(limit_eur: float, gap: float, money: Callable[[float], str], space: str = " ") -> str:
    """How far below a limit above 0 a profit is; shares are rounded up, so that the words never claim too much."""
    if is_share(gap):
        return f"{math.ceil(1e4 * gap - 1e-6) / 100:g}{space}%"
    return money(gap * limit_eur)
