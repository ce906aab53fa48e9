"""The planning day: its zone, its bounds in Unix time, and the way to and from wall-clock times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from planner.errors import InputError
from planner.limits import HORIZON_YEARS


def zone_named(name: str) -> ZoneInfo:
    """The time zone of that name; InputError when there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, UnicodeError) as error:
        raise InputError(f"unknown time zone {name!r}; use a name such as Europe/Paris or UTC") from error


@dataclass(frozen=True)
class Horizon:
    """The time that is planned: a local calendar day, or a stretch of time from any moment on.

    Every ``_s`` value of a problem is whole seconds from the horizon's start. A day has 23 or 25 hours when the clocks
    change. ``after_midnight_s`` is where a stretch begins on its day, ``for_s`` how long it is; None: until the day's
    end.
    """

    day: dt.date
    zone: str
    after_midnight_s: int = 0
    for_s: int | None = None

    def __post_init__(self) -> None:
        zone_named(self.zone)
        HORIZON_YEARS.require(f"the year of {self.day}", self.day.year)
        if self.length_s <= 0 and self.is_whole_day:
            raise InputError(f"there is no {self.day} in {self.zone}: its calendar skips that day; choose another")
        if self.length_s <= 0:
            raise InputError(f"a horizon of {self.length_s} s; it must have at least one second")

    @classmethod
    def of_unix(cls, unix: int, zone: str) -> Horizon:
        """The local day that holds a moment."""
        return cls(dt.datetime.fromtimestamp(unix, tz=zone_named(zone)).date(), zone)

    @classmethod
    def from_moment(cls, unix: int, length_s: int, zone: str) -> Horizon:
        """A stretch of so many seconds from a moment on."""
        day = cls.of_unix(unix, zone)
        return cls(day.day, zone, unix - day.start_unix, length_s)

    @property
    def is_whole_day(self) -> bool:
        """Whether it is a calendar day, and no other stretch of time."""
        return self.after_midnight_s == 0 and self.for_s is None

    @cached_property
    def start_unix(self) -> int:
        """Unix time of its start: local midnight for a day."""
        return self._midnight(self.day) + self.after_midnight_s

    @cached_property
    def end_unix(self) -> int:
        """Unix time of its end: the next local midnight for a day."""
        return self._midnight(self.day + dt.timedelta(days=1)) if self.for_s is None else self.start_unix + self.for_s

    @cached_property
    def length_s(self) -> int:
        """Length [s]."""
        return self.end_unix - self.start_unix

    def days(self) -> Iterator[Horizon]:
        """The calendar days that it touches."""
        day = Horizon(self.day, self.zone)
        while day.start_unix < self.end_unix:
            yield day
            day = day.next_day()

    def to_s(self, unix: int) -> int:
        """Seconds from its start."""
        return unix - self.start_unix

    def to_datetime(self, offset_s: int) -> dt.datetime:
        """Zone-aware wall-clock time of an offset."""
        return dt.datetime.fromtimestamp(self.start_unix + offset_s, tz=zone_named(self.zone))

    def next_day(self) -> Horizon:
        """The calendar day after that of its start."""
        return Horizon(self.day + dt.timedelta(days=1), self.zone)

    def day_before(self) -> Horizon:
        """The calendar day before that of its start."""
        return Horizon(self.day - dt.timedelta(days=1), self.zone)

    def _midnight(self, day: dt.date) -> int:
        return int(dt.datetime.combine(day, dt.time(), tzinfo=zone_named(self.zone)).timestamp())
