"""Readers of single values of a scenario: each takes a marked value and its key, and says what is wrong."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from zoneinfo import available_timezones

from planner.bounds import CORE_SCALE, PLANNED_YEARS, W_PER_CORE, Bounds
from planner.domain.horizon import zone_named
from planner.errors import InputError
from planner.places import is_file, is_folder
from planner.printable import is_text, shortened
from planner.readers.scenario.strict_yaml import Marked
from planner.units import parse_duration

T = TypeVar("T")
Read = Callable[[Marked, str], T]


class BadValueError(Exception):
    """One or more problems of a scenario, each a line with its place, key, bad value and remedy."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


def bad(entry: Marked, key: str, problem: str, remedy: str = "") -> BadValueError:
    """A problem of one value, ready to raise."""
    return BadValueError([f"{entry.where}: {key}: {problem}" + (f"; {remedy}" if remedy else "")])


def guess(word: str, known: Iterable[str]) -> str:
    """The words ``did you mean X?`` for the nearest known word, or nothing."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1)
    return f"did you mean {names[near[0]]}?" if near else ""


def text(entry: Marked, key: str) -> str:
    """Text that is not empty."""
    if not isinstance(entry.value, str):
        raise _wrong(entry, key, "text", "put it in quotes" if entry.value is not None else "")
    if not entry.value.strip():
        raise bad(entry, key, "is empty", "give some text or remove the key")
    return entry.value


def label(entry: Marked, key: str) -> str:
    """Text that can name a folder."""
    name = text(entry, key)
    if not name.isprintable() or re.search(r"[/\\:]", name) or name.startswith("."):
        raise bad(entry, key, f"{name!r} cannot name a folder", "use letters, digits, - and _")
    return name


def prose(entry: Marked, key: str) -> str:
    """Any text, with its line breaks as spaces."""
    return " ".join(text(entry, key).split())


def flag(entry: Marked, key: str) -> bool:
    """``true`` or ``false``."""
    if not isinstance(entry.value, bool):
        raise _wrong(entry, key, "true or false", "write it without quotes")
    return entry.value


def number(bounds: Bounds) -> Callable[[Marked, str], float]:
    """A number within bounds."""

    def read(entry: Marked, key: str) -> float:
        value = entry.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong(entry, key, f"a number {bounds}", _unquote(value))
        if value not in bounds:
            raise bad(entry, key, f"expected a number {bounds}, found {_short(value)}")
        return float(value)

    return read


def whole(bounds: Bounds) -> Callable[[Marked, str], int]:
    """A whole number within bounds; ``1e3`` is one."""

    def read(entry: Marked, key: str) -> int:
        value = entry.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong(entry, key, f"a whole number {bounds}", _unquote(value))
        if value not in bounds or value != int(value):
            raise bad(entry, key, f"expected a whole number {bounds}, found {_short(value)}")
        return int(value)

    return read


def scale(entry: Marked, key: str) -> float:
    """A number above 0, or a fraction of two such as ``9600/93312``."""
    if isinstance(entry.value, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*", entry.value, re.ASCII)
        above, below = (float(parts[1]), float(parts[2])) if parts is not None else (0.0, 0.0)
        if not 0 < below < math.inf or above / below not in CORE_SCALE:
            raise _wrong(entry, key, f"a number {CORE_SCALE}", "or write a fraction such as 9600/93312")
        return above / below
    return number(CORE_SCALE)(entry, key)


def one_of(*words: str) -> Callable[[Marked, str], str]:
    """One of a few words."""

    def read(entry: Marked, key: str) -> str:
        if entry.value not in words:
            hint = guess(entry.value, words) if isinstance(entry.value, str) else ""
            raise _wrong(entry, key, f"one of {', '.join(words)}", hint)
        return str(entry.value)

    return read


def duration(bounds: Bounds) -> Callable[[Marked, str], int]:
    """A duration such as ``15m`` or ``1d`` [s]."""

    def read(entry: Marked, key: str) -> int:
        value = entry.value
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise _wrong(entry, key, "a duration", "write 30s, 15m, 2h or 1d")
        try:
            seconds = parse_duration(value)
        except InputError as error:
            raise bad(entry, key, str(error)) from None
        if seconds not in bounds or seconds != int(seconds):
            raise bad(entry, key, f"expected whole seconds {bounds}, found {_short(value)}", "write 30s, 15m, 2h or 1d")
        return int(seconds)

    return read


def date(entry: Marked, key: str) -> dt.date:
    """A date such as ``2024-06-01``, with or without quotes."""
    value = entry.value
    if isinstance(value, str):
        with suppress(ValueError):
            value = dt.date.fromisoformat(value)
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date):
        raise _wrong(entry, key, "a date", "write it as 2024-06-01")
    if value.year not in PLANNED_YEARS:
        raise bad(entry, key, f"expected a year {PLANNED_YEARS}, found {value}")
    return value


def clock_time(entry: Marked, key: str) -> str:
    """A clock time from ``"00:00"`` to ``"24:00"``, with two digits for the hour."""
    parts = re.fullmatch(r"(\d{1,2}):([0-5]\d)", entry.value, re.ASCII) if isinstance(entry.value, str) else None
    if parts is None or int(parts[1]) * 60 + int(parts[2]) > 24 * 60:
        raise _wrong(entry, key, "a clock time", 'write it in quotes: "22:00"')
    return f"{int(parts[1]):02d}:{parts[2]}"


def zone(entry: Marked, key: str) -> str:
    """The name of a time zone."""
    name = text(entry, key)
    try:
        zone_named(name)
    except InputError as error:
        raise bad(entry, key, str(error), _zone_guess(name)) from None
    return name


def currency(entry: Marked, key: str) -> str:
    """A currency's code of three letters."""
    code = text(entry, key)
    if not re.fullmatch(r"[A-Z]{3}", code):
        raise bad(entry, key, f"{code!r} is not a currency code", "write three capitals such as EUR")
    return code


