"""Shapes of plain data: what a JSON file that the planner wrote must look like, said once and checked whole.

A shape is a `Leaf`, a `Record` with known keys, a mapping or a list of equal things, or one of these or null. Keys that
a shape does not know are let be, so that a later version may write more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from planner import bounds
from planner.bounds import Bounds
from planner.domain.horizon import zone_named
from planner.errors import InputError
from planner.printable import one_line

SHOWN = 40
"""Characters of a bad value that a message shows."""
ANY = Bounds(-1e15, 1e15)
"""No number in a result is beyond this, so that sums of them stay exact enough."""


@dataclass(frozen=True)
class Leaf:
    """A single value: what is expected, in words, and whether a value is that."""

    words: str
    fits: Callable[[object], bool]


@dataclass(frozen=True)
class Record:
    """A mapping with known keys; the optional ones may be missing."""

    fields: Mapping[str, Shape]
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Named:
    """A mapping from any name to things of one shape."""

    item: Shape


@dataclass(frozen=True)
class Every:
    """A list of things of one shape, at least this many."""

    item: Shape
    least: int = 0


@dataclass(frozen=True)
class Maybe:
    """A shape, or null."""

    shape: Shape


Shape = Leaf | Record | Named | Every | Maybe


def misfit(value: object, shape: Shape, where: str = "") -> str | None:
    """The first thing in a value that has not its shape, as words that name its key; None when all is well."""
    if isinstance(shape, Maybe):
        return None if value is None else misfit(value, shape.shape, where)
    if isinstance(shape, Leaf):
        return None if shape.fits(value) else f"{where} is {shown(value)}, expected {shape.words}"
    if isinstance(shape, Every):
        if not isinstance(value, list) or len(value) < shape.least:
            return f"{where} is {shown(value)}, expected a list{' that is not empty' if shape.least else ''}"
        return _first(misfit(item, shape.item, f"{where}[{index}]") for index, item in enumerate(value))
    if not isinstance(value, Mapping):
        return f"{where or 'it'} is {shown(value)}, expected a mapping"
    if isinstance(shape, Named):
        return _first(misfit(item, shape.item, _below(where, name)) for name, item in value.items())
    for name, field in shape.fields.items():
        if name not in value:
            if name not in shape.optional:
                return f"{_below(where, name)} is missing"
            continue
        found = misfit(value[name], field, _below(where, name))
        if found is not None:
            return found
    return None


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line, without signs that a terminal would obey."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the text '{one_line(value, SHOWN)}'"
    return one_line(str(value), SHOWN)


def _below(where: str, name: str) -> str:
    name = one_line(name, SHOWN)
    return f"{where}.{name}" if where else name


def _first(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each is not None), None)


def number(limits: Bounds = ANY) -> Leaf:
    """A number within bounds."""
    words = "a number" if limits is ANY else f"a number {limits}"
    return Leaf(words, lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value in limits)


def whole(limits: Bounds) -> Leaf:
    """A whole number within bounds."""
    return Leaf(
        f"a whole number {limits}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value in limits,
    )


def one_of(*words: str) -> Leaf:
    """One of a few words."""
    return Leaf(" or ".join(words), lambda value: isinstance(value, str) and value in words)


def _is_day(value: object) -> bool:
    try:
        day = dt.date.fromisoformat(str(value))
    except ValueError:
        return False
    return isinstance(value, str) and day.isoformat() == value and day.year in bounds.PLANNED_YEARS


def _is_zone(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(zone_named(value))
    except InputError:
        return False


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and not set(value) - set("0123456789abcdef")


TEXT = Leaf("text", lambda value: isinstance(value, str))
WORD = Leaf("text that is not empty", lambda value: isinstance(value, str) and bool(value))
FLAG = Leaf("true or false", lambda value: isinstance(value, bool))
DAY = Leaf("a day such as 2024-06-01", _is_day)
ZONE = Leaf("a time zone such as Europe/Paris", _is_zone)
DIGEST = Leaf("a SHA-256 of 64 digits", _is_digest)
NUMBER = number()
AMOUNT = number(Bounds(0, 1e15))
COUNT = whole(Bounds(0, 10**15))
MAPPING = Leaf("a mapping", lambda value: isinstance(value, Mapping))
