"""Reads one value of Slurm's JSON in any of its dialects, and says in one line what is wrong where that fails.

Slurm 22.05 writes a number as ``5`` or ``null``, later versions as ``{"set": true, "infinite": false, "number": 5}``;
a state as ``"RUNNING"`` or as ``["RUNNING"]``. An absent key is the same as an empty value: versions add and drop keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from planner import bounds
from planner.errors import InputError
from planner.inputs.slurm.hostlist import expand
from planner.printable import one_line

MOST = 2**63 - 1
UNSET = frozenset({-1, -2, 2**32 - 1, 2**32 - 2, 2**64 - 1, 2**64 - 2})
"""Slurm's own marks for "no value" and "infinite", which some versions let through as numbers."""
NO_HOSTS = ("", "(null)", "None assigned")

_DIGITS = re.compile(r"[+-]?\d{1,20}", re.ASCII)
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Fields:
    """One object of the JSON.

    Attributes
    ----------
    source
        File or command that it comes from.
    place
        Where it stands, such as ``jobs[3]``; empty for the whole document.
    values
        Its values by key, as JSON has them.
    """

    source: str
    place: str
    values: Mapping[str, Any]

    def wrong(self, key: str, expected: str) -> InputError:
        """The error that says what stands at a key and what should."""
        found = shown(self.values[key]) if key in self.values else "missing"
        return InputError(f"{self.source}: {self.place_of(key)} is {found}, expected {expected}")

    def place_of(self, key: str) -> str:
        """Where the value of a key stands."""
        return f"{self.place}.{key}" if self.place else key

    def text(self, key: str) -> str:
        """Text as it is, whatever characters it has; empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """Words of a list, or the one word of a text."""
        value = self.values.get(key)
        if value is None or value == "":
            return ()
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise self.wrong(key, "text or a list of texts")

    def names(self, key: str) -> tuple[str, ...]:
        """Names of a list, or of a text with commas between them."""
        return tuple(name for word in self.words(key) for name in names_of(word))

    def flag(self, key: str) -> bool:
        """Whether something is so; not so where nothing is said."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return bool(value)

    def whole(self, key: str, most: int = MOST, what: str = "a whole number") -> int | None:
        """A whole number from 0; None where it is absent, not set or infinite."""
        try:
            value = number_of(self.values.get(key))
        except ValueError:
            value = math.nan
        if value is None or value in UNSET:
            return None
        if not 0 <= value <= most or value != int(value):
            raise self.wrong(key, f"{what} from 0, null or {{set, infinite, number}}")
        return int(value)

    def positive(self, key: str) -> int | None:
        """A whole number; None also where it is 0, as Slurm has it where nothing was asked."""
        return self.whole(key) or None

    def moment(self, key: str) -> int | None:
        """A time [Unix seconds]; None where it is 0, which Slurm writes for "never"."""
        return self.whole(key, int(bounds.UNIX_S.high), "Unix seconds") or None

    def minutes(self, key: str) -> int | None:
        """A limit in minutes [s]; None where it is unlimited or not set."""
        found = self.whole(key, MOST // 60, "whole minutes")
        return None if found is None else found * 60

    def child(self, key: str) -> Fields | None:
        """The object at a key."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Fields(self.source, self.place_of(key), value)

    def children(self, key: str) -> tuple[Fields, ...]:
        """The objects of the list at a key."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong(key, "a list of objects")
        return tuple(self._member(key, number, each) for number, each in enumerate(value))

    def hosts(self, key: str) -> tuple[str, ...]:
        """Names of the nodes of a host list."""
        text = self.text(key).strip()
        return () if text in NO_HOSTS else self.parsed(key, expand)

    def parsed(self, key: str, parse: Callable[[str], Read]) -> Read:
        """What a function makes of the text at a key; its InputError gets file and place."""
        try:
            return parse(self.text(key).strip())
        except InputError as error:
            raise InputError(f"{self.source}: {self.place_of(key)}: {error}") from error

    def _member(self, key: str, number: int, value: object) -> Fields:
        place = f"{self.place_of(key)}[{number}]"
        if not isinstance(value, dict):
            raise InputError(f"{self.source}: {place} is {shown(value)}, expected an object")
        return Fields(self.source, place, value)


def names_of(text: str) -> tuple[str, ...]:
    """Names of a text with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def number_of(value: object) -> int | float | None:
    """A number in any dialect; None where it is null, not set or infinite; ValueError where it is none."""
    if isinstance(value, dict):
        is_set, infinite = value.get("set", True), value.get("infinite", False)
        if not isinstance(is_set, bool) or not isinstance(infinite, bool):
            raise ValueError("set and infinite must be true or false")
        if infinite or not is_set:
            return None
        value = value.get("number")
        if value is None:
            raise ValueError("no number")
    if value is None or value == "":
        return None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    # A NaN is not equal to itself, and an infinite number is no amount of anything.
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise ValueError("not a number")
    return value


def shown(value: object) -> str:
    """A value of JSON for a message: short and printable."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case {"number": bool() | int() | float() | str() as number}:
            return f"an object of number {shown(number)}"
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"'{one_line(value, 60)}'"
        case int() if abs(value) >= 10**30:
            return "a number far beyond"
        case _:
            return one_line(repr(value), 60)
