"""A figure of lines with marks: each line has a name at its left, each mark shows its number when pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.pages.markup import Html, el
from planner.pages.svg import WIDTH, round_ticks

ROW, LEFT, RIGHT, BOTTOM, SIZE = 22, 250, 24, 24, 5.5


@dataclass(frozen=True)
class Dot:
    """A mark: what it stands for, its value, colour and shape (``circle``, ``ring`` or ``diamond``)."""

    word: str
    value: float
    colour: str
    shape: str = "circle"


def dots(title: str, rows: Sequence[tuple[str, Sequence[Dot]]], *, middle: float, most: float) -> Html:
    """Lines of marks on one scale from zero, with a line at ``middle``; marks beyond ``most`` stand at the edge."""
    values = [min(dot.value, most) for _, marks in rows for dot in marks]
    high = max([*values, middle]) * 1.05
    height = ROW * len(rows) + BOTTOM

    def at(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(value, high) / high

    parts: list[Html] = []
    for tick in round_ticks(0.0, high):
        kind = "median" if tick == middle else "grid"
        parts.append(el("line", class_=kind, x1=f"{at(tick):.1f}", x2=f"{at(tick):.1f}", y1=0, y2=height - BOTTOM))
        parts.append(el("text", f"{tick:g}", x=f"{at(tick):.1f}", y=height - 6, text_anchor="middle"))
    for index, (label, marks) in enumerate(rows):
        y = ROW * index + ROW // 2
        parts.append(el("text", label, x=0, y=y + 4))
        parts += [_mark(label, dot, at(min(dot.value, most)), y) for dot in marks]
    aloud = f"{title}: " + "; ".join(f"{label} {_values(marks)}" for label, marks in rows)
    drawing = el("svg", parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=aloud)
    return el("figure", el("figcaption", title, _legend(rows)), el("div", drawing, class_="still", tabindex=0))


def _values(marks: Sequence[Dot]) -> str:
    return ", ".join(f"{dot.word} {dot.value:.1f}" for dot in marks)


def _mark(label: str, dot: Dot, x: float, y: int) -> Html:
    about = el("title", f"{label}, {dot.word}: {dot.value:.1f}")
    colour = f"var(--{dot.colour})"
    if dot.shape == "diamond":
        far = SIZE + 1
        corners = f"{x:.1f},{y - far} {x + far:.1f},{y} {x:.1f},{y + far} {x - far:.1f},{y}"
        return el("polygon", about, points=corners, style=f"fill:none;stroke:{colour};stroke-width:2")
    fill = "none" if dot.shape == "ring" else colour
    style = f"fill:{fill};stroke:{colour};stroke-width:2;fill-opacity:0.8"
    return el("circle", about, cx=f"{x:.1f}", cy=y, r=f"{SIZE - 1}", style=style)


def _legend(rows: Sequence[tuple[str, Sequence[Dot]]]) -> Html:
    """What the marks stand for, each once."""
    seen = {dot.word: dot for _, marks in rows for dot in marks}
    entries = [
        el("span", el("i", style=f"--c:var(--{dot.colour})", class_="hollow" if dot.shape != "circle" else None), word)
        for word, dot in seen.items()
    ]
    return el("span", entries, class_="legend")
