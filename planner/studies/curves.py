"""A picture of cumulative profit, and of what each method is ahead of the best rule, day by day."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Curve = Sequence[tuple[int, float]]


def draw_curves(table: Path, picture: Path, *, title: str, rules: Sequence[str], day: int) -> None:
    """Draw a study's CSV, one curve per method: rules dashed; the best of them on ``day`` counts as zero."""
    from matplotlib.figure import Figure

    curves = _curves(table)
    figure = Figure(figsize=(9, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    best = _best_rule(curves, rules, day)
    _draw(above, curves, rules, scale=1000)
    _draw(below, curves if best is None else _ahead_of(curves, curves[best]), rules, scale=1000)
    above.set_title(title)
    above.set_ylabel("profit since the first day\n[thousand EUR]")
    below.set_ylabel(f"ahead of {best}\n[thousand EUR]" if best else "[thousand EUR]")
    below.set_xlabel("day")
    for axes in (above, below):
        axes.axvline(day, color="0.6", linewidth=0.8)
    below.legend(fontsize="small", ncols=2, loc="lower left")
    figure.savefig(picture, dpi=120)


def _curves(table: Path) -> dict[str, Curve]:
    curves: dict[str, list[tuple[int, float]]] = defaultdict(list)
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            curves[row["method"]].append((int(row["number"]), float(row["cumulative_profit_eur"])))
    return dict(curves)


def _best_rule(curves: Mapping[str, Curve], rules: Sequence[str], day: int) -> str | None:
    """The rule that has earned the most by a day; None without rules."""
    earned = {name: dict(curves[name]).get(day, curves[name][-1][1]) for name in rules if name in curves}
    return max(earned, key=lambda name: earned[name], default=None)


def _ahead_of(curves: Mapping[str, Curve], base: Curve) -> dict[str, Curve]:
    """What each curve is above another; a curve that has ended stays where it is."""
    found: dict[str, Curve] = {}
    length = max(len(curve) for curve in curves.values())
    zero = dict(base)
    for name, curve in curves.items():
        own = dict(curve)
        found[name] = [
            (number, own.get(number, curve[-1][1]) - zero.get(number, base[-1][1])) for number in range(1, length + 1)
        ]
    return found


def _draw(axes: Any, curves: Mapping[str, Curve], rules: Sequence[str], *, scale: float) -> None:
    for method, points in curves.items():
        numbers, values = zip(*points, strict=True)
        style = {"linestyle": "--", "linewidth": 1.0} if method in rules else {"linewidth": 1.8}
        axes.plot(numbers, [value / scale for value in values], label=method, **style)
    axes.grid(alpha=0.3)
