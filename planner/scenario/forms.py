"""Numbers, durations and times of a scenario: within bounds, or refused with name, value and range."""

from __future__ import annotations

import datetime as dt
import math
import re
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_plain_validator_function

from planner.bounds import Bounds
from planner.errors import InputError
from planner.printable import printable
from planner.scenario.written import number_text, shown
from planner.units import parse_duration

JsonSchema = dict[str, Any]


def problem(text: str, remedy: str = "", *, at: str = "") -> PydanticCustomError:
    """What is wrong with a value, ready to raise; ``at`` is a key or an index inside it."""
    said = printable(f"{text}; {remedy}" if remedy else text)
    return PydanticCustomError("problem", "{said}", {"said": said, "at": at})


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
    """A duration such as ``15m`` or ``1d`` [s]."""

    def read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise unexpected("a duration", value, "write 30s, 15m, 2h or 1d")
        try:
            seconds = parse_duration(value)
        except InputError as error:
            raise problem(str(error)) from None
        if seconds not in self.bounds or seconds != int(seconds):
            text = f"expected whole seconds {self.bounds}, found {number_text(value)}"
            raise problem(text, "write 30s, 15m, 2h or 1d")
        return int(seconds)

    def schema(self) -> JsonSchema:
        return {"type": ["string", "number"]}


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


class Scale(_Form):
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
