"""Power of on-site photovoltaics: computed by pvlib from the weather of the day, or from a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.domain.horizon import Horizon
from planner.domain.segment import StepSeries, Weather
from planner.errors import InputError
from planner.inputs.local_times import clock_shifts
from planner.inputs.timed_csv import read_timed_csv
from planner.scenario.solar_battery import FileSolar, Solar

if TYPE_CHECKING:
    import pandas as pd

_WATTS = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_UNIT_AT_END = re.compile(r"(?:^|[_ (\[/])(mw|kw|w)[)\]]?$", re.IGNORECASE)
_DRAWN_SHARE, _DRAWN_W = 0.05, 1000.0
"""Inverters draw a little at night; more than this part of the day's peak, or this much, is another sign."""
POWER_PER_C = -0.0035
"""Change of a module's power with cell temperature [1/C]: "premium" (monocrystalline) modules in [1]_."""
LEAST_W = 1e-3
CLOUD_TAKES, CLOUD_POWER = 0.75, 3.4
"""What clouds take of a clear sky's irradiance where they cover all of it, and with which power of their cover less."""
CALM_WIND_M_PER_S = 1.0
"""Wind where the weather has none; low, so that cells are not thought cooler than they are."""


def solar_from_file(choice: FileSolar, horizon: Horizon) -> StepSeries:
    """AC power [W] over the planning day, each value from its time on.

    What inverters draw at night counts as nothing. A missing hour of the day is a CoverageError: as with prices,
    nothing is invented.
    """
    table = read_timed_csv(choice.file, zone=choice.zone)
    name = table.value_column(choice.column, "power")
    said = _UNIT_AT_END.search(name)
    declared = next((unit for unit in _WATTS if said and unit.lower() == said[1].lower()), choice.unit)
    if declared != choice.unit:
        raise InputError(
            f"{choice.file}: column {name!r} is in {declared}, but solar.unit is {choice.unit}; correct one"
        )
    what = f"photovoltaic power of {table.path.name}"
    power, _ = table.samples(name, what).on(clock_shifts(horizon, None))
    watts = power.values * _WATTS[choice.unit]
    lowest, highest = float(watts.min()), float(watts.max())
    limits.SOLAR_KW.require(f"{what}, in kW,", max(highest, 0.0) / 1e3)
    if lowest < -max(_DRAWN_SHARE * highest, _DRAWN_W):
        raise InputError(f"{what} falls to {lowest / 1e3:g} kW; give what the modules feed in as positive numbers")
    return StepSeries(what, power.edges_unix, np.maximum(watts, 0.0))


def solar_of(choice: Solar, weather: Weather, horizon: Horizon) -> StepSeries | None:
    """AC power [W] of the photovoltaics by the ``solar:`` of a scenario; None where the site has none."""
    if isinstance(choice, FileSolar):
        return solar_from_file(choice, horizon)
    if choice.peak_kw <= 0:
        return None
    return solar_power(
        weather,
        horizon,
        peak_kw=choice.peak_kw,
        tilt_deg=choice.tilt_deg,
        azimuth_deg=choice.azimuth_deg,
        losses_fraction=choice.losses_fraction,
    )


