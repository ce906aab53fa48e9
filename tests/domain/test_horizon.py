"""Claims about the planning day: which one a moment belongs to, where it begins and how long it is."""

from __future__ import annotations

import datetime as dt

import pytest

from planner.domain.horizon import Horizon

PARIS = "Europe/Paris"
SUMMER = int(dt.datetime(2024, 6, 1, 22, tzinfo=dt.UTC).timestamp())
"""Midnight in Paris, where 2 June begins."""


@pytest.mark.parametrize(
    ("unix", "zone", "day"),
    [
        (SUMMER - 1, PARIS, dt.date(2024, 6, 1)),
        (SUMMER, PARIS, dt.date(2024, 6, 2)),
        (SUMMER, "UTC", dt.date(2024, 6, 1)),
        (SUMMER, "America/New_York", dt.date(2024, 6, 1)),
        (0, "UTC", dt.date(1970, 1, 1)),
        (0, "America/New_York", dt.date(1969, 12, 31)),
    ],
)
def test_a_moment_belongs_to_the_local_day_that_holds_it(unix: int, zone: str, day: dt.date) -> None:
    """From local midnight on it is the next day; the same moment is another day elsewhere."""
    horizon = Horizon.of_unix(unix, zone)
    assert horizon == Horizon(day, zone)
    assert horizon.start_unix <= unix < horizon.end_unix


def test_every_hour_around_a_clock_change_belongs_to_its_day() -> None:
    """27 October 2024 has 25 hours in Paris, 31 March 23: as many hours belong to them."""
    for day, hours in ((dt.date(2024, 10, 27), 25), (dt.date(2024, 3, 31), 23)):
        first = Horizon(day, PARIS).day_before().start_unix
        days = [Horizon.of_unix(first + 3600 * hour, PARIS).day for hour in range(72)]
        assert days.count(day) == hours
