"""Small figures that stand still, as SVG: strips of points and bars; each mark shows its number when pointed at."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.pages.markup import Html, el

WIDTH = 1000
ROW = 34
LEFT = 210
"""Room for the labels at the left of a strip."""


def strip(
    title: str, rows: Sequence[tuple[str, str, Sequence[tuple[str, float]]]], digits: int = 3, name: str | None = None
) -> Html:
    """Points on a line for each row of (label, colour, points of (word, value)), with a bar at the median."""
    values = [value for _, _, points in rows for _, value in points]
    low, high = min(values, default=0.0), max(values, default=1.0)
    pad = (high - low) * 0.05 or max(abs(high) * 0.02, 0.01)
    low, high = low - pad, high + pad
    height = ROW * len(rows) + 26

    def at(value: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - 20) * (value - low) / (high - low):.1f}"

    parts: list[Html] = []
    for tick in round_ticks(low, high):
        parts.append(el("line", class_="grid", x1=at(tick), x2=at(tick), y1=0, y2=height - 22))
        parts.append(el("text", f"{tick:g}", x=at(tick), y=height - 6, text_anchor="middle"))
    for index, (label, colour, points) in enumerate(rows):
        middle = ROW * index + ROW // 2
        parts.append(el("text", label, x=0, y=middle + 4))
        for word, value in points:
            mark = el("title", f"{word}: {value:.{digits}f}")
            parts.append(
                el("circle", mark, cx=at(value), cy=middle, r=5, style=f"fill:var(--{colour})", fill_opacity="0.75")
            )
        ordered = sorted(value for _, value in points)
        if ordered:
            half = at((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)
            parts.append(el("line", class_="median", x1=half, x2=half, y1=middle - 12, y2=middle + 12))
    drawing = el("svg", parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=title)
    return el("figure", el("figcaption", title), el("div", drawing, class_="still", tabindex=0), id=name)


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values, four to nine of them."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    first = math.ceil(low / step)
    return [round(k * step, 12) for k in range(first, math.floor(high / step) + 1)]


def bars(title: str, rows: Sequence[tuple[str, str, float, str]], low: float, high: float) -> Html:
    """A small chart of bars from zero, one a row of (label, colour, value, text), on a scale that others share."""
    span = (high - low) or 1.0
    zero = 100 * -low / span
    parts: list[Html] = []
    for index, (label, colour, value, text) in enumerate(rows):
        width = 100 * abs(value) / span
        start = zero if value >= 0 else zero - width
        mark = el("title", f"{label}: {text}")
        parts.append(
            el(
                "rect",
                mark,
                x=f"{start:.2f}%",
                y=index * 16 + 2,
                width=f"{width:.2f}%",
                height=12,
                style=f"fill:var(--{colour})",
            )
        )
    aloud = f"{title}: " + ", ".join(f"{label} {text}" for label, _, _, text in rows)
    drawing = el("svg", parts, style=f"height:{16 * len(rows) + 2}px", role="img", aria_label=aloud)
    return el("figure", el("figcaption", title), el("div", drawing, class_="still"), class_="mini")
