"""Names beside points of a figure, put where they cover neither each other nor a point."""

from __future__ import annotations

import math
from dataclasses import dataclass

LETTER, LINE = 7.0, 15.0
"""About as wide as a letter of 13 px is, and as high as a line of them."""
NEAR = 11.0
LINE_STEP = 6.0
RINGS = (NEAR, 24.0, 40.0, 58.0, 78.0, 100.0, 124.0)
"""How far from its point a name is tried, the nearest first."""
WAYS = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (0.8, 0.8), (-0.8, -0.8), (-0.8, 0.8))
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True)
class Spot:
    """Where a name goes; ``near_x``, ``near_y`` is the end of a line to its point, which it needs when it is far."""

    x: float
    y: float
    anchor: str
    near_x: float
    near_y: float
    is_far: bool


class Labels:
    """Places names one after the other inside a frame."""

    def __init__(self, frame: Box) -> None:
        self._frame = frame
        self._taken: list[Box] = []

    def keep_clear(self, x: float, y: float, radius: float) -> None:
        """No name may cover this."""
        self._taken.append((x - radius, y - radius, x + radius, y + radius))

    def keep_line_clear(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """No name may cover the line between two places."""
        steps = max(1, round(math.dist(begin, end) / LINE_STEP))
        for step in range(steps + 1):
            part = step / steps
            self.keep_clear(begin[0] + part * (end[0] - begin[0]), begin[1] + part * (end[1] - begin[1]), 1.0)

    def place(self, x: float, y: float, text: str) -> Spot:
        """The nearest free place for a name beside a point; over others where there is none."""
        width = LETTER * len(text)
        for ring in RINGS:
            for right, down in WAYS:
                spot, box = _at(x + ring * right, y + ring * down, right, down, width, is_far=ring > NEAR)
                if self._is_free(box):
                    self._taken.append(box)
                    return spot
        return _at(x + NEAR, y, 1, 0, width, is_far=False)[0]

    def _is_free(self, box: Box) -> bool:
        left, top, right, bottom = self._frame
        inside = box[0] >= left and box[1] >= top and box[2] <= right and box[3] <= bottom
        return inside and not any(_overlap(box, other) for other in self._taken)


def _at(x: float, y: float, right: float, down: float, width: float, *, is_far: bool) -> tuple[Spot, Box]:
    """A name that touches a place with the side that looks at its point."""
    anchor = "start" if right > 0 else "end" if right < 0 else "middle"
    left = x if right > 0 else x - width if right < 0 else x - width / 2
    top = y - LINE if down < 0 else y if down > 0 else y - LINE / 2
    return Spot(x, top + 0.75 * LINE, anchor, x, y, is_far), (left, top, left + width, top + LINE)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