def path(entry: Marked, key: str) -> Path:
    """A file that exists; a relative path starts at the folder of the file that wrote it."""
    written = text(entry, key)
    try:
        found = (entry.source.folder / Path(written).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or the home of nobody
        raise bad(entry, key, f"{written!r} leads nowhere", "give the path of a file") from None
    if not is_text(str(found)):
        raise bad(entry, key, f"{found} is not UTF-8 text", "use names that are")
    if not is_file(found):
        problem = "is a folder, not a file" if is_folder(found) else "does not exist"
        raise bad(entry, key, f"{written!r}: {found} {problem}", "paths start at the file that writes them")
    return found


def word_or_path(*words: str) -> Callable[[Marked, str], str | Path]:
    """One of a few words, or a file."""

    def read(entry: Marked, key: str) -> str | Path:
        if entry.value in words:
            return str(entry.value)
        try:
            return path(entry, key)
        except BadValueError as error:
            raise BadValueError([f"{error}; or write {' or '.join(words)}"]) from None

    return read


def pair(entry: Marked, key: str) -> tuple[float, float]:
    """Two numbers from 0 up, low then high."""
    if not isinstance(entry.value, tuple) or len(entry.value) != 2:
        raise _wrong(entry, key, "two numbers", "write [7.8, 11.11]")
    low, high = (number(W_PER_CORE)(item, f"{key}[{index}]") for index, item in enumerate(entry.value))
    if low > high:
        raise bad(entry, key, f"the low end {low} is above the high end {high}", "swap them")
    return low, high


def _wrong(entry: Marked, key: str, expected: str, remedy: str = "") -> BadValueError:
    return bad(entry, key, f"expected {expected}, found {_shown(entry)}", remedy)


def _shown(entry: Marked) -> str:
    if entry.value is None:
        return "nothing"
    if isinstance(entry.value, bool):
        return str(entry.value).lower()
    if isinstance(entry.value, str):
        return shortened(repr(entry.value), 80)
    if isinstance(entry.value, int | float):
        return _short(entry.value)
    if isinstance(entry.value, dt.date):
        return entry.value.isoformat()
    return "a list" if isinstance(entry.value, tuple) else "a mapping"


def _unquote(value: object) -> str:
    if not isinstance(value, str):
        return ""
    try:
        float(value)
    except ValueError:
        return ""
    return "remove the quotes"


def _short(value: object) -> str:
    """A value as it was written, if that is not too long."""
    return shortened(str(value), 40) if not isinstance(value, int) or abs(value) < 10**40 else "a number far beyond"


def _zone_guess(name: str) -> str:
    zones = available_timezones()
    by_city = {zone.rsplit("/", 1)[-1]: zone for zone in sorted(zones) if "/" in zone}
    near = difflib.get_close_matches(name, zones, n=1) or [
        by_city[city] for city in difflib.get_close_matches(name, by_city, n=1)
    ]
    return f"did you mean {near[0]}?" if near else ""
