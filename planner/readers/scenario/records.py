"""Readers of whole mappings and lists of a scenario, driven by the fields of dataclasses."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_type_hints

from planner.printable import shortened
from planner.readers.scenario.strict_yaml import Marked
from planner.readers.scenario.values import BadValueError, Read, bad, guess

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """How a field is written, given in its annotation: ``seed: Annotated[int, Key(whole(0))] = 0``.

    A field without a default is required. ``word`` is its key in the file where that differs from its name,
    ``example`` a value to show when it is missing.
    """

    read: Read[Any]
    word: str = ""
    example: str = ""


@dataclass(frozen=True)
class Record(Generic[T]):
    """Reads a mapping into a dataclass whose fields are annotated with a ``Key``.

    ``finish`` sees the record together with the mapping as written; it raises, or returns what to keep.
    """

    cls: type[T]
    finish: Callable[[T, Marked, str], object] | None = None

    def __call__(self, entry: Marked, name: str) -> Any:
        entries = entry.entries()
        if entries is None:
            raise bad(entry, name, f"expected keys and values, found {entry.plain()!r}", self._hint())
        keys = _keys(self.cls)
        lines: list[str] = []
        for word, value in entries.items():
            if word not in keys:
                hint = guess(word, keys) or self._hint()
                lines += bad(value, _join(name, word), "unknown key", hint).lines
        values: dict[str, object] = {}
        for word, (field, spec) in keys.items():
            try:
                values |= _field_value(entry, name, word, field, spec)
            except BadValueError as error:
                lines += error.lines
        if lines:
            raise BadValueError(lines)
        record = self.cls(**values)
        return record if self.finish is None else self.finish(record, entry, name)

    def _hint(self) -> str:
        return f"known here: {', '.join(_keys(self.cls))}"


@dataclass(frozen=True)
class MappingOf(Generic[T]):
    """Reads a mapping from free names to values of one kind; a name with ``null`` is left out.

    ``each`` stands for the names where keys are listed.
    """

    item: Read[T]
    each: str

    def __call__(self, entry: Marked, name: str) -> dict[str, T]:
        entries = entry.entries()
        if entries is None:
            raise bad(entry, name, f"expected names and values, found {entry.plain()!r}")
        lines: list[str] = []
        values: dict[str, T] = {}
        for word, value in entries.items():
            if value.value is None and not value.blank:
                continue
            try:
                _demand_word(value, name, word)
                values[word] = self.item(value, _join(name, word))
            except BadValueError as error:
                lines += error.lines
        if lines:
            raise BadValueError(lines)
        return values


@dataclass(frozen=True)
class ListOf(Generic[T]):
    """Reads a list of values of one kind."""

    item: Read[T]

    def __call__(self, entry: Marked, name: str) -> tuple[T, ...]:
        if not isinstance(entry.value, tuple):
            raise bad(entry, name, f"expected a list, found {entry.plain()!r}", "begin each item with '- '")
        lines: list[str] = []
        values: list[T] = []
        for index, item in enumerate(entry.value):
            try:
                values.append(self.item(item, f"{name}[{index}]"))
            except BadValueError as error:
                lines += error.lines
        if lines:
            raise BadValueError(lines)
        return tuple(values)


def given(entry: Marked, word: str) -> Marked | None:
    """The entry of a mapping when it was given and is not ``null``."""
    found = (entry.entries() or {}).get(word)
    return None if found is None or (found.value is None and not found.blank) else found


def dotted_keys(read: Read[Any], name: str = "") -> Iterator[str]:
    """Every key that a reader knows, such as ``cluster.classes.<name>.count`` or ``tariff.bands[].to``."""
    if isinstance(read, Record):
        for word, (_, spec) in _keys(read.cls).items():
            yield from dotted_keys(spec.read, _join(name, word))
    elif isinstance(read, MappingOf):
        yield from dotted_keys(read.item, _join(name, f"<{read.each}>"))
    elif isinstance(read, ListOf):
        yield from dotted_keys(read.item, f"{name}[]")
    else:
        yield name


def _keys(cls: type) -> dict[str, tuple[dataclasses.Field[Any], Key]]:
    hints = get_type_hints(cls, include_extras=True)
    keys: dict[str, tuple[dataclasses.Field[Any], Key]] = {}
    for field in dataclasses.fields(cls):
        for note in getattr(hints[field.name], "__metadata__", ()):
            if isinstance(note, Key):
                keys[note.word or field.name] = field, note
    return keys


def _field_value(entry: Marked, name: str, word: str, field: dataclasses.Field[Any], spec: Key) -> dict[str, object]:
    found = given(entry, word)
    if found is not None:
        return {field.name: spec.read(found, _join(name, word))}
    if field.default is not dataclasses.MISSING:
        return {}
    if isinstance(spec.read, Record):
        return {field.name: spec.read(Marked({}, entry.source, entry.line), _join(name, word))}
    example = f"write {word}: {spec.example}" if spec.example else "give it"
    raise bad(entry, _join(name, word), "missing", f"{example}, or take it from another scenario with base:")


def _demand_word(entry: Marked, name: str, word: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,99}", word):
        remedy = "begin with a letter; use letters, digits, - and _, a hundred at most"
        raise bad(entry, name, f"{shortened(word, 60)!r} cannot be a name", remedy)


def _join(name: str, word: str) -> str:
    return f"{name}.{word}" if name else word
