"""Claims about bounds: nothing infinite, missing or beyond 64 bits lies within any, and the message says what would."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from planner import limits
from planner.errors import InputError
from planner.limits import Bounds

KNOWN = {name: each for name, each in vars(limits).items() if isinstance(each, Bounds)}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2**63, 2**64, 10**400, -(10**400), 1e308])
def test_no_bounds_hold_what_breaks_arithmetic(value: float) -> None:
    """Whatever the quantity, such numbers are refused."""
    assert not [name for name, within in KNOWN.items() if value in within]


def test_a_refusal_names_field_value_and_range() -> None:
    """The line has all that is needed to correct the number."""
    for within in KNOWN.values():
        with pytest.raises(InputError) as caught:
            within.require("cluster.nodes", 10**30)
        assert str(caught.value) == f"cluster.nodes is 1e+30; it must be {within}"


def test_edges_are_within() -> None:
    """Both ends are allowed, unless the least is said not to be; decimals are compared exactly."""
    assert all(value in Bounds(1, 3) for value in (1, 3, 2.5, Decimal("1.0")))
    assert Decimal("3.0000000000000000000001") not in Bounds(1, 3)
    assert 1 not in Bounds(1, 3, above=True)
    assert str(Bounds(0, 1_000_000, "W", above=True)) == "above 0 and at most 1,000,000 W"
    assert str(Bounds(1970, 2199)) == "from 1970 to 2199"


def test_a_day_s_energy_fits_into_64_bits() -> None:
    """All that a site can draw, over 25 hours, in milliwatt-seconds, twice: the most that is ever multiplied."""
    most_w = limits.ALL_JOBS_W.high + limits.ALL_IDLE_W.high
    assert 2 * most_w * 1000 * 25 * 3600 < 2**63
    assert 2 * limits.TABLE_W.high * 1000 * 25 * 3600 < 2**63


def test_amounts_fit_into_64_bits() -> None:
    """Thousandths of all nodes' amounts, and of the units of any job."""
    assert limits.TOTAL_AMOUNT.high * 1000 < 2**63
    assert limits.UNITS.high * limits.UNIT_AMOUNT.high * 1000 < 2**63


ONE_AT_LEAST = [
    "NODES",
    "CLASSES",
    "RESOURCES",
    "NODE_CELLS",
    "PROCESSORS",
    "REQUESTED_S",
    "UNITS",
    "UNIT_GROUPS",
    "UNIT_CORES",
    "DEFERRAL_DAYS",
    "TABLE_ROWS",
    "TABLE_COLUMNS",
    "SEGMENTS",
    "ANY_INTERVAL_S",
    "RUN_DAYS",
    "KEEP_DAYS",
    "ITERATIONS",
    "DISPATCH_STEPS",
    "QUEUE_NODES",
    "QUEUE_JOBS",
    "MEETINGS",
    "STEP_JOBS",
    "LOOKAHEAD_DAYS",
    "PART_JOBS",
    "ENGINE_STEP_S",
]
LEAST = {
    **dict.fromkeys(ONE_AT_LEAST, 1),
    **{"EUR_PER_KWH": -1e5, "VALUE_IN_FILE": -1e8, "G_PER_KWH_IN_FILE": -1e5, "TEMPERATURE_C": -90, "TABLE_C": -200},
    **{"IRRADIANCE_W_PER_M2": -100, "WIND_M_PER_S": -1, "PRESSURE_HPA": 300, "ALTITUDE_M": -1000},
    **{"LATITUDE_DEG": -90, "LONGITUDE_DEG": -180, "UTC_OFFSET_S": -18 * 3600, "TABLE_STEP_C": 1e-3, "TABLE_KW": 1e-3},
    **{"DEMAND_INTERVAL_S": 60, "DELAY_STEP_S": 60, "HOLD_EVERY_S": 900, "HOLD_AHEAD_S": 3600},
    **{"MOMENT_S": -3660 * 86400, "PLANNED_YEARS": 1970, "HORIZON_YEARS": 1960},
}
SHORT = (16, 110, 180, 360, 401, 1024, 1100, 1500, 2199, 2600, 3600, 3660, 36_600, 24_000_000, 2**31 - 1, 192 * 2**20)
LONG = (64_800, *(86_400 * days for days in (1, 7, 365, 366, 36_600)), 36_600 * 24, 253_370_764_799)
"""Numbers of bits, degrees, days, years, and the last second of the year 9998."""


def test_zero_is_the_least_and_the_most_is_round() -> None:
    """Nothing at all is a sound amount, but for what must be there or may be below; the most is easy to remember."""
    assert {name: within.low for name, within in KNOWN.items() if within.low != LEAST.get(name, 0)} == {}
    most = {name: within.high for name, within in KNOWN.items() if within.high not in (*SHORT, *LONG)}
    assert [name for name, high in most.items() if len(f"{high:.0f}".rstrip("0")) > 1] == []
    assert {within.low for within in KNOWN.values() if within.above} == {0}
