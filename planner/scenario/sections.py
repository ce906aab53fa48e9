"""What the sections of a scenario are made of, and how one that has several kinds says which it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    GetJsonSchemaHandler,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from planner.scenario.strict_yaml import BLANK, Text
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


@dataclass(frozen=True)
class Chooser:
    """The key that chooses the kind: one of ``words``, the first by default; any other value is ``otherwise``."""

    key: str
    words: tuple[str, ...]
    otherwise: str | None = None

    def kind_of(self, section: object) -> str | None:
        """The kind of a section, None when it has none."""
        value = section.get(self.key) if isinstance(section, dict) else None
        if value is None:
            return self.words[0]
        return str(value) if isinstance(value, str) and value in self.words else self.otherwise

    def is_named_in(self, section: Mapping[str, object]) -> bool:
        """Whether a section says which kind it is."""
        return section.get(self.key) is not None

    def called(self, kind: str) -> str:
        """How a message calls a kind."""
        return f"{self.key}: {kind}"


class KeyChooser(Chooser):
    """Carbon and solar are of the kind whose key is given, and the first where there is none."""

    def kind_of(self, section: object) -> str:
        """The kind of a section."""
        given = section if isinstance(section, dict) else {}
        return next((word for word in self.words[1:] if given.get(word) is not None), self.words[0])

    def is_named_in(self, section: Mapping[str, object]) -> bool:
        """Whether a section says which kind it is."""
        return any(section.get(word) is not None for word in self.words[1:])

    def called(self, kind: str) -> str:
        """How a message calls a kind."""
        return kind


@dataclass(frozen=True)
class Kinds:
    """The kinds of a section, read from its union: what chooses, and the model of each."""

    chooser: Chooser
    models: dict[str, type[Section]]

    @classmethod
    def of(cls, union: object) -> Kinds:
        """The kinds of a union of tagged models, whose discriminator is the method of a chooser."""
        choices, *notes = get_args(union)
        chooser = next(
            getattr(note.discriminator, "__self__", None) for note in notes if isinstance(note, Discriminator)
        )
        assert isinstance(chooser, Chooser)
        tagged = [get_args(each) for each in get_args(choices)]
        return cls(chooser, {tag.tag: model for model, tag in tagged if isinstance(tag, Tag)})

    def keys(self) -> tuple[str, ...]:
        """The fields of all kinds: each behind the field before it in its own kind, or last when none follows."""
        merged: list[str] = []
        for model in self.models.values():
            own = list(model.model_fields)
            for index, name in enumerate(own):
                if name in merged:
                    continue
                follows = any(later in merged for later in own[index + 1 :])
                merged.insert(merged.index(own[index - 1]) + 1 if follows and index else len(merged), name)
        return tuple(merged)

    def words(self) -> tuple[str, ...]:
        """The keys of all kinds as they are written."""
        return tuple(self.field(name).alias or name for name in self.keys())

    def words_of(self, kind: str) -> tuple[str, ...]:
        """The keys of one kind as they are written."""
        return tuple(words_of(self.models[kind]))

    def field(self, name: str) -> FieldInfo:
        """The field of that name, of the first kind that has it."""
        return next(model.model_fields[name] for model in self.models.values() if name in model.model_fields)

    def replaced_by(self, later: Mapping[str, object], earlier: Mapping[str, object]) -> set[str]:
        """Keys of an earlier layer that do not apply once a later one has chosen another kind."""
        kind = self.chooser.kind_of(later if self.chooser.is_named_in(later) else {**earlier, **later})
        if kind is None or kind == self.chooser.kind_of(earlier):
            return set()
        return {*self.words()} - {*self.words_of(kind)}

    def misplaced(self, section: str, word: str, kind: str) -> str:
        """What is wrong with a key of a section that other kinds have, and this one does not."""
        if isinstance(self.chooser, KeyChooser) and word in self.chooser.words:
            return f"given together with {section}.{kind}; keep one of them"
        others = " or ".join(each for each in self.models if word in self.words_of(each))
        called = self.chooser.called
        return f"not used with {called(kind)}; write {called(others)}, or {word}: null"

    def idle(self, name: str) -> object:
        """The value of a field in a section of a kind that has no such field: its default elsewhere, or None."""
        field = self.field(name)
        return None if field.is_required() else field.default
