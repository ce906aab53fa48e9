"""Durations and local times as Slurm writes them: ``2-12:00:00``, ``08:30:00``, ``90``; ``2024-06-01T08:00:00``."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo

from planner.errors import InputError
from planner.printable import one_line

_DURATION = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,2})(?::(\d{1,2}))?(?:\.\d{1,6})?)?", re.ASCII)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
FORMS = "D-HH:MM:SS, HH:MM:SS, MM:SS or whole minutes"
LENGTHS_S = {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}
AFTER_DAYS_S = {1: (3600,), 2: (3600, 60), 3: (3600, 60, 1)}
"""Seconds of each number that stands between colons, by how many there are; after days the first is hours."""


def slurm_duration_s(text: str) -> int:
    """Seconds in a duration as ``sbatch --time`` takes it: one number alone is minutes, after days it is hours.

    Raises
    ------
    InputError
        The text is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    numbers = [int(each) for each in match.groups()[1:] if each is not None] if match else []
    if match is None or any(each > 59 for each in numbers[1:]):
        raise InputError(f"'{one_line(text, 40)}' is no duration; expected {FORMS}")
    lengths = LENGTHS_S if match[1] is None else AFTER_DAYS_S
    return int(match[1] or 0) * 86400 + sum(map(int.__mul__, numbers, lengths[len(numbers)]))


def moments_of(text: str, zone: ZoneInfo) -> tuple[int, ...]:
    """The moments [Unix seconds, rounded down] that a text may mean, the earlier first.

    A time with its offset, or Unix seconds, is one moment. A local time is two in the hour that clocks repeat in
    autumn, and none in the one that they skip in spring.

    Raises
    ------
    InputError
        The text is no time.
    """
    text = text.strip()
    if re.fullmatch(r"\d{1,12}", text, re.ASCII):
        return (int(text),)
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"'{one_line(text, 40)}' is no time; expected one such as 2024-06-01T08:00:00") from None
    if moment.tzinfo is not None:
        return ((moment - _EPOCH) // dt.timedelta(seconds=1),)
    return local_moments(moment, zone)


def local_moments(clock: dt.datetime, zone: ZoneInfo) -> tuple[int, ...]:
    """The moments [Unix seconds, rounded down] at which the clocks of a zone show a time, the earlier first."""
    found = set()
    for fold in (0, 1):
        moment = clock.replace(tzinfo=zone, fold=fold)
        if moment.astimezone(dt.UTC).astimezone(zone).replace(tzinfo=None) == clock.replace(fold=0):
            found.add((moment - _EPOCH) // dt.timedelta(seconds=1))
    return tuple(sorted(found))
