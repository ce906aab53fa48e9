"""Wet-bulb temperatures against published values, and cooling that goes by them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.errors import FileFormatError, InputError
from planner.inputs.weather.read import constant_weather, read_weather
from planner.inputs.weather.wet_bulb import (
    humidity_ratio,
    saturation_pressure,
    standard_pressure,
    wet_bulb,
    wet_bulb_of,
)
from tests.weather_files import JUNE, hours, open_meteo

EPW_HEAD = "LOCATION,Here,X,FRA,TMYx,0,45.7,5.0,1.0,235.0\n" + "HEADER\n" * 7


def test_against_the_handbook() -> None:
    """ASHRAE Fundamentals 2017, chapter 1: example 1 has 40 C dry, 20 C wet, 14 % and 6.5 g/kg at sea level."""
    assert wet_bulb(40.0, 14.0, 101_325.0) == pytest.approx(20.0, abs=0.1)
    vapour = 0.14 * saturation_pressure(40.0)
    assert humidity_ratio(vapour, 101_325.0) == pytest.approx(0.0065, abs=0.0001)


def test_against_other_published_values() -> None:
    """Stull (2011) gives 13.7 C for 20 C and 50 %; PsychroLib's tests have 25 C wet for 30 C at 500 m, and -5 C."""
    assert wet_bulb(20.0, 50.0, 101_325.0) == pytest.approx(13.7, abs=0.1)
    # humidity ratios of these tests: 0.0192281 kg/kg at 30 C, 0.00120400 kg/kg at -1 C, both at 95,461 Pa
    for dry, ratio, wet in ((30.0, 0.0192281274241096, 25.0), (-1.0, 0.00120399819933844, -5.0)):
        vapour = 95_461 * ratio / (0.621945 + ratio)
        percent = 100 * vapour / float(saturation_pressure(dry))
        assert wet_bulb(dry, percent, 95_461.0) == pytest.approx(wet, abs=0.01)


@pytest.mark.parametrize(
    ("temperature_c", "is_ice", "published_pa"),
    [(-20, True, 103.24), (-5, True, 401.74), (5, False, 872.6), (25, False, 3169.7), (50, False, 12351.3)],
)
def test_saturation_pressures_of_the_handbook(temperature_c: float, is_ice: bool, published_pa: float) -> None:
    """Table 3 of the same chapter, within the 300 ppm that it claims for the formulas."""
    assert saturation_pressure(temperature_c, is_ice=is_ice) == pytest.approx(published_pa, rel=3e-4)


@pytest.mark.parametrize(("altitude_m", "published_pa"), [(-500, 107_478), (0, 101_325), (1000, 89_875)])
def test_standard_pressures_of_the_handbook(altitude_m: float, published_pa: float) -> None:
    """Table 1 of the same chapter."""
    assert standard_pressure(altitude_m) == pytest.approx(published_pa, abs=1)


def test_between_dew_point_and_dry_bulb() -> None:
    """Saturated air is at its wet-bulb temperature; drier air is below it, and the more so the drier it is."""
    dry = np.array([-30.0, -5.0, 0.0, 4.0, 20.0, 45.0])
    assert wet_bulb(dry[2:], 100.0, 101_325.0) == pytest.approx(dry[2:], abs=1e-6)
    by_humidity = np.array([wet_bulb(dry, percent, 101_325.0) for percent in range(0, 101, 5)])
    assert np.all(by_humidity <= dry)
    assert np.all(np.diff(by_humidity, axis=0) >= 0)


def weather_csv(path: Path, column: str = ",humidity_percent", cell: str = ",14") -> Path:
    rows = [f"{hour}+00:00,40{cell}" for hour in hours("2024-06-01T00:00", 24)]
    path.write_text(f"time,temperature_c{column}\n" + "\n".join(rows) + "\n")
    return path


