"""The best use of a battery beside a given plan: a linear program over the segments of the day, solved exactly.

For each segment, with b what the site buys without the battery and r the sun that it leaves unused [kWh]::

    level' = level + one_way * (from_sun + from_grid) - given / one_way
    from_sun <= r,   given <= b,   from_sun + from_grid + given <= power * hours
    least sum of  price * (from_grid - given) + feed_in * from_sun  +  demand charge * peak

A battery that takes and gives in one segment does so in turns, so that both share its hours. Its size grows with the
segments and demand intervals of the day alone.

A plan changes nothing of the program but b, r and what each demand interval buys, which stand on right-hand sides.
So the prices of its solution for one plan give, for every other plan, a cost that no battery goes below: a cut. For
the plan itself that cost is the least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.rates import Battery

_IDLE_EUR_PER_KWH = 1e-9
"""What a kWh through the battery counts, so that it rests where nothing is to be gained; no part of the money."""


@dataclass(frozen=True)
class Dispatch:
    """What a battery takes and gives in each segment [kWh], and what it holds at the end of each."""

    from_sun_kwh: Floats
    from_grid_kwh: Floats
    given_kwh: Floats
    level_kwh: Floats

    @property
    def bought_kwh(self) -> Floats:
        """What the site buys more because of it; less where it gives."""
        return self.from_grid_kwh - self.given_kwh


@dataclass(frozen=True)
class PeakRows:
    """How the segments make up the demand intervals, and what each interval buys without a battery [kWh].

    ``share`` has the part of each segment that lies in each interval; shape (intervals, segments).
    """

    share: Floats
    bought_kwh: Floats
    hours: Floats
    eur_per_kw: float
    so_far_kw: float


def idle_battery(segments: int) -> Dispatch:
    """A battery that does nothing."""
    nothing = np.zeros(segments)
    return Dispatch(nothing, nothing, nothing, nothing)


def best_dispatch(
    battery: Battery,
    length_s: Ints,
    bought_kwh: Floats,
    unused_kwh: Floats,
    price_eur_per_kwh: Floats,
    feed_in_eur_per_kwh: Floats,
    peak: PeakRows | None = None,
) -> tuple[Dispatch, Floats]:
    """What the battery takes and gives so that the day costs least, and the cut that this gives.

    A cut is a constant, then what it adds to the cost for each kWh of r and of b in each segment, as far as the power
    of the battery reaches, and for each kWh that a demand interval buys [EUR].
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, diags_array, eye_array

    count, hours = len(length_s), length_s / 3600
    one, none = eye_array(count), csr_array((count, count))
    # Variables: from the sun, from the grid, given, and the level after each segment; then the peak.
    later = diags_array([1.0, -1.0], offsets=[0, -1], shape=(count, count))
    balance = block_array([[-battery.one_way * one, -battery.one_way * one, one / battery.one_way, later]]).tocsr()
    opened = np.zeros(count)
    opened[0] = battery.start_kwh
    at_once = block_array([[one, one, one, none]]).tocsr()
    least = np.zeros(count)
    least[-1] = battery.end_kwh_within(float(hours.sum()))
    cost = [
        feed_in_eur_per_kwh + _IDLE_EUR_PER_KWH,
        price_eur_per_kwh + _IDLE_EUR_PER_KWH,
        _IDLE_EUR_PER_KWH - price_eur_per_kwh,
        np.zeros(count),
    ]
    room = battery.power_kw * hours
    # Energies are in units of what the battery can move in a segment: a solver has tolerances.
    unit = float(room.max()) or 1.0
    low = np.concatenate([np.zeros(3 * count), least])
    high = np.concatenate([np.minimum(unused_kwh, room), room, np.minimum(bought_kwh, room)])
    high = np.concatenate([high, np.full(count, battery.capacity_kwh)])
    upper, limits = at_once, room
    if peak is not None:
        intervals = len(peak.hours)
        row = csr_array(peak.share)
        nothing = csr_array((intervals, count))
        per_kw = csr_array(-peak.hours[:, None])
        upper = block_array(
            [[at_once, csr_array((count, 1))], [block_array([[nothing, row, -row, nothing]]), per_kw]]
        ).tocsr()
        limits = np.concatenate([room, -peak.bought_kwh])
        balance = block_array([[balance, csr_array((count, 1))]]).tocsr()
        cost.append(np.array([peak.eur_per_kw]))
        low, high = np.append(low, peak.so_far_kw), np.append(high, np.inf)
    spans = np.column_stack([low, high]) / unit
    solved = linprog(np.concatenate(cost), upper, limits / unit, balance, opened / unit, bounds=spans, method="highs")
    if solved.x is None:
        raise AssertionError(f"the battery's program has no answer: {solved.message}")
    from_sun, from_grid, given, level = np.maximum(solved.x[: 4 * count] * unit, 0.0).reshape(4, count)
    of_limits, of_balance = np.minimum(solved.ineqlin.marginals, 0.0), solved.eqlin.marginals
    reduced = np.concatenate(cost) - upper.T @ of_limits - balance.T @ of_balance
    # What a limit of a variable is worth; the peak has no upper one, so its reduced cost is below zero by noise alone.
    of_low, of_high = np.maximum(reduced, 0.0), np.minimum(reduced, 0.0)
    fixed = slice(3 * count, 4 * count)
    constant = of_limits[:count] @ room + of_balance @ opened + of_low @ low
    constant += of_high[count : 2 * count] @ room + of_high[fixed] @ high[fixed]
    return (
        Dispatch(from_sun, from_grid, given, level),
        np.concatenate([[constant], of_high[:count], of_high[2 * count : 3 * count], -of_limits[count:]]),
    )
