"""What a number that comes in may be: the one place that bounds every quantity of a site, a job and a command.

The limits are far beyond any site, and low enough that nothing behind them can go wrong: sums of milliwatt-seconds and
of thousandths of amounts stay within 64 bits, moments within the calendar, and a day's problem within 2 GB of memory.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from planner.errors import InputError

Number = int | float | Decimal


@dataclass(frozen=True)
class Bounds:
    """The least and the most of a quantity, both allowed; ``above``: the least is not."""

    low: float
    high: float
    unit: str = ""
    above: bool = False

    def __contains__(self, value: Number) -> bool:
        return bool((value > self.low if self.above else value >= self.low) and value <= self.high)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if self.above:
            return f"above {_shown(self.low)} and at most {_shown(self.high)}{unit}"
        return f"from {_shown(self.low)} to {_shown(self.high)}{unit}"

    def require(self, what: str, value: Number) -> None:
        """InputError with the name of the quantity, the value and the bounds, unless the value lies within them."""
        if value not in self:
            raise InputError(f"{what} is {_shown(value)}; it must be {self}")


def _shown(value: Number) -> str:
    """A number for people, however large."""
    if isinstance(value, int) and abs(value) < 10**15:
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    try:
        return f"{float(value):,.12g}"
    except OverflowError:
        return "far beyond"


DAY_S = 86_400
YEAR_S = 366 * DAY_S

# The machine. A node takes about 1 kB of a search's timelines, and 128 bytes for each resource.
NODES = Bounds(1, 200_000, "nodes")
CLASSES = Bounds(1, 100, "classes")
RESOURCES = Bounds(1, 16, "resources")
NODE_CELLS = Bounds(1, 600_000, "amounts")
"""Nodes times resources."""
NODE_AMOUNT = Bounds(0, 1e9)
UNIT_AMOUNT = Bounds(0, 1e9, above=True)
"""Of a resource, per node and per unit."""
TOTAL_AMOUNT = Bounds(0, 1e12)
"""Of a resource, on the whole machine."""
OUTAGES = Bounds(0, 1_000_000, "outages")
"""Of all nodes, each counted once for each stretch of time."""
PROCESSORS = Bounds(1, 10**9, "processors")

# Power. Thirty gigawatts over a day of 25 h are 2.7e18 mW s, a third of 64 bits.
JOB_W = Bounds(0, 1e9, "W")
W_PER_CORE = Bounds(0, 1e6, "W")
ENERGY_J = Bounds(0, 1e18, "J", above=True)
"""Energy that a job drew."""
IDLE_W = Bounds(0, 1e6, "W")
NODE_W = Bounds(0, 1e6, "W")
ALL_IDLE_W = Bounds(0, 1e10, "W")
ALL_JOBS_W = Bounds(0, 2e10, "W")
"""All jobs of a day, as if they ran at once."""
POWER_LIMIT_W = Bounds(0, 1e10, "W", above=True)
POWER_LIMIT_KW = Bounds(0, 1e7, "kW", above=True)
SOLAR_KW = Bounds(0, 1e7, "kW")
TILT_DEG = Bounds(0, 90, "degrees")
AZIMUTH_DEG = Bounds(0, 360, "degrees")
FRACTION = Bounds(0, 1)
SITE_KW = Bounds(0, 1e9, "kW")
BATTERY_KWH = Bounds(0, 1e7, "kWh", above=True)
BATTERY_KW = Bounds(0, 1e7, "kW", above=True)
BATTERY_KW_PER_KWH = Bounds(0, 20)
"""What a battery gives for what it holds: no cell is emptied in less than three minutes."""
EFFICIENCY = Bounds(0, 1, above=True)
NODE_SLEEP_S = Bounds(0, DAY_S, "s")

# Jobs.
REQUESTED_S = Bounds(1, 100 * YEAR_S, "s")
RUNTIME_S = Bounds(0, 100 * YEAR_S, "s")
REQUESTED = Bounds(0, 100 * YEAR_S, "s", above=True)
REQUESTED_H = Bounds(0, 100 * YEAR_S / 3600, "h", above=True)
UNITS = Bounds(1, 1_000_000, "units")
UNIT_GROUPS = Bounds(1, 1_000, "groups")
DAY_UNITS = Bounds(0, 2_000_000, "units")
REVENUE_WEIGHT = Bounds(0, 10_000)
PRIORITY = Bounds(0, 10_000)
JOBS_OF_A_FILE = Bounds(0, 2_000_000, "jobs")
CELLS_OF_A_TABLE = Bounds(0, 24_000_000, "cells")
SAMPLE_DAYS = Bounds(0, 4_000, "days")
SAMPLE_JOBS = Bounds(0, 50_000, "jobs")
LOAD = Bounds(0, 100, above=True)
CORE_SCALE = Bounds(0, 1e6, above=True)
UNIT_CORES = Bounds(1, 10**9, "cores")
LOOKBACK_S = Bounds(0, YEAR_S, "s")
DEFERRAL_DAYS = Bounds(1, 36_600, "days")

# Money.
EUR_PER_KWH = Bounds(-1e5, 1e5)
EUR_PER_CORE_HOUR = Bounds(0, 1e5)
EUR_PER_KW = Bounds(0, 1e6)
EUR_PER_TONNE = Bounds(0, 1e6)
EUR_PER_USD = Bounds(0, 1e6, above=True)
BUDGET_EUR = Bounds(0, 1e12)
G_PER_KWH = Bounds(0, 1e5)
CARBON_KG = Bounds(0, 1e12, "kg")
VALUE_IN_FILE = Bounds(-1e8, 1e8)
"""Of a series over time, whatever its unit."""
G_PER_KWH_IN_FILE = Bounds(-1e5, 1e5)
"""A file may have faults on other days."""

# The outside, and the cooling table over it.
TEMPERATURE_C = Bounds(-90, 70, "C")
"""Beyond the records of the surface of the earth (-89.2 and 56.7 C, WMO): a wrong unit or column."""
IRRADIANCE_W_PER_M2 = Bounds(-100, 5_000, "W/m2")
"""Instruments read a little below zero at night."""
WIND_M_PER_S = Bounds(-1, 200, "m/s")
CLOUD_PERCENT = Bounds(0, 100, "%")
HUMIDITY_PERCENT = Bounds(0, 110, "%")
"""Instruments read a little above 100 in fog."""
PRESSURE_HPA = Bounds(300, 1_100, "hPa")
"""From the highest mountain to the lowest shore; pascals and kilopascals are beyond it."""
LATITUDE_DEG = Bounds(-90, 90, "degrees")
LONGITUDE_DEG = Bounds(-180, 180, "degrees")
ALTITUDE_M = Bounds(-1_000, 10_000, "m")
UTC_OFFSET_S = Bounds(-64_800, 64_800, "s")
TABLE_C = Bounds(-200, 200, "C")
TABLE_STEP_C = Bounds(0.001, 100, "C")
TABLE_W = Bounds(0, 10**10, "W")
TABLE_KW = Bounds(0.001, 1e7, "kW")
TABLE_COOLING = Bounds(0, 100)
TABLE_ROWS = Bounds(1, 50_000, "rows")
TABLE_COLUMNS = Bounds(1, 401, "columns")
SEGMENTS = Bounds(1, 1_500, "segments")
DEMAND_INTERVAL_S = Bounds(60, DAY_S, "s")
"""Of a scenario: shorter ones would cut the day into more segments than a search can count again and again."""
ANY_INTERVAL_S = Bounds(1, DAY_S, "s")

# Times. Nothing after the year 9998, so that every zone can write it.
MOMENT_S = Bounds(-10 * YEAR_S, int(dt.datetime(9999, 1, 1, tzinfo=dt.UTC).timestamp()) - 1, "s")
"""Unix time of whatever happens to a job; the sample site has days before the first that can be planned."""
UNIX_S = Bounds(0, int(dt.datetime(9999, 1, 1, tzinfo=dt.UTC).timestamp()) - 1, "s")
PLANNED_YEARS = Bounds(1970, 2199)
HORIZON_YEARS = Bounds(1960, 2600)
"""The days beside a planned one too, and those whose weather stands in for it."""
DURATION_S = Bounds(0, 100 * YEAR_S, "s")
RUN_DAYS = Bounds(1, 3_660, "days")
MONTH_DAYS = Bounds(0, 400, "days")
KEEP_DAYS = Bounds(1, 3_660, "days")
SOLVE_S = Bounds(0, YEAR_S, "s")

# Commands.
PERCENT = Bounds(0, 100, "percent")
SEED = Bounds(0, 2**31 - 1)
WORKERS = Bounds(0, 1_024)
ITERATIONS = Bounds(1, 10**9)
EVALUATIONS = Bounds(0, 10**6)
DISPATCH_STEPS = Bounds(1, 10**9)
QUEUE_NODES = Bounds(1, 20_000, "nodes")
QUEUE_JOBS = Bounds(1, 10_000, "jobs")
"""Of queues that are made up to see what a dispatch takes."""

# Searches.
MEETINGS = Bounds(1, 1_000)
STEP_JOBS = Bounds(1, 100, "jobs")
"""Of a step of rebuilding: timelines keep room for all of them."""
LOOKAHEAD_DAYS = Bounds(1, 7, "days")
DELAY_STEP_S = Bounds(60, DAY_S, "s")
MAX_DELAY_S = Bounds(0, 365 * DAY_S, "s")
HOLD_EVERY_S = Bounds(900, DAY_S, "s")
HOLD_AHEAD_S = Bounds(3600, 7 * DAY_S, "s")
EUR_PER_WAITING_HOUR = Bounds(0, 10**6, "EUR per hour")
ENGINE_JOBS = Bounds(0, 10_000, "jobs")
PART_JOBS = Bounds(1, 10_000, "jobs")
ENGINE_STEP_S = Bounds(1, 3_600, "s")

# Files.
FILE_BYTES = Bounds(0, 192 * 1024**2, "bytes")
LINES = Bounds(0, 5_000_000, "lines")
YAML_CHARACTERS = Bounds(0, 200_000, "characters")
YAML_VALUES = Bounds(0, 20_000, "values")
YAML_DEPTH = Bounds(0, 50, "levels")
