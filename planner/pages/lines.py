"""A figure of curves that stands still: each curve has a name and a colour in the legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.pages.markup import Html, el
from planner.pages.svg import WIDTH, round_ticks

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 70, 24, 12, 46


@dataclass(frozen=True)
class Line:
    """A curve: its name, its colour, its points, and whether it is dashed."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


@dataclass(frozen=True)
class Scale:
    """Where values stand, as a part of the whole from its low to its high end, and the numbers that are written."""

    part: Callable[[float], float]
    ticks: Sequence[float]


def from_zero(values: Sequence[float], beyond: float = 1.0) -> Scale:
    """A plain scale from zero, or the least value below it, to the largest value, or so many times as far."""
    low = min([0.0, *values]) * beyond
    high = max([0.0, *values]) * beyond or (0.0 if low else 1.0)
    return Scale(lambda value: (value - low) / (high - low), round_ticks(low, high))


def between(values: Sequence[float]) -> Scale:
    """A plain scale from the least value to the largest."""
    low = min(values, default=0.0)
    high = max([low, *values]) if max(values, default=low) > low else low + 1.0
    return Scale(lambda value: (value - low) / (high - low), round_ticks(low, high))


def by_tens(values: Sequence[float]) -> Scale:
    """A scale from one power of ten to another, each with as much room, for values above zero."""
    low = math.floor(math.log10(min(values, default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=1.0))))
    return Scale(lambda value: (math.log10(value) - low) / (high - low), [10.0**k for k in range(low, high + 1)])


def by_factors(values: Sequence[float]) -> Scale:
    """A scale from the least value to the largest on which equal factors take as much room; all values are written."""
    ticks = sorted(set(values)) or [1.0]
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    return Scale(lambda value: (math.log(value) - low) / (high - low or 1.0), ticks)


def lines(
    title: str,
    curves: Sequence[Line],
    *,
    across: str,
    up: str,
    tenfold: bool = False,
    width: int = WIDTH,
    mark: float | None = None,
    at_end: bool = False,
    from_least: bool = False,
) -> Html:
    """Curves over one scale each way, both from zero; ``tenfold``: by factors, powers of ten at the left.

    ``from_least``: the scale across begins with the least value instead of zero. ``mark`` has a line from top to
    bottom, where the scale goes as far. Read aloud are means, or ends if ``at_end``.
    """
    xs, ys = ([point[side] for each in curves for point in each.points] for side in (0, 1))
    plain = between(xs) if from_least else from_zero(xs)
    wide, high = (by_factors(xs), by_tens(ys)) if tenfold else (plain, from_zero(ys, 1.05))

    def x_of(value: float) -> float:
        return LEFT + (width - LEFT - RIGHT) * wide.part(value)

    def y_of(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - high.part(value))

    parts: list[Html] = []
    for tick in high.ticks:
        y = f"{y_of(tick):.1f}"
        kind = "zero" if tick == 0 and min(ys, default=0) < 0 else "grid"
        parts.append(el("line", class_=kind, x1=LEFT, x2=width - RIGHT, y1=y, y2=y))
        parts.append(el("text", f"{tick:,g}", x=LEFT - 8, y=f"{y_of(tick) + 4:.1f}", text_anchor="end"))
    for tick in wide.ticks:
        parts.append(el("text", f"{tick:,g}", x=f"{x_of(tick):.1f}", y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    parts.append(el("text", across, x=(LEFT + width - RIGHT) // 2, y=HEIGHT - 6, text_anchor="middle"))
    middle = (TOP + HEIGHT - BOTTOM) // 2
    parts.append(el("text", up, x=16, y=middle, text_anchor="middle", transform=f"rotate(-90 16 {middle})"))
    if mark is not None and xs and mark <= max(xs):
        x = f"{x_of(mark):.1f}"
        parts.append(el("line", class_="lead", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM))
    for each in curves:
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in each.points)
        style = f"fill:none;stroke:var(--{each.colour});stroke-width:1.8"
        style += ";stroke-dasharray:6 4" if each.dashed else ""
        parts.append(el("polyline", el("title", each.name), points=path, style=style))
    said = ", ".join(_aloud(each, at_end=at_end) for each in curves)
    drawing = el("svg", parts, viewBox=f"0 0 {width} {HEIGHT}", role="img", aria_label=f"{title}: {said}")
    entries = [
        el("span", el("i", style=f"--c:var(--{each.colour})", class_="dash" if each.dashed else "thin"), each.name)
        for each in curves
    ]
    legend = el("span", entries, class_="legend")
    return el("figure", el("figcaption", title, legend), el("div", drawing, class_="still", tabindex=0))


def _aloud(line: Line, *, at_end: bool) -> str:
    if at_end:
        return f"{line.name} {line.points[-1][1]:,.1f} at the end"
    return f"{line.name} {sum(y for _, y in line.points) / len(line.points):.1f} on average"
