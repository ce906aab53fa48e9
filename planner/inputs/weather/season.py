"""A season's weather for any day: which day of the year stands in for another."""

from __future__ import annotations

import calendar
import datetime as dt

from planner.scenario.words import Season

SEASONS: dict[Season, tuple[int, int, int]] = {
    "winter": (12, 1, 2),
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "autumn": (9, 10, 11),
}
"""Months of the meteorological seasons of the northern half of the earth."""


def day_in_season(day: dt.date, season: Season) -> dt.date:
    """The day of a season that stands in for a day.

    It is the same day of the month, in the month at the same place of its season: 7 August, in the last month of
    summer, gets the weather of 7 February for winter. The last days of long months get the last day of a short one.
    A day of the season itself gets its own weather.
    """
    month = SEASONS[season][day.month % 3]
    last = calendar.monthrange(day.year, month)[1]
    return dt.date(day.year, month, min(day.day, last))
