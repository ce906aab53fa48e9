"""What the sections of a scenario are made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from planner.scenario.marked import BLANK, Text
from planner.scenario.values import JsonSchema, Zone


@dataclass(frozen=True)
class Key:
    """What people read about a key: its unit, its meaning, and its default where that is not the field's own.

    ``example`` is a value to show when the key is missing; ``each`` is the placeholder for the names of a mapping.
    """

    unit: str
    meaning: str
    default: str = ""
    example: str = ""
    each: str = ""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return {**handler(core), "description": self.meaning} if self.meaning else dict(handler(core))


class Section(BaseModel):
    """A mapping of known keys. A blank one is empty, and a known key with ``null`` says nothing.

    A file writes a duration without the unit in its name: ``every: 1h`` is ``every_s``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=lambda name: name.removesuffix("_s"))
    rivals: ClassVar[tuple[str, str] | None] = None
    """Two keys of which a section has one; that of a later layer replaces the other."""

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        return given_of(cls, value)

    @field_validator("*")
    @classmethod
    def _without_rival(cls, value: object, info: ValidationInfo) -> object:
        first, second = cls.rivals or ("", "")
        if info.field_name == second and value is not None and info.data.get(first) is not None:
            raise PydanticCustomError("together", "given together with {rival}", {"rival": first})
        return value


def given_of(model: type[Section], value: object) -> object:
    """What a section gives: words as plain text, but for paths, which need to know their folder."""
    if not isinstance(value, dict):
        return {} if value is BLANK else value
    known = words_of(model)
    paths = {word for word, field in known.items() if _is_path(field.annotation)}
    return {
        word: str(each) if isinstance(each, Text) and word not in paths else each
        for word, each in value.items()
        if each is not None or word not in known
    }


def _is_path(annotation: object) -> bool:
    """Whether a field takes a path, perhaps beside other things."""
    return annotation is Path or any(_is_path(part) for part in get_args(annotation))


def words_of(model: type[Section]) -> dict[str, FieldInfo]:
    """The fields of a section by their keys in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _named(value: object) -> object:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if each is not None}
    return {} if value is BLANK else value


Named = BeforeValidator(_named)
"""Marks a mapping of free names: it may be blank, and a name with ``null`` is left out."""

FileZone = Annotated[
    Zone | None, Key("time zone", "zone of times that the file gives without one", default="from the file")
]
