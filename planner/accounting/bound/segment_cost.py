"""What a segment buys and costs as a function of its IT energy alone: cooling by the table, less the sun."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment
from planner.units import MILLI, SECONDS_PER_HOUR


def cooling_rows(table: PueTable, segment: Segment, low_kwh: float, high_kwh: float) -> tuple[Floats, Floats, Floats]:
    """The table's rows that IT energies from low to high can fall in: each row's energies and its cooling.

    Beyond the table its first and last row hold, as in a table that clamps: in one that does not, no plan with such
    an energy can be settled at all. Both ends of a row's energies count as its own, so that a limit of energies
    towards an edge is covered whichever way halves go.
    """
    hours = segment.length_s / SECONDS_PER_HOUR
    middle = table.powers_w / MILLI
    half = table.power_step_w / MILLI / 2
    low = np.concatenate([[-np.inf], (middle[1:] - half) * hours])
    high = np.concatenate([(middle[:-1] + half) * hours, [np.inf]])
    cooling = table.cells(np.arange(len(middle)), np.array(segment.temperature_c))
    holds = (low <= high_kwh) & (high >= low_kwh)
    return np.maximum(low[holds], low_kwh), np.minimum(high[holds], high_kwh), cooling[holds]


def bought_points(
    table: PueTable, segment: Segment, low_kwh: float, high_kwh: float, *, uses_sun: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Points (IT energy, bought, sun left unused) whose convex hull holds everything possible in the segment [kWh].

    Within a row the bought energy max(0, (1 + cooling) * it - sun) has two straight pieces, and so has the sun that is
    left; the ends of all pieces of all rows span the hull. Without ``uses_sun`` all is bought and all sun is left.
    """
    first, last, cooling = cooling_rows(table, segment, low_kwh, high_kwh)
    sun_kwh = segment.solar_w * segment.length_s / (MILLI * SECONDS_PER_HOUR)
    used_kwh = sun_kwh if uses_sun else 0.0
    bend = np.clip(used_kwh / (1 + cooling), first, last)
    it = np.concatenate([first, bend, last])
    site = it * (1 + np.tile(cooling, 3))
    return it, np.maximum(0.0, site - used_kwh), sun_kwh - np.minimum(site, used_kwh)


def hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Corners of the convex hull of points in the plane."""
    points = sorted(set(zip(x.tolist(), y.tolist(), strict=True)))
    corners = set(_lower(points)) | set(_lower([(a, -b) for a, b in points], sign=-1.0))
    kept = sorted(corners)
    return np.array([a for a, _ in kept]), np.array([b for _, b in kept])


def lower_hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Corners of the lower side of the convex hull: the greatest convex function below the points."""
    kept = _lower(sorted(set(zip(x.tolist(), y.tolist(), strict=True))))
    return np.array([a for a, _ in kept]), np.array([b for _, b in kept])


def _lower(points: list[tuple[float, float]], sign: float = 1.0) -> list[tuple[float, float]]:
    """Lower corners of points, read with their second coordinate times ``sign`` when given back."""
    chain: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if chain and chain[-1][0] == x:
            continue
        while len(chain) > 1 and _turns_up(chain[-2], chain[-1], (x, y)):
            chain.pop()
        chain.append((x, y))
    return [(x, sign * y) for x, y in chain]


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the line from a to c, and so is no corner."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
