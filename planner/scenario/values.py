"""Texts, dates, names and paths of a scenario: what pydantic's own types leave open, in the words of our messages."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from planner.bounds import CORE_SCALE, PLANNED_YEARS, W_PER_CORE
from planner.domain.horizon import zone_named
from planner.errors import InputError
from planner.places import is_file, is_folder
from planner.printable import is_text
from planner.scenario.forms import Scale, Within, problem, unexpected
from planner.scenario.written import BLANK, Text, shown


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise unexpected("text", value, "put it in quotes" if value not in (None, BLANK) else "")
    if not value.strip():
        raise problem("is empty", "give some text or remove the key")
    return str(value)


def _label(value: object) -> str:
    name = _text(value)
    if not name.isprintable() or re.search(r"[/\\:]", name) or name.startswith("."):
        raise problem(f"{name!r} cannot name a folder", "use letters, digits, - and _")
    return name


def _prose(value: object) -> str:
    return " ".join(_text(value).split())


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise unexpected("true or false", value, "write it without quotes")
    return value


def _day(value: object) -> dt.date:
    if isinstance(value, str):
        with suppress(ValueError):
            value = dt.date.fromisoformat(value)
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date):
        raise unexpected("a date", value, "write it as 2024-06-01")
    if value.year not in PLANNED_YEARS:
        raise problem(f"expected a year {PLANNED_YEARS}, found {value}")
    return value


def _clock(value: object) -> str:
    parts = re.fullmatch(r"(\d{1,2}):([0-5]\d)", value, re.ASCII) if isinstance(value, str) else None
    if parts is None or int(parts[1]) * 60 + int(parts[2]) > 24 * 60:
        raise unexpected("a clock time", value, 'write it in quotes: "22:00"')
    return f"{int(parts[1]):02d}:{parts[2]}"


def _zone(value: object) -> str:
    name = _text(value)
    try:
        zone_named(name)
    except InputError as error:
        raise problem(str(error), _zone_guess(name)) from None
    return name


def _currency(value: object) -> str:
    code = _text(value)
    if not re.fullmatch(r"[A-Z]{3}", code):
        raise problem(f"{code!r} is not a currency code", "write three capitals such as EUR")
    return code


def existing(*words: str) -> Callable[[object], Path]:
    """A reader of the path of a file that exists; ``words`` could have been written in its place."""
    instead = [f"or write {' or '.join(words)}"] if words else []

    def read(value: object) -> Path:
        try:
            written = _text(value)
        except PydanticCustomError as error:
            raise problem("; ".join([error.message(), *instead])) from None
        folder = value.folder if isinstance(value, Text) else Path()
        try:
            found = (folder / Path(written).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError):  # a circle of links, or the home of nobody
            raise problem(f"{written!r} leads nowhere", "; ".join(["give the path of a file", *instead])) from None
        if not is_text(str(found)):
            raise problem(f"{found} is not UTF-8 text", "; ".join(["use names that are", *instead]))
        if not is_file(found):
            text = "is a folder, not a file" if is_folder(found) else "does not exist"
            remedy = "; ".join(["paths start at the file that writes them", *instead])
            raise problem(f"{written!r}: {found} {text}", remedy)
        return found

    return read


def existing_folder(word: str, stands_for: Path) -> Callable[[object], Path]:
    """A reader of the path of a folder that exists, or of a word in its place."""

    def read(value: object) -> Path:
        written = _text(value)
        if written == word:
            return stands_for
        folder = value.folder if isinstance(value, Text) else Path()
        try:
            found = (folder / Path(written).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError):  # a circle of links, or the home of nobody
            raise problem(f"{written!r} leads nowhere", f"give the path of a folder, or write {word}") from None
        if not is_text(str(found)) or not is_folder(found):
            text = "is not a folder" if is_file(found) else "does not exist"
            raise problem(f"{written!r}: {found} {text}", f"paths start at the file that writes them; or write {word}")
        return found

    return read


def _several(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise unexpected("a list of names", value, "write [batch, gpu]")
    return tuple(_text(each) for each in value)


def _members(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise unexpected("a list of columns", value, 'write [member1, member2] or ["member*"]')
    return tuple(_text(each) for each in value)


def _two(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise unexpected("two numbers", value, "write [7.8, 11.11]")
    return value


def _ascending(pair: tuple[float, float]) -> tuple[float, float]:
    low, high = pair
    if low > high:
        raise problem(f"the low end {low} is above the high end {high}", "swap them")
    return pair


def _name(word: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,99}", word):
        remedy = "begin with a letter; use letters, digits, - and _, a hundred at most"
        raise problem(f"{shown(word, 60)} cannot be a name", remedy)
    return word


def _zone_guess(name: str) -> str:
    zones = available_timezones()
    by_city = {zone.rsplit("/", 1)[-1]: zone for zone in sorted(zones) if "/" in zone}
    near = difflib.get_close_matches(name, zones, n=1) or [
        by_city[city] for city in difflib.get_close_matches(name, by_city, n=1)
    ]
    return f"did you mean {near[0]}?" if near else ""


Words = Annotated[str, BeforeValidator(_text)]
"""Text that is not empty."""
Several = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""Texts in a list, none of them empty."""
Members = Annotated[tuple[str, ...], BeforeValidator(_members)]
"""Columns of a forecast's members, or patterns of them."""
Label = Annotated[str, BeforeValidator(_label)]
"""Text that can name a folder."""
Prose = Annotated[str, BeforeValidator(_prose)]
"""Any text, with its line breaks as spaces."""
Name = Annotated[str, AfterValidator(_name)]
"""A name that a file gives to a node class or a resource."""
Flag = Annotated[bool, BeforeValidator(_flag)]
Day = Annotated[dt.date, BeforeValidator(_day)]
Clock = Annotated[str, BeforeValidator(_clock)]
"""A clock time from ``"00:00"`` to ``"24:00"``, with two digits for the hour."""
Zone = Annotated[str, BeforeValidator(_zone)]
Currency = Annotated[str, BeforeValidator(_currency)]
"""A currency's code of three letters."""
InputFile = Annotated[Path, BeforeValidator(existing())]
"""A file that exists; a relative path starts at the folder of the file that wrote it."""
CoreScale = Annotated[float, Scale(CORE_SCALE)]
Watts = Annotated[float, Within(W_PER_CORE)]
DrawnBetween = Annotated[tuple[Watts, Watts], BeforeValidator(_two), AfterValidator(_ascending)]
"""Two numbers from 0 up, low then high."""
