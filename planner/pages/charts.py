"""Charts as SVG that needs no script: strips, bars, curves, rows of marks, groups of bars, and the power of a day."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planner.pages.markup import COLOURS, Html, Part, el, legend

WIDTH = 1000
DASHES = ("", "6 4", "2 3", "10 3 2 3", "14 4", "14 3 2 3 2 3")
"""How lines are drawn, so that those of one colour differ: neighbours in twos, then the next runs of the colours."""


def run_colour(index: int) -> str:
    """The colour of a run by its place."""
    return f"a{index % COLOURS}"


def run_dash(index: int) -> str:
    """How the line of a run is drawn, by its place; empty: without gaps."""
    return DASHES[(index % 2 + 2 * (index // COLOURS)) % len(DASHES)]


TICKS = 6
"""Numbers below a strip at most, so that they stand apart on a phone."""


def strip(title: str, rows: Sequence[tuple[str, str, Sequence[tuple[str, float]]]], name: str) -> Html:
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
                el("title", f"{word}: {value:.3f}"),
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
        aloud = f"{label}: " + ", ".join(f"{word} {value:.3f}" for word, value in points)
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
    """A small chart of bars from zero, one a row of (label, colour, value, text), on a scale that others share.

    Where there are more rows than colours, each has its number on it.
    """
    span = (high - low) or 1.0
    zero = 100 * -low / span
    parts: list[Html] = []
    for index, (label, colour, value, text) in enumerate(rows):
        width = 100 * abs(value) / span
        start = zero if value >= 0 else zero - width
        mark = el("title", f"{label}: {text}")
        x, y, filled = f"{start:.2f}%", index * 16 + 2, f"fill:var(--{colour})"
        parts.append(el("rect", mark, x=x, y=y, width=f"{width:.2f}%", height=12, style=filled))
        if len(rows) > COLOURS:
            parts.append(el("text", str(index + 1), class_="name", x=x, dx=3, y=y + 10))
    aloud = f"{title}: " + ", ".join(f"{label} {text}" for label, _, _, text in rows)
    drawing = el("svg", parts, style=f"height:{16 * len(rows) + 2}px", role="img", aria_label=aloud)
    return el("figure", el("figcaption", title), el("div", drawing, class_="still"), class_="mini")


@dataclass(frozen=True)
class Line:
    """A curve: its name, its colour, its points, and whether it is dashed."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


@dataclass(frozen=True)
class AxisScale:
    """Where values stand, as a part of the whole from its low to its high end, and the numbers that are written."""

    part: Callable[[float], float]
    ticks: Sequence[float]


def from_zero(values: Sequence[float], beyond: float = 1.0) -> AxisScale:
    """A plain scale from zero, or the least value below it, to the largest value, or so many times as far."""
    low = min([0.0, *values]) * beyond
    high = max([0.0, *values]) * beyond or (0.0 if low else 1.0)
    return AxisScale(lambda value: (value - low) / (high - low), round_ticks(low, high))


def between(values: Sequence[float]) -> AxisScale:
    """A plain scale from the least value to the largest."""
    low = min(values, default=0.0)
    high = max([low, *values]) if max(values, default=low) > low else low + 1.0
    return AxisScale(lambda value: (value - low) / (high - low), round_ticks(low, high))


def by_tens(values: Sequence[float]) -> AxisScale:
    """A scale from one power of ten to another, each with as much room, for values above zero."""
    low = math.floor(math.log10(min(values, default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=1.0))))
    return AxisScale(lambda value: (math.log10(value) - low) / (high - low), [10.0**k for k in range(low, high + 1)])


