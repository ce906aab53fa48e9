"""Numbers, durations, times, texts, names and paths of a scenario: within bounds, or refused with value and range."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_plain_validator_function

from planner.domain.horizon import zone_named
from planner.errors import InputError
from planner.limits import CORE_SCALE, PLANNED_YEARS, W_PER_CORE, Bounds
from planner.places import full_path, is_file, is_folder
from planner.printable import is_text, printable
from planner.scenario.strict_yaml import BLANK, Text, number_text, shown
from planner.units import parse_duration

JsonSchema = dict[str, Any]

_NO_UNIT = re.compile(r"\d\s*(?=\s\d|$)")
"""A number of a duration after which no unit comes."""


def problem(text: str, remedy: str = "", *, at: str = "") -> PydanticCustomError:
    """What is wrong with a value, ready to raise; ``at`` is a key or an index inside it."""
    message = printable(f"{text}; {remedy}" if remedy else text)
    return PydanticCustomError("problem", "{message}", {"message": message, "at": at})


def unexpected(expected: str, value: object, remedy: str = "") -> PydanticCustomError:
    """The problem of a value that is not what was expected."""
    return problem(f"expected {expected}, found {shown(value)}", remedy)


@dataclass(frozen=True)
class _Form(ABC):
    """A value with a reader of its own, and what an editor may know about it."""

    bounds: Bounds

    @abstractmethod
    def read(self, value: object) -> object:
        """The value as the scenario has it."""

    @abstractmethod
    def schema(self) -> JsonSchema:
        """What an editor may know about it."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return self.schema()

    def _range(self) -> JsonSchema:
        return {"exclusiveMinimum" if self.bounds.above else "minimum": self.bounds.low, "maximum": self.bounds.high}


class Within(_Form):
    """A number within bounds."""

    def read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise unexpected(f"a number {self.bounds}", value, _unquote(value))
        if value not in self.bounds:
            raise unexpected(f"a number {self.bounds}", value)
        return float(value)

    def schema(self) -> JsonSchema:
        return {"type": "number", **self._range()}


class Whole(_Form):
    """A whole number within bounds; ``1e3`` is one."""

    def read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise unexpected(f"a whole number {self.bounds}", value, _unquote(value))
        if value not in self.bounds or value != int(value):
            raise unexpected(f"a whole number {self.bounds}", value)
        return int(value)

    def schema(self) -> JsonSchema:
        return {"type": "integer", **self._range()}


class Duration(_Form):
    """A duration such as ``15m`` or ``1d`` [s]; a number says no unit, unless it is 0."""

    def read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise unexpected("a duration", value, "write 30s, 15m, 2h or 1d")
        try:
            seconds = parse_duration(value)
        except InputError as error:
            raise problem(str(error)) from None
        if seconds and _NO_UNIT.search(str(value)):
            raise unexpected("a duration with its unit", value, "write 30s, 15m, 2h or 1d")
        if seconds not in self.bounds or seconds != int(seconds):
            text = f"expected whole seconds {self.bounds}, found {number_text(value)}"
            raise problem(text, "write 30s, 15m, 2h or 1d")
        return int(seconds)

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"type": "string"}, {"const": 0}]}


class Moment(_Form):
    """A time with its offset from UTC [Unix seconds]; YAML reads it as a time, ``--set`` may give it as text."""

    def read(self, value: object) -> int:
        remedy = "write 2024-06-01T08:00:00+02:00, or end it in Z for UTC"
        if isinstance(value, str):
            with suppress(ValueError):
                value = dt.datetime.fromisoformat(value.strip())
        if not isinstance(value, dt.datetime):
            raise unexpected("a time with its offset from UTC", value, remedy)
        if value.tzinfo is None:
            raise problem(f"{value.isoformat()} has no offset from UTC", remedy)
        since = value - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        if since % dt.timedelta(seconds=1):
            raise problem(f"{value.isoformat()} has a fraction of a second", "round it")
        seconds = since // dt.timedelta(seconds=1)
        if seconds not in self.bounds:
            raise problem(f"expected a time from 1970 to 9998, found {value.isoformat()}")
        return seconds

    def schema(self) -> JsonSchema:
        return {"type": "string"}


class Ratio(_Form):
    """A number within bounds, or a fraction of two such as ``9600/93312``."""

    def read(self, value: object) -> float:
        if not isinstance(value, str):
            return Within(self.bounds).read(value)
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*", value, re.ASCII)
        above, below = (float(parts[1]), float(parts[2])) if parts is not None else (0.0, 0.0)
        if not 0 < below < math.inf or above / below not in self.bounds:
            raise unexpected(f"a number {self.bounds}", value, "or write a fraction such as 9600/93312")
        return above / below

    def schema(self) -> JsonSchema:
        return {"type": ["number", "string"], **self._range()}


def _unquote(value: object) -> str:
    if not isinstance(value, str):
        return ""
    try:
        float(value)
    except ValueError:
        return ""
    return "remove the quotes"


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
        return _existing(value, written, is_file, "a file", instead)

    return read


def existing_folder(word: str, stands_for: Path) -> Callable[[object], Path]:
    """A reader of the path of a folder that exists, or of a word in its place."""

    def read(value: object) -> Path:
        written = _text(value)
        return stands_for if written == word else _existing(value, written, is_folder, "a folder", [f"or write {word}"])

    return read


def _existing(value: object, written: str, is_kind: Callable[[Path], bool], kind: str, instead: list[str]) -> Path:
    found = _resolved(value, written, "; ".join([f"give the path of {kind}", *instead]))
    if not is_text(str(found)):
        raise problem(f"{found} is not UTF-8 text", "; ".join(["use names that are", *instead]))
    if not is_kind(found):
        here = "a folder" if is_folder(found) else "a file" if is_file(found) else ""
        text = f"is {here}, not {kind}" if here else "does not exist"
        remedy = "; ".join(["paths start at the file that writes them", *instead])
        raise problem(f"{written!r}: {found} {text}", remedy)
    return found


def _resolved(value: object, written: str, remedy: str) -> Path:
    """A path that starts at the folder of the file that wrote it."""
    folder = value.folder if isinstance(value, Text) else Path()
    try:
        return full_path(folder / Path(written).expanduser())
    except (OSError, RuntimeError, ValueError):  # a circle of links, or the home of nobody
        raise problem(f"{written!r} leads nowhere", remedy) from None


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
CoreScale = Annotated[float, Ratio(CORE_SCALE)]
Watts = Annotated[float, Within(W_PER_CORE)]
DrawnBetween = Annotated[tuple[Watts, Watts], BeforeValidator(_two), AfterValidator(_ascending)]
"""Two numbers from 0 up, low then high."""
