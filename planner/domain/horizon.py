"""The planning day: its zone, its bounds in Unix time, and the way to and from wall-clock times."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from planner.bounds import HORIZON_YEARS
from planner.errors import InputError


def zone_named(name: str) -> ZoneInfo:
    """The time zone of that name; InputError when there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, UnicodeError) as error:
        raise InputError(f"unknown time zone {name!r}; use a name such as Europe/Paris or UTC") from error


@dataclass(frozen=True)
class Horizon:
    """One local calendar day; every ``_s`` value of a problem is integer seconds from its start.

    A day has 23 or 25 hours when the clocks change.
    """

    day: dt.date
    zone: str

    def __post_init__(self) -> None:
        zone_named(self.zone)
        HORIZON_YEARS.require(f"the year of {self.day}", self.day.year)
        if self.length_s <= 0:
            raise InputError(f"there is no {self.day} in {self.zone}: its calendar skips that day; choose another")

    @classmethod
    def of_unix(cls, unix: int, zone: str) -> Horizon:
        """The local day that holds a moment."""
        return cls(dt.datetime.fromtimestamp(unix, tz=zone_named(zone)).date(), zone)

    @cached_property
    def start_unix(self) -> int:
        """Unix time of local midnight at the start of the day."""
        return self._midnight(self.day)

    @cached_property
    def end_unix(self) -> int:
        """Unix time of local midnight at the end of the day."""
        return self._midnight(self.day + dt.timedelta(days=1))

    @cached_property
    def length_s(self) -> int:
        """Length of the day [s]."""
        return self.end_unix - self.start_unix

    def to_s(self, unix: int) -> int:
        """Seconds from the start of the day."""
        return unix - self.start_unix

    def to_datetime(self, offset_s: int) -> dt.datetime:
        """Zone-aware wall-clock time of an offset into the day."""
        return dt.datetime.fromtimestamp(self.start_unix + offset_s, tz=zone_named(self.zone))

    def next_day(self) -> Horizon:
        """The day after."""
        return Horizon(self.day + dt.timedelta(days=1), self.zone)

    def day_before(self) -> Horizon:
        """The day before."""
        return Horizon(self.day - dt.timedelta(days=1), self.zone)

    def _midnight(self, day: dt.date) -> int:
        return int(dt.datetime.combine(day, dt.time(), tzinfo=zone_named(self.zone)).timestamp())