def by_factors(values: Sequence[float]) -> AxisScale:
    """A scale from the least value to the largest on which equal factors take as much room; all values are written."""
    ticks = sorted(set(values)) or [1.0]
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    return AxisScale(lambda value: (math.log(value) - low) / (high - low or 1.0), ticks)


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
    height, left, right, top, bottom = 300, 70, 24, 12, 46
    xs, ys = ([point[side] for each in curves for point in each.points] for side in (0, 1))
    plain = between(xs) if from_least else from_zero(xs)
    wide, high = (by_factors(xs), by_tens(ys)) if tenfold else (plain, from_zero(ys, 1.05))

    def x_of(value: float) -> float:
        return left + (width - left - right) * wide.part(value)

    def y_of(value: float) -> float:
        return top + (height - top - bottom) * (1 - high.part(value))

    parts: list[Html] = []
    for tick in high.ticks:
        y = f"{y_of(tick):.1f}"
        kind = "zero" if tick == 0 and min(ys, default=0) < 0 else "grid"
        parts.append(el("line", class_=kind, x1=left, x2=width - right, y1=y, y2=y))
        parts.append(el("text", f"{tick:,g}", x=left - 8, y=f"{y_of(tick) + 4:.1f}", text_anchor="end"))
    for tick in wide.ticks:
        parts.append(el("text", f"{tick:,g}", x=f"{x_of(tick):.1f}", y=height - bottom + 18, text_anchor="middle"))
    parts.append(el("text", across, x=(left + width - right) // 2, y=height - 6, text_anchor="middle"))
    middle = (top + height - bottom) // 2
    parts.append(el("text", up, x=16, y=middle, text_anchor="middle", transform=f"rotate(-90 16 {middle})"))
    if mark is not None and xs and mark <= max(xs):
        x = f"{x_of(mark):.1f}"
        parts.append(el("line", class_="lead", x1=x, x2=x, y1=top, y2=height - bottom))
    for each in curves:
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in each.points)
        style = f"fill:none;stroke:var(--{each.colour});stroke-width:1.8"
        style += ";stroke-dasharray:6 4" if each.dashed else ""
        parts.append(el("polyline", el("title", each.name), points=path, style=style))
    aloud = ", ".join(_aloud(each, at_end=at_end) for each in curves)
    marks = legend((each.colour, each.name, "dash" if each.dashed else "thin") for each in curves)
    return still(title, marks, parts, (width, height), f"{title}: {aloud}")


def still(
    title: str, marks: Html, parts: Sequence[Part], size: tuple[int, int], aloud: str, name: str | None = None
) -> Html:
    """A figure that needs no script, with its title, its legend, and what it shows read aloud."""
    drawing = el("svg", parts, viewBox=f"0 0 {size[0]} {size[1]}", role="img", aria_label=aloud)
    return el("figure", el("figcaption", title, marks), el("div", drawing, class_="still", tabindex=0), id=name)


def _aloud(line: Line, *, at_end: bool) -> str:
    if at_end:
        return f"{line.name} {line.points[-1][1]:,.1f} at the end"
    return f"{line.name} {sum(y for _, y in line.points) / len(line.points):.1f} on average"


DOT_SIZE = 5.5


@dataclass(frozen=True)
class Dot:
    """A mark: what it stands for, its value, colour and shape (``circle``, ``ring`` or ``diamond``)."""

    word: str
    value: float
    colour: str
    shape: str = "circle"


def dots(title: str, rows: Sequence[tuple[str, Sequence[Dot]]], *, most: float) -> Html:
    """Lines of marks in percent on one scale, with a line at 100; marks beyond ``most`` stand at the edge.

    A value that is no number, as of no jobs at all, has no mark.
    """
    rows = [(label, [dot for dot in marks if not math.isnan(dot.value)]) for label, marks in rows]
    row, left, right, bottom = 22, 250, 24, 24
    values = [min(dot.value, most) for _, marks in rows for dot in marks]
    high = max([*values, 100.0]) * 1.05
    height = row * len(rows) + bottom

    def at(value: float) -> float:
        return left + (WIDTH - left - right) * min(value, high) / high

    parts: list[Html] = []
    for tick in round_ticks(0.0, high):
        kind = "median" if tick == 100 else "grid"
        parts.append(el("line", class_=kind, x1=f"{at(tick):.1f}", x2=f"{at(tick):.1f}", y1=0, y2=height - bottom))
        parts.append(el("text", f"{tick:g}", x=f"{at(tick):.1f}", y=height - 6, text_anchor="middle"))
    for index, (label, marks) in enumerate(rows):
        y = row * index + row // 2
        parts.append(el("text", label, x=0, y=y + 4))
        parts += [_mark(label, dot, at(min(dot.value, most)), y) for dot in marks]
    aloud = f"{title}: " + "; ".join(f"{label} {_values(marks)}" for label, marks in rows)
    seen = {dot.word: dot for _, marks in rows for dot in marks}
    signs = legend((dot.colour, word, "hollow" if dot.shape != "circle" else None) for word, dot in seen.items())
    return still(title, signs, parts, (WIDTH, height), aloud)


def _values(marks: Sequence[Dot]) -> str:
    return ", ".join(f"{dot.word} {dot.value:.1f}" for dot in marks)


def _mark(label: str, dot: Dot, x: float, y: int) -> Html:
    about = el("title", f"{label}, {dot.word}: {dot.value:.1f}")
    colour = f"var(--{dot.colour})"
    if dot.shape == "diamond":
        far = DOT_SIZE + 1
        corners = f"{x:.1f},{y - far} {x + far:.1f},{y} {x:.1f},{y + far} {x - far:.1f},{y}"
        return el("polygon", about, points=corners, style=f"fill:none;stroke:{colour};stroke-width:2")
    fill = "none" if dot.shape == "ring" else colour
    style = f"fill:{fill};stroke:{colour};stroke-width:2;fill-opacity:0.8"
    return el("circle", about, cx=f"{x:.1f}", cy=y, r=f"{DOT_SIZE - 1}", style=style)


BAR_HEIGHT, BAR_LEFT = 14, 130


@dataclass(frozen=True)
class Bar:
    """A bar: what it stands for, its value and the text of it, and its colour; without a value there is only text."""

    word: str
    value: float | None
    text: str
    colour: str


def bar_groups(title: str, groups: Sequence[tuple[str, Sequence[Bar]]]) -> Html:
    """Groups of bars on one scale from zero."""
    gap, right, bottom = 8, 110, 24
    values = [bar.value for _, bars in groups for bar in bars if bar.value is not None]
    high = max(values, default=1.0) * 1.02 or 1.0
    height = sum(BAR_HEIGHT * len(bars) + gap for _, bars in groups) + bottom

    def at(value: float) -> float:
        return BAR_LEFT + (WIDTH - BAR_LEFT - right) * value / high

    parts: list[Html] = []
    for tick in round_ticks(0.0, high):
        x = f"{at(tick):.1f}"
        parts.append(el("line", class_="grid", x1=x, x2=x, y1=0, y2=height - bottom))
        parts.append(el("text", f"{tick:,g}", x=x, y=height - 6, text_anchor="middle"))
    top = gap // 2
    for label, bars in groups:
        parts.append(el("text", label, x=0, y=top + BAR_HEIGHT * len(bars) // 2 + 4))
        for bar in bars:
            parts += _bar(label, bar, at(bar.value or 0.0), top)
            top += BAR_HEIGHT
        top += gap
    aloud = "; ".join(f"{label} {', '.join(f'{bar.word} {bar.text}' for bar in bars)}" for label, bars in groups)
    colours = {bar.word: bar.colour for _, bars in groups for bar in bars}
    marks = legend((colour, word, None) for word, colour in colours.items())
    return still(title, marks, parts, (WIDTH, height), f"{title}: {aloud}")


def _bar(label: str, bar: Bar, end: float, top: int) -> list[Html]:
    about = el("title", f"{label}, {bar.word}: {bar.text}")
    style = f"fill:var(--{bar.colour})"
    shape = el("rect", about, x=BAR_LEFT, y=top + 1, width=f"{end - BAR_LEFT:.1f}", height=BAR_HEIGHT - 3, style=style)
    return [shape, el("text", bar.text, x=f"{end + 5:.1f}", y=top + BAR_HEIGHT - 3)]


_COLOURS = ("#1f6fb2", "#d9822b", "#4a8a4a", "#8a5aa8")


def power_svg(title: str, edges_h: Sequence[float], curves: Mapping[str, Sequence[float]]) -> str:
    """Curves of power [kW] that hold from one edge [h] to the next, one value fewer than there are edges."""
    width, height, left, right, top, bottom = 900, 320, 60, 20, 40, 40
    highest = max((value for values in curves.values() for value in values), default=0.0) * 1.05 or 1.0
    first, last = edges_h[0], edges_h[-1]

    def across(hour: float) -> float:
        return left + (width - left - right) * (hour - first) / (last - first)

    def up(value: float) -> float:
        return height - bottom - (height - top - bottom) * value / highest

    parts: list[Html] = [el("title", title), el("text", title, x=left, y=20, font_weight="bold")]
    for tick in round_ticks(0.0, highest):
        y = f"{up(tick):.1f}"
        parts.append(el("line", x1=left, x2=width - right, y1=y, y2=y, stroke="#ccc"))
        parts.append(el("text", f"{tick:g}", x=left - 8, y=f"{up(tick) + 4:.1f}", text_anchor="end"))
    for hour in range(int(first), int(last) + 1, 4):
        parts.append(el("text", f"{hour} h", x=f"{across(hour):.1f}", y=height - bottom + 18, text_anchor="middle"))
    parts.append(el("text", "kW", x=left - 8, y=top - 8, text_anchor="end"))
    for index, (name, values) in enumerate(curves.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        points = [
            f"{across(hour):.1f},{up(value):.1f}"
            for start, end, value in zip(edges_h[:-1], edges_h[1:], values, strict=True)
            for hour in (start, end)
        ]
        parts.append(el("polyline", points=" ".join(points), fill="none", stroke=colour, stroke_width=2))
        parts.append(
            el("text", name, x=width - right - 90 * (len(curves) - index) + 90, y=20, fill=colour, text_anchor="end")
        )
    drawing = el(
        "svg",
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family="sans-serif",
        font_size=13,
    )
    return f"{drawing}\n"
