"""Opens the JSON that a command of Slurm has written, and reads its values in any of its dialects, with one line on
what is wrong where that fails.

Slurm 22.05 writes a number as ``5`` or ``null``, later versions as ``{"set": true, "infinite": false, "number": 5}``; a
state as ``"RUNNING"`` or as ``["RUNNING"]``. An absent key is the same as an empty value: versions add and drop keys.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from planner import limits
from planner.domain.node_lists import expanded
from planner.errors import FileFormatError, InputError
from planner.inputs.slurm.notations import NO_NODES, names_of
from planner.printable import one_line
from planner.text_files import read_bytes

MOST = 2**63 - 1
UNSET = frozenset({-1, -2, 2**32 - 1, 2**32 - 2, 2**64 - 1, 2**64 - 2})
"""Slurm's own marks for "no value" and "infinite", which some versions let through as numbers."""

_DIGITS = re.compile(r"[+-]?\d{1,20}", re.ASCII)
Read = TypeVar("Read")
MOST_BYTES = 2**30
"""Of a command's output: some 50,000 jobs."""
NOTHING_FOUND = 9003
"""What Slurm 22.05 reports as an error where a list is empty, such as that of the day's jobs."""
_PARSER = re.compile(r"v0\.0\.(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Fields:
    """One object of the JSON, with the file or command that it comes from, and where it stands, such as ``jobs[3]``."""

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
        return self.whole(key, int(limits.UNIX_S.high), "Unix seconds") or None

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
        return () if text in NO_NODES else self.parsed(key, expanded)

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


@dataclass(frozen=True)
class DocumentAnswer:
    """What a command has written, and the command for messages."""

    command: str
    output: bytes


Source = Path | str | DocumentAnswer
"""A file by its name, or a command's answer."""


def content_of(source: Source) -> tuple[str, bytes]:
    """What a source is called in messages, and what it holds."""
    if not isinstance(source, DocumentAnswer):
        return str(source), read_bytes(source)
    if len(source.output) > MOST_BYTES:
        raise InputError(f"{source.command}: has written more than {MOST_BYTES // 2**20} MB; ask for fewer partitions")
    return source.command, source.output


def read_document(source: Source, key: str, command: str) -> tuple[Fields, tuple[Fields, ...]]:
    """The whole document, and the objects of its list of this name.

    Bytes that are not UTF-8 are replaced: a user's odd job name must not hide the rest of the queue. ``command`` writes
    such a document. InputError where it is not JSON, has no such list, or Slurm reports an error in it.
    """
    name, content = content_of(source)
    root = Fields(name, "", _parsed(name, content, command))
    _require_no_errors(root)
    if key not in root.values:
        raise FileFormatError(name, f"has no list '{key}'", remedy=f"expected the output of `{command}`")
    return root, root.children(key)


def parser_number(root: Fields) -> int | None:
    """Number of the version of Slurm's data parser, 42 of ``v0.0.42``; None where it is not said."""
    meta = root.values.get("meta")
    plugin = meta.get("plugin") if isinstance(meta, dict) else None
    if not isinstance(plugin, dict):
        return None
    words = [word for key in ("data_parser", "type") if isinstance(word := plugin.get(key), str)]
    match = _PARSER.search(" ".join(words))
    return None if match is None else int(match[1])


def _parsed(name: str, content: bytes, command: str) -> dict[str, object]:
    remedy = f"expected the output of `{command}`, as it came"
    try:
        document = json.loads(content.decode("utf-8-sig", "replace"), strict=False)
    except RecursionError as error:
        raise FileFormatError(name, "is nested too deeply", remedy=remedy) from error
    except ValueError as error:  # numbers of endless digits too
        raise FileFormatError(name, f"is not JSON ({one_line(str(error), 80)})", remedy=remedy) from error
    if not isinstance(document, dict):
        raise FileFormatError(name, f"holds {shown(document)}, not an object", remedy=remedy)
    return document


def _require_no_errors(root: Fields) -> None:
    """InputError with Slurm's own words when it reports that the list is not all there."""
    for error in root.children("errors"):
        if error.values.get("error_number") == NOTHING_FOUND:
            continue
        words = [str(error.values[key]) for key in ("description", "error") if isinstance(error.values.get(key), str)]
        said = ": ".join(words) or "an error without words"
        raise InputError(
            f"{root.source}: Slurm reports '{one_line(said, 120)}'; repeat the command when that is mended"
        )
