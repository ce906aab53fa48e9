"""Plain data as typed objects: the shape that a type is written in, and an object made of data that have this shape."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from planner.store.shape import COUNT, DAY, FLAG, NUMBER, TEXT, Every, Maybe, Named, Record, Shape, one_of

_LEAVES: dict[Any, Shape] = {str: TEXT, bool: FLAG, int: COUNT, float: NUMBER, dt.date: DAY}


def shape_of(kind: Any, **narrower: Shape) -> Shape:
    """The shape of plain data that make a type; ``narrower`` are fields that must be more than their type says.

    A dataclass is a mapping of its fields, of which those with a default may be missing.
    """
    if kind in _LEAVES:
        return _LEAVES[kind]
    if is_dataclass(kind):
        shapes = {name: narrower.get(name) or shape_of(hint) for name, hint in get_type_hints(kind).items()}
        optional = (f.name for f in fields(kind) if f.default is not MISSING or f.default_factory is not MISSING)
        return Record(shapes, frozenset(optional))
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return one_of(*inner)
    if origin is UnionType:
        return Maybe(shape_of(inner[0]))
    if origin is Mapping:
        return Named(shape_of(inner[1]))
    return Named(COUNT) if origin is Counter else Every(shape_of(inner[0]))


def made(kind: Any, plain: Any) -> Any:
    """An object of a type, from plain data that have the shape of it."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: made(hint, plain[name]) for name, hint in hints.items() if name in plain})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if plain is None else made(inner[0], plain)
    if origin in (tuple, list):
        return origin(made(inner[0], each) for each in plain)
    if origin is Mapping:
        return {name: made(inner[1], each) for name, each in plain.items()}
    if kind is dt.date:
        return dt.date.fromisoformat(plain)
    return {float: float, Counter: Counter}.get(origin or kind, lambda same: same)(plain)
