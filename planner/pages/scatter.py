"""A figure of points with their names, some joined by lines; each shows its numbers when pointed at."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.pages.charts import WIDTH, round_ticks, still
from planner.pages.markup import Html, el, legend

HEIGHT = 560
LEFT, RIGHT, TOP, BOTTOM = 86, 88, 16, 58
SIZE = 6.5


@dataclass(frozen=True)
class Point:
    """A point with its name and what is shown when it is pointed at; a ``ring`` is not filled."""

    name: str
    x: float
    y: float
    about: str
    colour: str
    ring: bool = False


@dataclass(frozen=True)
class Series:
    """Points that belong together, with a name for the legend; ``joined`` by a line, ``dashed`` or not."""

    name: str
    colour: str
    points: Sequence[Point]
    joined: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, how a number on it is written, and in which unit its round numbers are."""

    title: str
    write: Callable[[float], str]
    unit: float = 1.0


def scatter(title: str, series: Sequence[Series], across: Axis, up: Axis, *, beside: Axis, name: str) -> Html:
    """Series of points; the axis ``beside``, at the right, has the same scale as the one ``up`` in other words."""
    points = [point for each in series for point in each.points]
    x_of, low_x, high_x = _scale([p.x for p in points], LEFT, WIDTH - RIGHT)
    y_of, low_y, high_y = _scale([p.y for p in points], HEIGHT - BOTTOM, TOP)
    x_ticks = _ticks(across, low_x, high_x)
    y_ticks, beside_ticks = _ticks(up, low_y, high_y), _ticks(beside, low_y, high_y)
    parts: list[Html] = [
        *(_line(x_of(tick), TOP, x_of(tick), HEIGHT - BOTTOM, _kind(tick)) for tick in x_ticks),
        *(_line(LEFT, y_of(tick), WIDTH - RIGHT, y_of(tick), _kind(tick)) for tick in y_ticks),
        *(_text(across.write(tick), x_of(tick), HEIGHT - BOTTOM + 20, "middle") for tick in x_ticks),
        *(_text(up.write(tick), LEFT - 8, y_of(tick) + 4, "end") for tick in y_ticks),
        *(_text(beside.write(tick), WIDTH - RIGHT + 8, y_of(tick) + 4, "start") for tick in beside_ticks),
        _text(across.title, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "middle"),
        _turned(up.title, 16),
        _turned(beside.title, WIDTH - 6),
    ]
    labels = Labels((LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM))
    placed = [(point, x_of(point.x), y_of(point.y)) for point in points]
    for _, x, y in placed:
        labels.keep_clear(x, y, SIZE)
    for each in series:
        if each.joined and len(each.points) > 1:
            corners = [(x_of(p.x), y_of(p.y)) for p in each.points]
            for begin, end in pairwise(corners):
                labels.keep_line_clear(begin, end)
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
            dash = "6 5" if each.dashed else None
            style = f"fill:none;stroke:var(--{each.colour});stroke-width:2"
            parts.append(el("polyline", points=path, style=style, stroke_dasharray=dash))
    for point, x, y in placed:
        colour, about = f"var(--{point.colour})", el("title", point.about)
        style = f"fill:{colour};stroke:var(--ground);stroke-width:1"
        if point.ring:
            style = f"fill:var(--ground);stroke:{colour};stroke-width:2.5"
        radius = SIZE - point.ring
        parts.append(el("circle", about, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius}", style=style, class_="point"))
    for point, x, y in placed:
        spot = labels.place(x, y, point.name)
        if spot.is_far:
            parts.append(_line(x, y, spot.x, spot.near_y, "lead"))
        parts.append(_text(point.name, spot.x, spot.y, spot.anchor, "name"))
    signs = [None if not each.joined else "dash" if each.dashed else "thin" for each in series]
    marks = legend((each.colour, each.name, sign) for each, sign in zip(series, signs, strict=True))
    aloud = f"{title}. " + "; ".join(point.about for point in points)
    return still(title, marks, parts, (WIDTH, HEIGHT), aloud, name)


def _ticks(axis: Axis, low: float, high: float) -> list[float]:
    return [axis.unit * tick for tick in round_ticks(low / axis.unit, high / axis.unit)]


def _scale(values: Sequence[float], begin: float, end: float) -> tuple[Callable[[float], float], float, float]:
    """Where a value stands between two edges of the figure, and the values at these edges, zero between them."""
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    pad = (high - low) * 0.07 or 1.0
    low, high = low - pad, high + pad

    def at(value: float) -> float:
        return begin + (end - begin) * (value - low) / (high - low)

    return at, low, high


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return el("line", class_=kind, **ends)


def _kind(tick: float) -> str:
    return "zero" if tick == 0 else "grid"


def _text(text: str, x: float, y: float, anchor: str, kind: str | None = None) -> Html:
    return el("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


def _turned(text: str, x: float) -> Html:
    y = (TOP + HEIGHT - BOTTOM) / 2
    return el("text", text, transform=f"translate({x:.1f} {y:.1f}) rotate(-90)", text_anchor="middle")


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
    """Where a name goes; ``near_y`` is the height of the end of a line to its point, which it needs when it is far."""

    x: float
    y: float
    anchor: str
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
    return Spot(x, top + 0.75 * LINE, anchor, y, is_far), (left, top, left + width, top + LINE)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
