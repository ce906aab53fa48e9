"""Photovoltaics from the weather of the day."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from planner.domain.horizon import Horizon
from planner.domain.segment import StepSeries, Weather
from planner.errors import InputError
from planner.inputs.weather.read import constant_weather, read_weather
from planner.inputs.weather.solar import solar_power, under_clouds

ZONE = "America/New_York"
JUNE = Horizon(dt.date(2024, 6, 1), ZONE)
ROOF = {"peak_kw": 100.0, "tilt_deg": 30.0, "azimuth_deg": 180.0}


def _kwh(power_w: StepSeries) -> float:
    return float(np.sum(power_w.values * np.diff(power_w.edges_unix))) / 3.6e6


def _steady(ghi: float, dni: float | None, dhi: float | None, air_c: float) -> tuple[Weather, Horizon]:
    """The equator at equinox, one irradiance all day."""
    horizon = Horizon(dt.date(2024, 3, 20), "UTC")
    edges = horizon.start_unix + 3600 * np.arange(25, dtype=np.int64)

    def series(value: float | None) -> StepSeries | None:
        return None if value is None else StepSeries("made", edges.copy(), np.full(24, value))

    weather = Weather(
        "made",
        constant_weather(air_c, horizon).temperature_c,
        ghi_w_per_m2=series(ghi),
        dni_w_per_m2=series(dni),
        dhi_w_per_m2=series(dhi),
        wind_m_per_s=series(0.0),
        latitude_deg=0.0,
        longitude_deg=0.0,
        altitude_m=0.0,
    )
    return weather, horizon


def test_flat_array_under_diffuse_light_by_hand() -> None:
    """A horizontal array under 500 W/m2 of purely diffuse light, at 25 C without wind, worked out.

    Hay-Davies with no direct light is the whole diffuse, 500 W/m2; the ground is not seen. Faiman without
    wind: cell = 25 + 500/25 = 45 C. DC = 100 kW * 0.5 * (1 - 0.0035*20) = 46.5 kW; less 14 %: 39.99 kW.
    PVWatts inverter at z = 0.3999: eta = 0.96/0.9637 * (-0.0162*z - 0.0059/z + 0.9858) = 0.96089; AC 38.43 kW.
    """
    weather, horizon = _steady(ghi=500.0, dni=0.0, dhi=500.0, air_c=25.0)
    power = solar_power(weather, horizon, peak_kw=100.0, tilt_deg=0.0, azimuth_deg=180.0)
    z = 0.3999
    efficiency = 0.96 / 0.9637 * (-0.0162 * z - 0.0059 / z + 0.9858)
    assert power.values[12] == pytest.approx(39_990.0 * efficiency, rel=1e-6)
    assert power.values[12] == pytest.approx(38_430.0, rel=1e-3)


def test_direct_light_is_found_from_global_and_diffuse() -> None:
    """Knowing dhi, dni is (ghi - dhi)/cos(zenith): the same power as if it had been given.

    At the equator on the equinox, in the middle of 11:00 to 12:00 UTC, the zenith angle is about 7 to 10
    degrees, so dni is about 500/0.987; the direct part on a flat array is again ghi - dhi.
    """
    known, horizon = _steady(ghi=700.0, dni=None, dhi=200.0, air_c=25.0)
    power = solar_power(known, horizon, peak_kw=100.0, tilt_deg=0.0, azimuth_deg=180.0)
    diffuse_only, _ = _steady(ghi=700.0, dni=0.0, dhi=700.0, air_c=25.0)
    alike = solar_power(diffuse_only, horizon, peak_kw=100.0, tilt_deg=0.0, azimuth_deg=180.0)
    # on a flat array both are 700 W/m2 in the plane
    assert power.values[11] == pytest.approx(alike.values[11], rel=1e-3)


def test_heat_lowers_the_power() -> None:
    """20 C more costs 7 % of the DC power at 0.35 % per degree, relative to 25 C; the inverter shifts little."""
    cool, horizon = _steady(ghi=500.0, dni=0.0, dhi=500.0, air_c=5.0)
    warm, _ = _steady(ghi=500.0, dni=0.0, dhi=500.0, air_c=25.0)
    ratio = solar_power(warm, horizon, **ROOF).values[12] / solar_power(cool, horizon, **ROOF).values[12]
    # cells at 45 and 25 C: 0.93 against 1.0
    assert ratio == pytest.approx(0.93, abs=0.002)


def test_sample_day_in_june() -> None:
    """A clear June day gives 100 kW of panels 4 to 7 hours of full power, none at night, most around noon."""
    weather, _ = read_weather("sample", horizon=JUNE)
    power = solar_power(weather, JUNE, **ROOF)
    assert 400 < _kwh(power) < 700
    assert power.values[:5].max() == 0
    assert power.values[-2:].max() == 0
    # solar noon at 80 degrees west is about 13:20 on the summer clock
    assert 11 <= int(np.argmax(power.values)) <= 14
    assert power.values.max() < 100_000


def test_east_peaks_before_west() -> None:
    """An array that faces east has its energy earlier in the day than one that faces west."""
    weather, _ = read_weather("sample", horizon=JUNE)
    east = solar_power(weather, JUNE, peak_kw=10, tilt_deg=60, azimuth_deg=90).values
    west = solar_power(weather, JUNE, peak_kw=10, tilt_deg=60, azimuth_deg=270).values
    hours = np.arange(24)
    assert (east @ hours) / east.sum() < (west @ hours) / west.sum() - 1


def test_power_is_in_proportion_to_the_peak() -> None:
    """Twice the panels give twice the power, and none give none."""
    weather, _ = read_weather("sample", horizon=JUNE)
    once = solar_power(weather, JUNE, **ROOF).values
    twice = solar_power(weather, JUNE, **{**ROOF, "peak_kw": 200.0}).values
    assert twice == pytest.approx(2 * once)
    assert not solar_power(weather, JUNE, **{**ROOF, "peak_kw": 0.0}).values.any()


def test_global_irradiance_alone_is_split() -> None:
    """With ghi alone the day's energy stays within 15 % of that with direct and diffuse known."""
    weather, _ = read_weather("sample", horizon=JUNE)
    alone = dataclasses.replace(weather, dni_w_per_m2=None, dhi_w_per_m2=None)
    assert _kwh(solar_power(alone, JUNE, **ROOF)) == pytest.approx(_kwh(solar_power(weather, JUNE, **ROOF)), rel=0.15)


