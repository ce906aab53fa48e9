"""What a file says, as the models read it: plain data in which a text still knows its folder."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from planner.printable import shortened
from planner.scenario.marked import Marked


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
