"""A figure of bars in groups: each group has a name at its left, each bar its number at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.pages.markup import Html, el
from planner.pages.svg import WIDTH, round_ticks

BAR, GAP, LEFT, RIGHT, BOTTOM = 14, 8, 130, 110, 24


@dataclass(frozen=True)
class Bar:
    """A bar: what it stands for, its value and the text of it, and its colour; without a value there is only text."""

    word: str
    value: float | None
    text: str
    colour: str


def bar_groups(title: str, groups: Sequence[tuple[str, Sequence[Bar]]]) -> Html:
    """Groups of bars on one scale from zero."""
    values = [bar.value for _, bars in groups for bar in bars if bar.value is not None]
    high = max(values, default=1.0) * 1.02 or 1.0
    height = sum(BAR * len(bars) + GAP for _, bars in groups) + BOTTOM

    def at(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / high

    parts: list[Html] = []
    for tick in round_ticks(0.0, high):
        x = f"{at(tick):.1f}"
        parts.append(el("line", class_="grid", x1=x, x2=x, y1=0, y2=height - BOTTOM))
        parts.append(el("text", f"{tick:,g}", x=x, y=height - 6, text_anchor="middle"))
    top = GAP // 2
    for label, bars in groups:
        parts.append(el("text", label, x=0, y=top + BAR * len(bars) // 2 + 4))
        for bar in bars:
            parts += _bar(label, bar, at(bar.value or 0.0), top)
            top += BAR
        top += GAP
    said = "; ".join(f"{label} {', '.join(f'{bar.word} {bar.text}' for bar in bars)}" for label, bars in groups)
    drawing = el("svg", parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=f"{title}: {said}")
    return el("figure", el("figcaption", title, _legend(groups)), el("div", drawing, class_="still", tabindex=0))


def _bar(label: str, bar: Bar, end: float, top: int) -> list[Html]:
    about = el("title", f"{label}, {bar.word}: {bar.text}")
    style = f"fill:var(--{bar.colour})"
    shape = el("rect", about, x=LEFT, y=top + 1, width=f"{end - LEFT:.1f}", height=BAR - 3, style=style)
    return [shape, el("text", bar.text, x=f"{end + 5:.1f}", y=top + BAR - 3)]


def _legend(groups: Sequence[tuple[str, Sequence[Bar]]]) -> Html:
    """What the colours stand for, each once."""
    colours = {bar.word: bar.colour for _, bars in groups for bar in bars}
    entries = [el("span", el("i", style=f"--c:var(--{colour})"), word) for word, colour in colours.items()]
    return el("span", entries, class_="legend")