def solar_power(
    weather: Weather,
    horizon: Horizon,
    *,
    peak_kw: float,
    tilt_deg: float,
    azimuth_deg: float,
    losses_fraction: float = 0.14,
) -> StepSeries:
    """AC power of a fixed photovoltaic array through the day [W], one step for each step of the irradiance.

    ``peak_kw`` is the DC power at standard test conditions. The azimuth is clockwise from north; 180 is south. Losses
    are soiling, shading, wiring, mismatch, age and the like, off the DC power; 0.14 as in [1]_.

    Notes
    -----
    The chain is PVWatts' [1]_ without its correction for reflection: the sun's place at the middle of each
    step; irradiance on the tilted plane after Hay and Davies [2]_ with a ground albedo of 0.25; cell
    temperature after Faiman [3]_; DC power ``peak * poa / 1000 * (1 + gamma * (cell - 25))``; losses; an
    inverter of 96 % nominal efficiency whose DC limit is the array's peak. Where direct and diffuse irradiance
    are unknown, they are split off the global one after Erbs [4]_; where only diffuse is known, direct is the
    rest over the cosine of the zenith angle. Where there is no irradiance at all, the global one is that of a clear
    sky after Haurwitz [5]_, less what clouds take of it after Kasten and Czeplak [6]_; `benchmarks/cloud_sun.py` has
    the error of that.

    If the weather was taken from another date, the sun is that of the other date too.

    References
    ----------
    .. [1] A. P. Dobos, PVWatts Version 5 Manual, NREL/TP-6A20-62641 (2014)
    .. [2] J. E. Hay, J. A. Davies, Proc. First Canadian Solar Radiation Data Workshop (1980)
    .. [3] D. Faiman, Progress in Photovoltaics 16, 307-315 (2008)
    .. [4] D. G. Erbs, S. A. Klein, J. A. Duffie, Solar Energy 28, 293-302 (1982)
    .. [5] B. Haurwitz, Journal of Meteorology 2, 154-166 (1945)
    .. [6] F. Kasten, G. Czeplak, Solar Energy 24, 177-189 (1980)
    """
    _require_known(weather)
    import pandas as pd
    from pvlib import inverter, irradiance, pvsystem, solarposition, temperature

    seen = weather.cloud_percent if weather.ghi_w_per_m2 is None else weather.ghi_w_per_m2
    assert seen is not None
    seen = seen.between(horizon.start_unix, horizon.end_unix)
    edges = seen.edges_unix
    middles = (edges[:-1] + edges[1:]) // 2
    moments = pd.DatetimeIndex(_sun_unix(horizon, weather, middles).astype("datetime64[s]"), tz="UTC")
    # numbers of days, because pvlib 0.16 asks a DatetimeIndex for what pandas 3.1 deprecates
    days = moments.day_of_year.to_numpy()
    air_c = weather.temperature_c.at(middles)
    sun = solarposition.get_solarposition(
        moments,
        weather.latitude_deg,
        weather.longitude_deg,
        altitude=weather.altitude_m or 0.0,
        temperature=air_c,
    )
    ghi = seen.values
    if weather.ghi_w_per_m2 is None:
        ghi = under_clouds(seen.values, sun["apparent_zenith"])
    dni, dhi = _split(weather, ghi, middles, days, sun["zenith"].to_numpy())
    plane = irradiance.get_total_irradiance(
        tilt_deg,
        azimuth_deg,
        sun["apparent_zenith"].to_numpy(),
        sun["azimuth"].to_numpy(),
        dni,
        ghi,
        dhi,
        dni_extra=irradiance.get_extra_radiation(days),
        model="haydavies",
    )
    poa = np.nan_to_num(np.asarray(plane["poa_global"], dtype=np.float64))
    wind = weather.wind_m_per_s.at(middles) if weather.wind_m_per_s is not None else CALM_WIND_M_PER_S
    cell_c = temperature.faiman(poa, air_c, wind)
    peak_w = 1000.0 * peak_kw
    dc_w = pvsystem.pvwatts_dc(poa, cell_c, peak_w, POWER_PER_C) * (1 - losses_fraction)
    # less than a milliwatt is nothing, and the inverter's formula divides by it
    dc_w = np.where(dc_w < LEAST_W, 0.0, dc_w)
    ac_w = np.asarray(inverter.pvwatts(dc_w, peak_w), dtype=np.float64) if peak_w else np.zeros_like(poa)
    return StepSeries(f"photovoltaics with {weather.source}", edges.copy(), np.maximum(ac_w, 0.0))


def under_clouds(cloud_percent: npt.NDArray[np.float64], zenith_deg: pd.Series[float]) -> npt.NDArray[np.float64]:
    """Global horizontal irradiance [W/m2] under a sky of which clouds cover so much."""
    from pvlib import clearsky

    clear = clearsky.haurwitz(zenith_deg)["ghi"].to_numpy(dtype=np.float64)
    found: npt.NDArray[np.float64] = clear * (1 - CLOUD_TAKES * (cloud_percent / 100) ** CLOUD_POWER)
    return found


def _split(
    weather: Weather,
    ghi: npt.NDArray[np.float64],
    middles: npt.NDArray[np.int64],
    days: npt.NDArray[np.int32],
    zenith_deg: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Direct normal and diffuse horizontal irradiance [W/m2]."""
    from pvlib import irradiance

    if weather.dhi_w_per_m2 is None:
        parts = irradiance.erbs(ghi, zenith_deg, days)
        return np.asarray(parts["dni"]), np.asarray(parts["dhi"])
    dhi = weather.dhi_w_per_m2.at(middles)
    if weather.dni_w_per_m2 is not None:
        return weather.dni_w_per_m2.at(middles), dhi
    # below 2 degrees of elevation the quotient of two small numbers says nothing
    cosine = np.cos(np.radians(zenith_deg))
    high = zenith_deg < 88.0
    dni = np.where(high, np.maximum(ghi - dhi, 0.0) / np.where(high, cosine, 1.0), 0.0)
    return dni, dhi


def _sun_unix(horizon: Horizon, weather: Weather, moments: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    moved = moments.copy()
    for stretch in clock_shifts(horizon, weather.taken_day):
        moved[(moments >= stretch.start_unix) & (moments < stretch.end_unix)] += stretch.shift_s
    return moved


def _require_known(weather: Weather) -> None:
    """InputError where the weather does not have what photovoltaics go by."""
    if weather.latitude_deg is None or weather.longitude_deg is None:
        raise InputError(
            f"photovoltaics need a place, and {weather.source} has none; give weather.latitude_deg and"
            " weather.longitude_deg, or an EPW, TMY3 or Open-Meteo file"
        )
    if weather.ghi_w_per_m2 is None and weather.cloud_percent is None:
        raise InputError(
            f"photovoltaics need irradiance or cloud cover, and {weather.source} has neither for the day; give an EPW"
            " or TMY3 file, ask Open-Meteo for shortwave_radiation, or add ghi_w_per_m2 or cloud_percent to a CSV"
        )
