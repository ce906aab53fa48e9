"""Claims about bounds: nothing infinite, missing or beyond 64 bits lies within any, and the message says what would."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from planner import bounds
from planner.bounds import Bounds
from planner.errors import InputError

KNOWN = {name: each for name, each in vars(bounds).items() if isinstance(each, Bounds)}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2**63, 2**64, 10**400, -(10**400), 1e308])
def test_no_bounds_hold_what_breaks_arithmetic(value: float) -> None:
    """Whatever the quantity, such numbers are refused."""
    assert not [name for name, limits in KNOWN.items() if value in limits]


def test_a_refusal_names_field_value_and_range() -> None:
    """The line has all that is needed to correct the number."""
    for limits in KNOWN.values():
        with pytest.raises(InputError) as caught:
            limits.require("cluster.nodes", 10**30)
        assert str(caught.value) == f"cluster.nodes is 1e+30; it must be {limits}"


def test_edges_are_within() -> None:
    """Both ends are allowed, unless the least is said not to be; decimals are compared exactly."""
    assert all(value in Bounds(1, 3) for value in (1, 3, 2.5, Decimal("1.0")))
    assert Decimal("3.0000000000000000000001") not in Bounds(1, 3)
    assert 1 not in Bounds(1, 3, above=True)
    assert str(Bounds(0, 1_000_000, "W", above=True)) == "above 0 and at most 1,000,000 W"
    assert str(Bounds(1970, 2199)) == "from 1970 to 2199"


def test_a_day_s_energy_fits_into_64_bits() -> None:
    """All that a site can draw, over 25 hours, in milliwatt-seconds, twice: the most that is ever multiplied."""
    most_w = bounds.ALL_JOBS_W.high + bounds.ALL_IDLE_W.high
    assert 2 * most_w * 1000 * 25 * 3600 < 2**63
    assert 2 * bounds.TABLE_W.high * 1000 * 25 * 3600 < 2**63


def test_amounts_fit_into_64_bits() -> None:
    """Thousandths of all nodes' amounts, and of the units of any job."""
    assert bounds.TOTAL_AMOUNT.high * 1000 < 2**63
    assert bounds.UNITS.high * bounds.UNIT_AMOUNT.high * 1000 < 2**63
