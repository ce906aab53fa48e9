"""Draws a PUE table: curves against outside temperature for several loads, and the whole table as a map."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from planner.domain.pue_table import PueTable
from planner.errors import PlannerError
from planner.places import away

_CURVES = 5
_LABELLED_ROWS = 7


def picture_of(table: PueTable, form: str, *, title: str = "") -> bytes:
    """A picture of the table as png, svg or pdf.

    Needs matplotlib, which is not among the planner's own requirements: ``pip install hpc-day-planner[plot]``.
    """
    try:
        with away():  # a matplotlibrc of the current folder is none of ours
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
    except ImportError as error:
        raise PlannerError("pictures need matplotlib; install hpc-day-planner[plot] or leave --picture out") from error
    figure = Figure(figsize=(11, 4.4), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    curves, heat_map = figure.subplots(1, 2, width_ratios=(1.0, 1.15))
    _draw_curves(curves, table)
    _draw_map(figure, heat_map, table)
    figure.suptitle(title or f"Cooling overhead: table {table.name}", fontweight="bold")
    content = io.BytesIO()
    figure.savefig(content, format=form, metadata={"Software": None} if form == "png" else None)
    return content.getvalue()


def _draw_curves(axes: Any, table: PueTable) -> None:
    from matplotlib import colormaps

    powers_kw, temperatures_c = table.powers_w / 1000, table.temperatures_c
    shares = np.linspace(1.0, 0.0, _CURVES, endpoint=False)[::-1]
    rows = np.unique(np.round(shares * (len(powers_kw) - 1)).astype(int))
    for row, colour in zip(rows, colormaps["viridis"](np.linspace(0.0, 0.85, len(rows))), strict=True):
        pue = 1 + table.cooling[row]
        axes.plot(temperatures_c, pue, color=colour, marker="o", markersize=3, label=f"{powers_kw[row]:.0f} kW")
    axes.set_xlabel("outside temperature [°C]")
    axes.set_ylabel("PUE (cooling)")
    axes.set_ylim(bottom=1.0)
    axes.set_title("By load", fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(title="IT power", frameon=False, loc="upper left")


def _draw_map(figure: Any, axes: Any, table: PueTable) -> None:
    half_t, half_p = table.temperature_step_c / 2, table.power_step_w / 2000
    extent = (
        table.temperatures_c[0] - half_t,
        table.temperatures_c[-1] + half_t,
        table.powers_w[0] / 1000 - half_p,
        table.powers_w[-1] / 1000 + half_p,
    )
    percent = 100 * table.cooling
    image = axes.imshow(
        percent,
        origin="lower",
        aspect="auto",
        extent=extent,
        cmap="YlOrRd",
        vmin=0.0,
        interpolation="nearest",
    )
    darkest = float(percent.max())
    for row in np.linspace(0, len(percent) - 1, _LABELLED_ROWS + 2).round().astype(int)[1:-1]:
        for column, temperature_c in enumerate(table.temperatures_c):
            value = float(percent[row, column])
            axes.text(
                temperature_c,
                table.powers_w[row] / 1000,
                f"{value:.0f}" if darkest >= 30 else f"{value:.1f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if value > 0.6 * darkest else "0.15",
            )
    figure.colorbar(image, ax=axes, label="[%]")
    axes.set_xlabel("outside temperature [°C]")
    axes.set_ylabel("IT power [kW]")
    axes.set_title("Whole table: cooling in % of IT energy", fontsize=11)
