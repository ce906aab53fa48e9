"""What stands behind a field of a section: another section, a list or named mapping of them, or a single value."""

from __future__ import annotations

from types import NoneType
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from planner.scenario.cluster import WrittenAsSection
from planner.scenario.schema import KINDS, Scenario
from planner.scenario.sections import Key, Section, words_of

Form = Literal["value", "section", "names", "list"]


def behind(field: FieldInfo) -> tuple[Form, type[Section] | None]:
    """The form of a field, and the section that it holds, each of its names holds, or each of its items."""
    written = next((note.section for note in field.metadata if isinstance(note, WrittenAsSection)), None)
    if written is not None:
        return "section", written
    parts = [part for part in get_args(field.annotation) if part is not NoneType]
    alone = parts[0] if len(parts) == 1 else field.annotation
    if _section(alone) is not None:
        return "section", _section(alone)
    if get_origin(field.annotation) is dict:
        return "names", _section(parts[-1])
    if get_origin(field.annotation) is tuple and _section(parts[0]) is not None:
        return "list", _section(parts[0])
    return "value", None


def section_at(path: tuple[str | int, ...], kind: str | None) -> type[Section] | None:
    """The section at a path such as ``("cluster", "classes", "cpu")``; ``kind`` is that of the first part."""
    model: type[Section] | None = Scenario
    steps = list(path)
    if steps and steps[0] in KINDS:
        model = KINDS[str(steps.pop(0))].models[kind] if kind is not None else None
    while steps and model is not None:
        form, model = behind(words_of(model)[str(steps.pop(0))])
        if form in ("names", "list") and steps:
            steps.pop(0)
    return model


def key_of(field: FieldInfo) -> Key:
    """What people read about a field."""
    return next((note for note in field.metadata if isinstance(note, Key)), Key("", ""))


def _section(annotation: object) -> type[Section] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None