def test_every_reader_reads_humidity_and_pressure(tmp_path: Path) -> None:
    """40 C and 14 % at sea level from CSV, Open-Meteo and EPW; a place at 235 m without a pressure has less of it."""
    times = hours("2024-06-01T00:00", 24)
    meteo = open_meteo(tmp_path / "m.json", times, [40.0] * 24, utc_offset_seconds=0)
    text = meteo.read_text().replace('"hourly": {', f'"hourly": {{"relative_humidity_2m": {[14] * 24}, ')
    meteo.write_text(text.replace('"elevation": 111.0', '"elevation": 0.0'))
    row = "2018,{month},{day},{hour},60,?9,40,0,14,101325,0,0,0,0,0,0,0,0,0,0,0,2.5" + ",0" * 13 + "\n"
    days = [dt.date(2018, 1, 1) + dt.timedelta(days=k) for k in range(365)]
    rows = [row.format(month=d.month, day=d.day, hour=h) for d in days for h in range(1, 25)]
    epw = tmp_path / "w.epw"
    epw.write_text(EPW_HEAD + "".join(rows))
    for path in (weather_csv(tmp_path / "w.csv"), meteo, epw):
        weather, _ = read_weather(path, horizon=JUNE, humidity=True)
        assert wet_bulb_of(weather).values == pytest.approx(20.0, abs=0.1), path
        assert read_weather(path, horizon=JUNE)[0].humidity_percent is None
    high = weather_csv(tmp_path / "h.csv", ",humidity_percent,pressure_hpa", ",14,850")
    weather, _ = read_weather(high, horizon=JUNE, humidity=True)
    assert wet_bulb_of(weather).values == pytest.approx(float(wet_bulb(40.0, 14.0, 85_000.0)), abs=0.006)
    assert wet_bulb_of(weather).values.max() < 19.5


def test_the_sample_has_humidity() -> None:
    """Greensboro's typical year (TMY3) has humidity and pressure; a wet bulb in June lies below the dry one."""
    horizon = Horizon(dt.date(2024, 6, 1), "America/New_York")
    weather, _ = read_weather("sample", horizon=horizon, humidity=True)
    assert weather.pressure_hpa is not None
    assert 950 < weather.pressure_hpa.values.mean() < 1000
    wet, dry = wet_bulb_of(weather), weather.temperature_c
    assert np.all(wet.values <= dry.at(wet.edges_unix[:-1]) + 0.005)
    assert 1 < (dry.at(wet.edges_unix[:-1]) - wet.values).mean() < 10


def test_weather_without_humidity(tmp_path: Path) -> None:
    """One line that says what is missing and what to do; a long hole is no humidity."""
    bare = weather_csv(tmp_path / "bare.csv", "", "")
    with pytest.raises(InputError, match=r"wet-bulb needs relative humidity, and bare\.csv has no usable one"):
        wet_bulb_of(read_weather(bare, horizon=JUNE, humidity=True)[0])
    with pytest.raises(InputError, match="wet-bulb needs relative humidity"):
        wet_bulb_of(constant_weather(20.0, JUNE))
    holed = weather_csv(tmp_path / "holed.csv")
    lines = holed.read_text().splitlines()
    holed.write_text("\n".join([*lines[:8], *(line.removesuffix("14") for line in lines[8:14]), *lines[14:]]) + "\n")
    with pytest.raises(InputError, match=r"holed\.csv has no usable one"):
        wet_bulb_of(read_weather(holed, horizon=JUNE, humidity=True)[0])


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        (",humidity_percent", ",140", r"the humidity at .* is 140 %"),
        (",humidity_percent,pressure_hpa", ",14,101325", r"the pressure at .* is 101325 hPa"),
    ],
)
def test_values_that_cannot_be(tmp_path: Path, column: str, cell: str, message: str) -> None:
    """A wrong unit is an error where humidity is wanted, and nobody's business where it is not."""
    path = weather_csv(tmp_path / "w.csv", column, cell)
    with pytest.raises(FileFormatError, match=message):
        read_weather(path, horizon=JUNE, humidity=True)
    read_weather(path, horizon=JUNE)
