"""What a PUE table loses against the plant that it was made of, over a year of weather.

Run: ``python benchmarks/cooling_tables.py [WEATHER...]``. For each plant, lookup and steps of the table it prints, over
all hours of a year and eight loads from 20 to 90 % of the plant's design power: the mean absolute error of an hour's
cooling energy and the error of the year's, both in percent of the year's, as the least and the most over the loads.
Weather is the sample's typical year, or EPW and TMY3 files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from planner.cooling.plant import AIR, HYBRID, CoolingPlant, build_table, cooling_fraction, temperatures_between
from planner.domain.pue_table import PueTable
from planner.inputs.weather.typical_year import read_epw, read_tmy3, sample_path
from planner.inputs.weather.weather_csv import is_tmy3

LOADS = np.array([0.203, 0.307, 0.401, 0.509, 0.603, 0.707, 0.801, 0.905])
"""Parts of the design power, beside the rows of any table."""
TABLES = (("step", 5.0, 500), ("step", 1.0, 500), ("linear", 5.0, 500), ("linear", 1.0, 500), ("linear", 5.0, 5000))
"""Lookup, step of temperature [C] and step of power [W]."""


def year_of(path: Path) -> np.ndarray:
    """The outside temperatures of a typical year, hour by hour [C]; hours without one are left out."""
    read = read_tmy3 if path.suffix.lower() == ".csv" and is_tmy3(path) else read_epw
    found = read(path, path.name).values["temperature_c"]
    return found[np.isfinite(found)]


def table_of(plant: CoolingPlant, lookup: str, step_c: float, power_step_w: int) -> PueTable:
    """The plant's table with those steps."""
    made = build_table(
        plant,
        name=plant.name,
        max_power_w=plant.design_power_w,
        power_step_w=power_step_w,
        temperatures=temperatures_between(-30.0, 50.0, step_c),
    )
    return made.linear() if lookup == "linear" else made


def errors(plant: CoolingPlant, table: PueTable, outside_c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By load: the mean absolute error of an hour and the error of the year, in percent of the year's cooling."""
    power_w = LOADS * plant.design_power_w
    true = cooling_fraction(power_w[:, None], outside_c[None, :], plant)
    length_s = np.full(len(LOADS), 3600, dtype=np.int64)
    rows = table.rows(np.round(power_w * 1000).astype(np.int64) * length_s, length_s)
    kept_c = table.segment_temperature(outside_c)
    found = np.array([table.look_up(np.full(len(kept_c), row), kept_c) for row in rows])
    yearly = true.mean(axis=1)
    return 100 * np.abs(found - true).mean(axis=1) / yearly, 100 * (found - true).mean(axis=1) / yearly


def main() -> None:
    """Print the errors of all tables under each weather."""
    for path in [Path(name) for name in sys.argv[1:]] or [sample_path()]:
        outside_c = year_of(path)
        print(f"{path.name}: {len(outside_c):,} hours, {outside_c.min():.1f} to {outside_c.max():.1f} C")
        print(f"{'plant':<8}{'lookup':<8}{'step, C':>8}{'step, W':>9}{'an hour, %':>16}{'the year, %':>18}")
        for plant in (AIR, HYBRID):
            for lookup, step_c, power_step_w in TABLES:
                hour, year = errors(plant, table_of(plant, lookup, step_c, power_step_w), outside_c)
                print(
                    f"{plant.name:<8}{lookup:<8}{step_c:>8g}{power_step_w:>9,}"
                    f"{f'{hour.min():.2f} to {hour.max():.2f}':>16}{f'{year.min():+.2f} to {year.max():+.2f}':>18}"
                )
        print()


if __name__ == "__main__":
    main()
