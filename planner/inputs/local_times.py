"""Local clock times as Unix times: zones, the hour skipped in spring, the hour repeated in autumn; and times and
durations as Slurm writes them, ``2-12:00:00`` or ``2024-06-01T08:00:00``."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from planner.domain.horizon import Horizon
from planner.errors import FileFormatError, InputError
from planner.limits import HORIZON_YEARS, UNIX_S
from planner.printable import one_line
from planner.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TEXT = 60
"""Characters of a time that are looked at; a longer text is not a time."""

NEIGHBOURS = 8
"""Distances on either side of a time by which the usual one is told."""

QUARTER_S = 900
"""Zones change their clocks on quarters of an hour, and nowhere between."""
_DURATION = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,2})(?::(\d{1,2}))?(?:\.\d{1,6})?)?", re.ASCII)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
FORMS = "D-HH:MM:SS, HH:MM:SS, MM:SS or whole minutes"
LENGTHS_S = {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}
AFTER_DAYS_S = {1: (3600,), 2: (3600, 60), 3: (3600, 60, 1)}
"""Seconds of each number that stands between colons, by how many there are; after days the first is hours."""


@dataclass(frozen=True)
class LocalMoments:
    """Unix times of a file's rows, in order of time.

    ``rows[k]`` is the row that moment k came from. ``skipped`` counts rows at local times that do not exist
    (spring), ``doubled`` rows at a local time that exists twice but is given once (autumn): such a row stands
    for both hours.
    """

    unix: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    skipped: int = 0
    doubled: int = 0


def unix_moments(
    texts: Sequence[str], zone: dt.tzinfo | None, *, path: Path | str, lines: Sequence[int] | None = None
) -> LocalMoments:
    """Read ISO 8601 times, all with an offset, or all naive ones of a zone.

    ``path`` and ``lines``, of each row, are for messages; no lines where a file has none.
    """
    import pandas as pd

    series = pd.Series([text[:LONGEST_TEXT] for text in texts], dtype="str")
    # an offset can only follow a time of day, so the hyphens of a date are not taken for one
    aware = series.str.contains(r":\d\d.*(?:[Zz]|[+-]\d\d:?(?:\d\d)?)\s*$", regex=True, na=False).to_numpy(bool)

    def fail(row: int, problem: str, remedy: str) -> FileFormatError:
        return FileFormatError(path, problem, line=None if lines is None else lines[row], remedy=remedy)

    if aware.any() and not aware.all():
        row = int(np.flatnonzero(aware != aware[0])[0])
        raise fail(row, f"time {texts[row]!r} and the rows before it differ in having a zone", "write all alike")
    if not aware.any() and zone is None and len(texts):
        raise fail(
            0,
            f"time {texts[0]!r} has no zone",
            "write it as 2024-06-01T00:00+02:00, or name the zone of the file's times, such as Europe/Paris",
        )
    try:
        parsed = pd.to_datetime(series, format="ISO8601", utc=bool(aware.any()), errors="coerce")
        years = parsed.dt.year.to_numpy(np.float64)
    except (ValueError, OverflowError, AttributeError) as error:  # what pandas does not coerce
        reason = (str(error).splitlines() or [""])[0]
        raise fail(0, f"a time cannot be read ({reason})", "write all as 2024-06-01T00:00+02:00") from error
    # Without an answer a year is NaN, and lies in no bounds.
    long = np.array([len(text) > LONGEST_TEXT for text in texts], dtype=np.bool_)
    bad = np.flatnonzero(long | ~((years >= HORIZON_YEARS.low) & (years <= HORIZON_YEARS.high)))
    if bad.size:
        row = int(bad[0])
        remedy = f"write it as 2024-06-01T00:00+02:00, with a year {HORIZON_YEARS}"
        raise fail(row, f"cannot read {texts[row]!r} as a time", remedy)
    index = pd.DatetimeIndex(parsed)
    moments = (
        _located(index, zone)
        if zone is not None and index.tz is None
        else LocalMoments(_unix(index), np.arange(len(index), dtype=np.int64))
    )
    return _sorted(moments, texts, fail)


def in_order(times: Sequence[int], *, path: Path | str) -> LocalMoments:
    """Unix times as they stand in a file, in order of time."""

    def fail(row: int, problem: str, remedy: str) -> FileFormatError:
        return FileFormatError(path, problem, remedy=remedy)

    odd = next((row for row, time in enumerate(times) if time not in UNIX_S), None)
    if odd is not None:
        raise fail(odd, f"time number {odd + 1} is no Unix time", f"write seconds {UNIX_S}")
    unix = np.array(times, dtype=np.int64)
    return _sorted(LocalMoments(unix, np.arange(len(unix), dtype=np.int64)), times, fail)


def _sorted(
    moments: LocalMoments, texts: Sequence[object], fail: Callable[[int, str, str], FileFormatError]
) -> LocalMoments:
    order = np.argsort(moments.unix, kind="stable")
    unix, rows = moments.unix[order], moments.rows[order]
    twice = np.flatnonzero(np.diff(unix) == 0)
    if twice.size:
        row = int(rows[twice[0] + 1])
        raise fail(row, f"time {texts[row]!r} is given twice", "keep one row for each time")
    return LocalMoments(unix, rows, moments.skipped, moments.doubled)


@dataclass(frozen=True)
class Stretch:
    """Part of a day, [``start_unix``, ``end_unix``); adding ``shift_s`` leads to the other day's moments."""

    start_unix: int
    end_unix: int
    shift_s: int


