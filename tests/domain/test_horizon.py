"""Claims about the planning day: which one a moment belongs to, where it begins and how long it is."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from planner.domain.horizon import Horizon
from planner.domain.segment import Segment, join_segments
from planner.errors import InputError

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


def test_a_stretch_begins_at_any_moment() -> None:
    """Thirty hours from noon on the day when the clocks go forward touch two days and end at 18:00 of the second.

    The first day has 23 hours: noon is 11 h after midnight, and 13 h are left of it.
    """
    noon = int(dt.datetime(2024, 3, 31, 12, tzinfo=ZoneInfo("Europe/Paris")).timestamp())
    stretch = Horizon.from_moment(noon, 30 * 3600, "Europe/Paris")
    assert (stretch.start_unix, stretch.length_s, stretch.after_midnight_s) == (noon, 30 * 3600, 11 * 3600)
    assert [day.day for day in stretch.days()] == [dt.date(2024, 3, 31), dt.date(2024, 4, 1)]
    assert stretch.to_datetime(stretch.length_s).isoformat() == "2024-04-01T18:00:00+02:00"
    assert not stretch.is_whole_day


def test_a_day_touches_itself_alone() -> None:
    """The end of a day is not a part of it."""
    day = Horizon(dt.date(2024, 6, 1), "Europe/Paris")
    assert list(day.days()) == [day]
    assert day.is_whole_day


def test_an_empty_stretch_is_refused() -> None:
    """There is nothing to plan in no time."""
    with pytest.raises(InputError, match="at least one second"):
        Horizon.from_moment(1_700_000_000, 0, "UTC")


def test_segments_of_a_stretch_are_those_of_its_days_cut_and_joined() -> None:
    """From 18:00 until 06:00: the evening of the first day and the morning of the second, joined at midnight.

    Each day has one price until 12:00 and another one after; the second begins at the price at which the first ends.
    """
    first = Horizon(dt.date(2024, 6, 1), "UTC")
    night = Horizon.from_moment(first.start_unix + 18 * 3600, 24 * 3600, "UTC")
    of_first = (Segment(0, 43200, 20, 0.1), Segment(43200, 86400, 20, 0.2))
    of_second = (Segment(0, 43200, 20, 0.2), Segment(43200, 86400, 20, 0.3))
    joined = join_segments(night, [(first, of_first), (first.next_day(), of_second)])
    assert joined == (Segment(0, 18 * 3600, 20, 0.2), Segment(18 * 3600, 24 * 3600, 20, 0.3))
    assert join_segments(first, [(first, of_first)]) == of_first
