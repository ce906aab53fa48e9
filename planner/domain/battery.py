"""The site's battery: what it holds, takes and gives, and what it must hold when a day ends."""

from __future__ import annotations

from dataclasses import dataclass

from planner import limits
from planner.errors import InputError


@dataclass(frozen=True)
class Battery:
    """A battery that serves the site: it is charged from unused sun or from the grid, and never feeds the grid.

    ``power_kw`` is the most that it takes or gives, ``efficiency`` the part of what is put in that comes out again;
    half of the loss is at each end. It holds ``start_kwh`` when the day begins, and at least ``end_kwh`` when it ends,
    as far as it can be charged by then.
    """

    capacity_kwh: float
    power_kw: float
    efficiency: float
    start_kwh: float
    end_kwh: float

    def __post_init__(self) -> None:
        limits.BATTERY_KWH.require("the battery's capacity", self.capacity_kwh)
        limits.BATTERY_KW.require("the battery's power", self.power_kw)
        limits.EFFICIENCY.require("the battery's efficiency", self.efficiency)
        for what, held in (("at the start", self.start_kwh), ("at the end", self.end_kwh)):
            if not 0 <= held <= self.capacity_kwh:
                raise InputError(f"the battery holds {held:g} kWh {what}; it must be from 0 to {self.capacity_kwh:g}")

    @property
    def one_way(self) -> float:
        """Part of the energy that is left after going in, and again after coming out."""
        return float(self.efficiency**0.5)

    def end_kwh_within(self, hours: float) -> float:
        """What it must hold at the end: no more than it can be charged to in that time."""
        return min(self.end_kwh, self.start_kwh + self.power_kw * self.one_way * hours)
