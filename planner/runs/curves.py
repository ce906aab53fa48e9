"""A picture of cumulative profit: what each method has earned more than the first, day by day."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path


def draw_curves(table: Path, picture: Path, *, title: str) -> None:
    """Draw the cumulative profit of a study's CSV, one curve a method."""
    from matplotlib.figure import Figure

    curves: dict[str, list[tuple[int, float]]] = defaultdict(list)
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            curves[row["method"]].append((int(row["number"]), float(row["cumulative_profit_eur"])))
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for method, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=method, linewidth=1.2)
    axes.set_xlabel("day")
    axes.set_ylabel("profit since the first day [EUR]")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(picture, dpi=120)