def test_sun_goes_with_the_weather_taken() -> None:
    """June's weather on a January day gives June's power hour by hour, not June's light under January's sun.

    January 10 is on standard time and June 1 on summer time, but the clock is the same.
    """
    january = Horizon(dt.date(2024, 1, 10), ZONE)
    june, _ = read_weather("sample", horizon=JUNE)
    taken, _ = read_weather("sample", horizon=january, taken_day=JUNE.day)
    expected = solar_power(june, JUNE, **ROOF).values
    assert solar_power(taken, january, **ROOF).values == pytest.approx(expected)


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 10, 23), (11, 3, 25)])
def test_days_of_23_and_25_hours(month: int, day: int, hours: int) -> None:
    """The power covers the day from midnight to midnight, also when the clocks change."""
    horizon = Horizon(dt.date(2024, month, day), ZONE)
    weather, _ = read_weather("sample", horizon=horizon)
    power = solar_power(weather, horizon, **ROOF)
    assert len(power.values) == hours
    assert (power.edges_unix[0], power.edges_unix[-1]) == (horizon.start_unix, horizon.end_unix)


def test_what_is_missing_is_named() -> None:
    """Without a place or irradiance the error says what to give."""
    weather, _ = read_weather("sample", horizon=JUNE)
    with pytest.raises(InputError, match=r"need a place, and sample has none; give weather\.latitude_deg"):
        solar_power(dataclasses.replace(weather, latitude_deg=None), JUNE, **ROOF)
    with pytest.raises(InputError, match="need irradiance or cloud cover, and sample has neither"):
        solar_power(dataclasses.replace(weather, ghi_w_per_m2=None), JUNE, **ROOF)


def test_light_that_is_next_to_nothing_gives_nothing() -> None:
    """Irradiance of 1e-310 W/m2 is no light: the inverter's formula must not divide by what comes of it."""
    weather, horizon = _steady(ghi=1e-310, dni=0.0, dhi=1e-310, air_c=25.0)
    assert not solar_power(weather, horizon, **ROOF).values.any()


def test_clouds_stand_in_for_irradiance() -> None:
    """Under a full cover a quarter of a clear sky's irradiance is left, under half of it 93 %."""
    weather, _ = read_weather("sample", horizon=JUNE)

    def under(percent: float) -> Weather:
        cloud = StepSeries("clouds", JUNE.start_unix + 3600 * np.arange(25), np.full(24, percent))
        return dataclasses.replace(
            weather, ghi_w_per_m2=None, dni_w_per_m2=None, dhi_w_per_m2=None, cloud_percent=cloud
        )

    zenith = pd.Series([0.0, 60.0, 95.0])
    clear = under_clouds(np.zeros(3), zenith)
    assert clear == pytest.approx([1098 * math.exp(-0.059), 549 * math.exp(-0.118), 0.0])
    assert under_clouds(np.full(3, 100.0), zenith) == pytest.approx(0.25 * clear)
    assert under_clouds(np.full(3, 50.0), zenith) == pytest.approx((1 - 0.75 * 0.5**3.4) * clear)
    free, half, full = (_kwh(solar_power(under(percent), JUNE, **ROOF)) for percent in (0.0, 50.0, 100.0))
    assert 0.15 * free < full < 0.35 * free
    assert full < half < free


def test_a_file_with_clouds_alone(tmp_path: Path) -> None:
    """An answer of Open-Meteo without radiation, as archives have it, gives photovoltaics, and says how far off."""
    hours = [f"2024-06-01T{hour:02d}:00" for hour in range(24)]
    values = {"time": hours, "temperature_2m": [20.0] * 24, "cloudcover": [50] * 24}
    units = {"time": "iso8601", "temperature_2m": "°C", "cloudcover": "%"}
    place = {"latitude": 50.09, "longitude": 8.65, "elevation": 111.0, "utc_offset_seconds": 0, "timezone": "GMT"}
    path = tmp_path / "frankfurt.json"
    path.write_text(json.dumps({**place, "hourly_units": units, "hourly": values}))
    day = Horizon(dt.date(2024, 6, 1), "UTC")
    weather, intake = read_weather(path, horizon=day)
    assert 400 < _kwh(solar_power(weather, day, **ROOF)) < 800
    assert "go by cloud cover; over the sample's year that is off by 4 %" in intake.notes[-1]
