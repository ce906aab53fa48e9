"""Weather: what a source says about the planning day outside, before any of it is used."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from planner.domain.series import StepSeries
from planner.errors import InputError


@dataclass(frozen=True)
class Weather:
    """The outside of one planning day, and where it was observed.

    Attributes
    ----------
    source
        Name of the source, for messages.
    temperature_c
        Dry-bulb temperature [C].
    ghi_w_per_m2, dni_w_per_m2, dhi_w_per_m2
        Global horizontal, direct normal and diffuse horizontal irradiance [W/m2], where the source has them.
    wind_m_per_s
        Wind speed [m/s], where the source has it.
    latitude_deg, longitude_deg
        Place, north and east positive [degrees], where known.
    altitude_m
        Height above sea level [m], where known.
    taken_day
        The other date whose weather stands in for the planning day; the sun of that date goes with it.
    """

    source: str
    temperature_c: StepSeries
    ghi_w_per_m2: StepSeries | None = None
    dni_w_per_m2: StepSeries | None = None
    dhi_w_per_m2: StepSeries | None = None
    wind_m_per_s: StepSeries | None = None
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float | None = None
    taken_day: dt.date | None = None

    def __post_init__(self) -> None:
        if self.latitude_deg is not None and not -90 <= self.latitude_deg <= 90:
            raise InputError(f"{self.source}: latitude is {self.latitude_deg}; it must lie between -90 and 90 degrees")
        if self.longitude_deg is not None and not -180 <= self.longitude_deg <= 180:
            raise InputError(
                f"{self.source}: longitude is {self.longitude_deg}; it must lie between -180 and 180 degrees"
            )