def clock_shifts(horizon: Horizon, taken_day: dt.date | None) -> tuple[Stretch, ...]:
    """The way from each moment of the day to the same clock time on another date.

    The shift is one number unless the clocks change on one of the two days. An hour that the other date lacks
    takes the hour after it; an hour that the other date has once is taken twice where the day has it twice.
    """
    if taken_day is None or taken_day == horizon.day:
        return (Stretch(horizon.start_unix, horizon.end_unix, 0),)
    offsets_s = range(0, horizon.length_s, QUARTER_S)
    starts = horizon.start_unix + np.array(offsets_s, dtype=np.int64)
    there = [dt.datetime.combine(taken_day, horizon.to_datetime(offset_s).timetz()) for offset_s in offsets_s]
    shifts = np.array([int(moment.timestamp()) for moment in there], dtype=np.int64) - starts
    firsts = np.flatnonzero(np.diff(shifts, prepend=shifts[0] - 1))
    ends = [*starts[firsts[1:]], horizon.end_unix]
    return tuple(
        Stretch(int(starts[first]), int(end), int(shifts[first])) for first, end in zip(firsts, ends, strict=True)
    )


def clock_minutes(horizon: Horizon) -> npt.NDArray[np.int64]:
    """Minute of the local clock, 0 to 1439, at each elapsed minute of the day."""
    clocks = [horizon.to_datetime(offset_s) for offset_s in range(0, horizon.length_s, QUARTER_S)]
    first = np.array([clock.hour * 60 + clock.minute for clock in clocks], dtype=np.int64)
    # modulo, for days that began or ended within a quarter: clocks kept seconds of their own as late as 1979
    minutes: npt.NDArray[np.int64] = (first[:, None] + np.arange(15)).ravel() % (24 * 60)
    return minutes


def _located(naive: pd.DatetimeIndex, zone: dt.tzinfo) -> LocalMoments:
    first = naive.tz_localize(zone, ambiguous=np.ones(len(naive), dtype=bool), nonexistent="NaT")
    second = naive.tz_localize(zone, ambiguous=np.zeros(len(naive), dtype=bool), nonexistent="NaT")
    exists = ~np.asarray(first.isna())
    if not exists.all():
        # What begins in the skipped hour and lasts for longer begins after it, unless a row of its own does.
        moved = naive.tz_localize(zone, ambiguous=np.ones(len(naive), dtype=bool), nonexistent="shift_forward")
        clocks, at = np.unique(_unix(naive), return_inverse=True)
        is_long = usual_steps_s(clocks)[at] > SECONDS_PER_HOUR
        is_moved = is_long & ~exists & ~np.asarray(moved.isin(first[exists])) & ~np.asarray(moved.duplicated())
        first, second = first.where(~is_moved, moved), second.where(~is_moved, moved)
        exists |= is_moved
    repeat = np.asarray(naive.duplicated(keep="first"))
    unix = np.where(repeat, _unix(second), _unix(first))
    # a local time of the repeated hour that stands only once
    alone = exists & ~np.asarray(naive.duplicated(keep=False)) & (_unix(first) != _unix(second))
    rows = np.arange(len(naive), dtype=np.int64)
    return LocalMoments(
        np.concatenate([unix[exists], _unix(second)[alone]]),
        np.concatenate([rows[exists], rows[alone]]),
        skipped=int(np.count_nonzero(~exists)),
        doubled=int(np.count_nonzero(alone)),
    )


def usual_steps_s(unix: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The usual distance to the next of increasing times, around each of them [s]; an hour for a single one.

    It is the third shortest of eight distances, so that neither holes nor a time too many count. Where a file turns
    from hours to quarters of an hour, those before and after differ: a distance of an hour is one of the hours.
    """
    gaps = np.diff(unix)
    if not gaps.size:
        return np.full(len(unix), SECONDS_PER_HOUR, dtype=np.int64)
    width = min(NEIGHBOURS, gaps.size)
    rank = min((width - 1) // 2, 2)
    usual = np.partition(np.lib.stride_tricks.sliding_window_view(gaps, width), rank, axis=1)[:, rank]
    at = np.arange(len(unix))
    before, after = (usual[np.clip(first, 0, len(usual) - 1)] for first in (at - width, at))
    longer, shorter = np.maximum(before, after), np.minimum(before, after)
    own = np.append(gaps, longer[-1])
    return np.where(own < longer, shorter, longer)


def _unix(index: pd.DatetimeIndex) -> npt.NDArray[np.int64]:
    moments = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
    seconds: npt.NDArray[np.int64] = moments.to_numpy().astype("datetime64[s]").astype(np.int64)
    return seconds


def slurm_duration_s(text: str) -> int:
    """Seconds in a duration as ``sbatch --time`` takes it: one number alone is minutes, after days it is hours."""
    match = _DURATION.fullmatch(text.strip())
    numbers = [int(each) for each in match.groups()[1:] if each is not None] if match else []
    if match is None or any(each > 59 for each in numbers[1:]):
        raise InputError(f"'{one_line(text, 40)}' is no duration; expected {FORMS}")
    lengths = LENGTHS_S if match[1] is None else AFTER_DAYS_S
    return int(match[1] or 0) * 86400 + sum(map(int.__mul__, numbers, lengths[len(numbers)]))


def moments_of(text: str, zone: ZoneInfo) -> tuple[int, ...]:
    """The moments [Unix seconds, rounded down] that a text may mean, the earlier first.

    A time with its offset, or Unix seconds, is one moment. A local time is two in the hour that clocks repeat in
    autumn, and none in the one that they skip in spring. InputError where the text is no time.
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
