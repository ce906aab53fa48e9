"""Small figures that stand still, as SVG: strips of points and bars; each mark shows its number when pointed at."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.pages.markup import Html, el

WIDTH = 1000
TICKS = 6
"""Numbers below a strip at most, so that they stand apart on a phone."""


def strip(
    title: str, rows: Sequence[tuple[str, str, Sequence[tuple[str, float]]]], digits: int = 3, name: str | None = None
) -> Html:
    """Points on a line for each row of (label, colour, points of (word, value)), with a bar at the median.

    Places are parts of the width, so that the strip fits any window; on a narrow one the labels stand above the lines.
    """
    values = [value for _, _, points in rows for _, value in points]
    low, high = min(values, default=0.0), max(values, default=1.0)
    pad = (high - low) * 0.05 or max(abs(high) * 0.02, 0.01)
    low, high = low - pad, high + pad

    def at(value: float) -> str:
        return f"{2 + 96 * (value - low) / (high - low):.2f}%"

    ticks = round_ticks(low, high)
    ticks = ticks[:: math.ceil(len(ticks) / TICKS)]
    lines = [el("line", class_="grid", x1=at(tick), x2=at(tick), y1="0%", y2="100%") for tick in ticks]
    parts: list[Html] = []
    for label, colour, points in rows:
        marks = [
            el(
                "circle",
                el("title", f"{word}: {value:.{digits}f}"),
                cx=at(value),
                cy="50%",
                r=5,
                style=f"fill:var(--{colour})",
                fill_opacity="0.75",
            )
            for word, value in points
        ]
        ordered = sorted(value for _, value in points)
        if ordered:
            half = at((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)
            marks.append(el("line", class_="median", x1=half, x2=half, y1="10%", y2="90%"))
        aloud = f"{label}: " + ", ".join(f"{word} {value:.{digits}f}" for word, value in points)
        parts += [el("span", label), el("svg", lines, marks, role="img", aria_label=aloud)]
    numbers = [el("text", f"{tick:g}", x=at(tick), y=13, text_anchor="middle") for tick in ticks]
    parts += [el("span", class_="corner"), el("svg", numbers, class_="scale", aria_hidden="true")]
    return el("figure", el("figcaption", title), el("div", parts, class_="strip"), id=name)


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
