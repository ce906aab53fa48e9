"""A figure of curves that stands still: each curve has a name and a colour in the legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.pages.markup import Html, el
from planner.pages.svg import WIDTH, round_ticks

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 70, 16, 12, 46


@dataclass(frozen=True)
class Line:
    """A curve: its name, its colour, and its points."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]


def lines(title: str, curves: Sequence[Line], *, across: str, up: str) -> Html:
    """Curves over one scale each way, both from zero."""
    widest = max((x for each in curves for x, _ in each.points), default=1.0) or 1.0
    highest = max((y for each in curves for _, y in each.points), default=1.0) * 1.05 or 1.0

    def x_of(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / widest

    def y_of(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest)

    parts: list[Html] = []
    for tick in round_ticks(0.0, highest):
        y = f"{y_of(tick):.1f}"
        parts.append(el("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        parts.append(el("text", f"{tick:,g}", x=LEFT - 8, y=f"{y_of(tick) + 4:.1f}", text_anchor="end"))
    for tick in round_ticks(0.0, widest):
        parts.append(el("text", f"{tick:,g}", x=f"{x_of(tick):.1f}", y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    parts.append(el("text", across, x=(LEFT + WIDTH - RIGHT) // 2, y=HEIGHT - 6, text_anchor="middle"))
    middle = (TOP + HEIGHT - BOTTOM) // 2
    parts.append(el("text", up, x=16, y=middle, text_anchor="middle", transform=f"rotate(-90 16 {middle})"))
    for each in curves:
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in each.points)
        style = f"fill:none;stroke:var(--{each.colour});stroke-width:1.8"
        parts.append(el("polyline", el("title", each.name), points=path, style=style))
    means = ", ".join(f"{each.name} {_mean(each):.1f} on average" for each in curves)
    drawing = el("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=f"{title}: {means}")
    entries = [el("span", el("i", style=f"--c:var(--{each.colour})", class_="thin"), each.name) for each in curves]
    legend = el("span", entries, class_="legend")
    return el("figure", el("figcaption", title, legend), el("div", drawing, class_="still", tabindex=0))


def _mean(line: Line) -> float:
    return sum(y for _, y in line.points) / len(line.points)
