"""Mean power over a day as one SVG that stands by itself: for scripts and notebooks, which have no style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.pages.markup import Html, el
from planner.pages.svg import round_ticks

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 320, 60, 20, 40, 40
_COLOURS = ("#1f6fb2", "#d9822b", "#4a8a4a", "#8a5aa8")


def power_svg(title: str, edges_h: Sequence[float], curves: Mapping[str, Sequence[float]]) -> str:
    """Curves of power [kW] that hold from one edge [h] to the next, one value fewer than there are edges."""
    highest = max((value for values in curves.values() for value in values), default=0.0) * 1.05 or 1.0
    first, last = edges_h[0], edges_h[-1]

    def across(hour: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (hour - first) / (last - first)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest

    parts: list[Html] = [el("title", title), el("text", title, x=LEFT, y=20, font_weight="bold")]
    for tick in round_ticks(0.0, highest):
        y = f"{up(tick):.1f}"
        parts.append(el("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, stroke="#ccc"))
        parts.append(el("text", f"{tick:g}", x=LEFT - 8, y=f"{up(tick) + 4:.1f}", text_anchor="end"))
    for hour in range(int(first), int(last) + 1, 4):
        parts.append(el("text", f"{hour} h", x=f"{across(hour):.1f}", y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    parts.append(el("text", "kW", x=LEFT - 8, y=TOP - 8, text_anchor="end"))
    for index, (name, values) in enumerate(curves.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        points = [
            f"{across(hour):.1f},{up(value):.1f}"
            for start, end, value in zip(edges_h[:-1], edges_h[1:], values, strict=True)
            for hour in (start, end)
        ]
        parts.append(el("polyline", points=" ".join(points), fill="none", stroke=colour, stroke_width=2))
        parts.append(
            el("text", name, x=WIDTH - RIGHT - 90 * (len(curves) - index) + 90, y=20, fill=colour, text_anchor="end")
        )
    drawing = el(
        "svg",
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        font_family="sans-serif",
        font_size=13,
    )
    return f"{drawing}\n"
