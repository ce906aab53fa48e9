"""Weather: what a source says about the planning day outside, before any of it is used."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from planner import bounds
from planner.domain.series import StepSeries


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
    humidity_percent, pressure_hpa
        Relative humidity over water [%] and air pressure at the place [hPa], where they were asked for and are known.
    latitude_deg, longitude_deg
        Place, north and east positive [degrees], where known.
    altitude_m
        Height above sea level [m], where known.
    members
        Names of the members of a forecast whose mean the temperature is.
    taken_day
        The other date whose weather stands in for the planning day; the sun of that date goes with it.
    """

    source: str
    temperature_c: StepSeries
    ghi_w_per_m2: StepSeries | None = None
    dni_w_per_m2: StepSeries | None = None
    dhi_w_per_m2: StepSeries | None = None
    wind_m_per_s: StepSeries | None = None
    humidity_percent: StepSeries | None = None
    pressure_hpa: StepSeries | None = None
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float | None = None
    members: tuple[str, ...] = ()
    taken_day: dt.date | None = None

    def __post_init__(self) -> None:
        for what, value, limits in (
            ("latitude", self.latitude_deg, bounds.LATITUDE_DEG),
            ("longitude", self.longitude_deg, bounds.LONGITUDE_DEG),
            ("altitude", self.altitude_m, bounds.ALTITUDE_M),
        ):
            if value is not None:
                limits.require(f"{self.source}: {what}", value)
