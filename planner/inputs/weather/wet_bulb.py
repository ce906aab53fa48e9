"""The wet-bulb temperature of the outside air: what cooling towers and other evaporative coolers work against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planner.domain.segment import StepSeries, Weather
from planner.errors import InputError
from planner.units import PA_PER_HPA

Array = npt.NDArray[np.float64]

SEA_LEVEL_PA = 101_325.0
_FREEZES_K = 273.15
_WIDEST_K = 100.0
_HALVINGS = 40
"""Halvings of a hundred degrees leave far less than a thousandth."""
_DECIMALS = 2
"""Of wet-bulb temperatures [C]; humidity is not measured more closely than that."""


def wet_bulb_of(weather: Weather) -> StepSeries:
    """The wet-bulb temperature of a day [C], wherever its temperature, humidity or pressure changes.

    Without a pressure it is that of the standard atmosphere at the place's altitude, or at sea level.
    """
    dry = weather.temperature_c
    humidity, pressure = weather.humidity_percent, weather.pressure_hpa
    if humidity is None:
        raise InputError(
            f"cooling.temperature: wet-bulb needs relative humidity, and {weather.source} has no usable one for"
            " the day; give weather with humidity (a CSV calls it humidity_percent), or write dry-bulb"
        )
    changing = [dry, humidity, *([pressure] if pressure is not None else [])]
    start, end = int(dry.edges_unix[0]), int(dry.edges_unix[-1])
    edges = np.unique(np.concatenate([one.between(start, end).edges_unix for one in changing]))
    moments = edges[:-1]
    if pressure is not None:
        pressure_pa = PA_PER_HPA * pressure.at(moments)
    else:
        pressure_pa = np.full(len(moments), standard_pressure(weather.altitude_m or 0.0))
    found = wet_bulb(dry.at(moments), humidity.at(moments), pressure_pa)
    return StepSeries(f"wet-bulb {dry.what}", edges, np.round(found, _DECIMALS))


def wet_bulb(temperature_c: npt.ArrayLike, humidity_percent: npt.ArrayLike, pressure_pa: npt.ArrayLike) -> Array:
    r"""Thermodynamic wet-bulb temperature [C].

    It is the temperature :math:`T^*` at which water evaporates into the air until that is saturated, so that

    .. math:: (2501 + 1.86 T - 4.186 T^*) W = (2501 - 2.326 T^*) W_s(T^*) - 1.006 (T - T^*)

    with W the humidity ratio of the air and :math:`W_s` that of saturated air [1]_, equation 33; below 0 C over ice,
    equation 35. The right side grows with :math:`T^*`, which is found by halving. Humidity is that over water, as
    weather is reported; above 100 % it counts as 100. The pressure is that at the place, not reduced to sea level.

    References
    ----------
    .. [1] ASHRAE Handbook, Fundamentals (2017), chapter 1, Psychrometrics
    """
    dry, share, pressure = np.broadcast_arrays(
        np.asarray(temperature_c, dtype=np.float64),
        np.clip(np.asarray(humidity_percent, dtype=np.float64) / 100, 0.0, 1.0),
        np.asarray(pressure_pa, dtype=np.float64),
    )
    ratio = humidity_ratio(share * saturation_pressure(dry), pressure)
    over_water = _halved(dry, dry, ratio, pressure, is_ice=False)
    over_ice = _halved(dry, np.minimum(dry, 0.0), ratio, pressure, is_ice=True)
    return np.where(over_water >= 0, over_water, np.minimum(over_ice, dry))


def saturation_pressure(temperature_c: npt.ArrayLike, *, is_ice: bool = False) -> Array:
    """Pressure of saturated water vapour over water, or over ice [Pa]: Hyland and Wexler, equations 6 and 5 of [1]_."""
    kelvin = np.asarray(temperature_c, dtype=np.float64) + _FREEZES_K
    if is_ice:
        logarithm = (
            -5.6745359e3 / kelvin
            + 6.3925247
            - 9.6778430e-3 * kelvin
            + 6.2215701e-7 * kelvin**2
            + 2.0747825e-9 * kelvin**3
            - 9.4840240e-13 * kelvin**4
            + 4.1635019 * np.log(kelvin)
        )
    else:
        logarithm = (
            -5.8002206e3 / kelvin
            + 1.3914993
            - 4.8640239e-2 * kelvin
            + 4.1764768e-5 * kelvin**2
            - 1.4452093e-8 * kelvin**3
            + 6.5459673 * np.log(kelvin)
        )
    pressure: Array = np.exp(logarithm)
    return pressure


def humidity_ratio(vapour_pa: npt.ArrayLike, pressure_pa: npt.ArrayLike) -> Array:
    """Mass of vapour per mass of dry air at a pressure of the vapour and of all air, equation 20 of [1]_."""
    vapour = np.asarray(vapour_pa, dtype=np.float64)
    ratio: Array = 0.621945 * vapour / (np.asarray(pressure_pa, dtype=np.float64) - vapour)
    return ratio


def standard_pressure(altitude_m: float) -> float:
    """Air pressure of the standard atmosphere [Pa], equation 3 of [1]_."""
    return float(SEA_LEVEL_PA * (1 - 2.25577e-5 * altitude_m) ** 5.2559)


def _halved(dry: Array, warmest: Array, ratio: Array, pressure: Array, *, is_ice: bool) -> Array:
    """The wet-bulb temperature over water or ice, up to a warmest one [C]."""
    low, high = warmest - _WIDEST_K, warmest.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_low = _ratio_at(dry, middle, pressure, is_ice=is_ice) < ratio
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return high


def _ratio_at(dry: Array, wet: Array, pressure: Array, *, is_ice: bool) -> Array:
    """Humidity ratio of air that has that wet-bulb temperature, equations 33 and 35 of [1]_."""
    saturated = humidity_ratio(saturation_pressure(wet, is_ice=is_ice), pressure)
    if is_ice:
        return ((2830 - 0.24 * wet) * saturated - 1.006 * (dry - wet)) / (2830 + 1.86 * dry - 2.1 * wet)
    return ((2501 - 2.326 * wet) * saturated - 1.006 * (dry - wet)) / (2501 + 1.86 * dry - 4.186 * wet)
