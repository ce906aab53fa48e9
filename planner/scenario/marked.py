"""Values with the file and line that they were written in, and as the models read them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.printable import shortened

Scalar = str | int | float | bool | dt.date | dt.datetime | None


@dataclass(frozen=True)
class TextSource:
    """A text that values come from: a file, or an option of the command line.

    Relative paths in it start at ``folder``.
    """

    label: str
    folder: Path
    numbered: bool = True

    @classmethod
    def file(cls, path: Path) -> TextSource:
        """A file, whose relative paths start at its own folder."""
        return cls(str(path), path.parent)


@dataclass(frozen=True)
class Marked:
    """A value with the source and line that it was written in; a mapping entry has the line of its key.

    ``blank`` tells a key with nothing after it from one with a written ``null``.
    """

    value: Scalar | Mapping[str, Marked] | tuple[Marked, ...]
    source: TextSource
    line: int = 1
    blank: bool = False

    @property
    def where(self) -> str:
        """The place as people write it: ``site.yaml:12``."""
        return f"{self.source.label}:{self.line}" if self.source.numbered else self.source.label

    def entries(self) -> Mapping[str, Marked] | None:
        """The entries of a mapping, none for a blank; None when the value is something else."""
        if self.blank:
            return {}
        return self.value if isinstance(self.value, Mapping) else None

    def plain(self) -> object:
        """The value without its marks: dicts, lists and scalars."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [entry.plain() for entry in self.value]
        return self.value


class _Blank:
    """A key with nothing after it: an empty section, and no value for anything else."""

    def __repr__(self) -> str:
        return "None"


BLANK: Final = _Blank()


class Text(str):
    """A text with the folder that it starts at if it is a relative path."""

    __slots__ = ("folder",)
    folder: Path

    @classmethod
    def of(cls, text: str, folder: Path) -> Text:
        made = cls(text)
        made.folder = folder
        return made


def plain(entry: Marked) -> object:
    """An entry without its marks."""
    if entry.blank:
        return BLANK
    if isinstance(entry.value, Mapping):
        return {word: plain(found) for word, found in entry.value.items()}
    if isinstance(entry.value, tuple):
        return [plain(item) for item in entry.value]
    return Text.of(entry.value, entry.source.folder) if isinstance(entry.value, str) else entry.value


def shown(value: object, most: int = 80) -> str:
    """A value in a few words, for a message."""
    if value is None or value is BLANK:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shortened(repr(value), most)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    return "a list" if isinstance(value, list) else "a mapping"


def number_text(value: object) -> str:
    """A number, or text in place of one, as it was written, if that is not too long."""
    return shortened(str(value), 40) if not isinstance(value, int) or abs(value) < 10**40 else "a number far beyond"


def in_full(value: object) -> str:
    """A value that stands where it should not, with all that is in it."""
    try:
        return repr(value)
    except ValueError:  # a number of thousands of digits
        return "a number far beyond"
