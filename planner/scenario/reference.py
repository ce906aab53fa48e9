"""The models described: what stands behind each field, the table of all keys, and the JSON schema for editors."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from planner.scenario.cluster_slurm import WrittenAsSection
from planner.scenario.schema import KINDS, Scenario
from planner.scenario.sections import Key, Section, words_of
from planner.scenario.values import JsonSchema

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


BASE = Key("name or path", "scenario to start from", default="none")
"""The key that layers are made of; no model has it, as it is gone once they are merged."""


def schema_keys() -> tuple[str, ...]:
    """Every key that a scenario file may have, dotted, apart from ``base``.

    Such as ``cluster.classes.<class>.count`` or ``tariff.bands[].to``.
    """
    return tuple(key for key, _ in _fields())


def key_rows() -> list[tuple[str, str, str, str]]:
    """Key, unit, default and meaning of every key, apart from ``base``."""
    found = [(key, field, key_of(field)) for key, field in _fields()]
    return [(key, about.unit, about.default or _default(field), about.meaning) for key, field, about in found]


def key_table() -> str:
    """The table of all keys in Markdown, as scenarios/README.md has it."""
    rows = [("base", BASE.unit, BASE.default, BASE.meaning), *key_rows()]
    lines = [f"| `{key}` | {unit} | {default} | {meaning} |" for key, unit, default, meaning in rows]
    return "\n".join(["| key | unit | default | meaning |", "| --- | --- | --- | --- |", *lines]) + "\n"


def _fields() -> Iterator[tuple[str, FieldInfo]]:
    for name, field in Scenario.model_fields.items():
        if name in KINDS:
            kinds = KINDS[name]
            for each, word in zip(kinds.keys(), kinds.words(), strict=True):
                yield from _below(f"{name}.{word}", kinds.field(each))
        else:
            yield from _below(name, field)


def _below(key: str, field: FieldInfo) -> Iterator[tuple[str, FieldInfo]]:
    form, section = behind(field)
    if form == "names":
        key = f"{key}.<{key_of(field).each}>"
    elif form == "list":
        key = f"{key}[]"
    if section is None:
        yield key, field
        return
    for word, inner in words_of(section).items():
        yield from _below(f"{key}.{word}", inner)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, tuple):
        return f"`{list(field.default)}`"
    if isinstance(field.default, bool):
        return "`true`" if field.default else "`false`"
    return f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`"


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL: JsonSchema = {"type": "null"}


def editor_schema() -> JsonSchema:
    """The schema of one file, which is one layer: nothing is required, ``null`` takes away what a base has.

    It knows keys, kinds, words and ranges; whether files exist and layers make a whole is seen when they are read.
    """
    schema = _layered(Scenario.model_json_schema())
    for kinds in KINDS.values():
        for model in kinds.models.values():
            made = schema["$defs"][model.__name__]["properties"]
            made |= {word: _NULL for word in kinds.words() if word not in made}
    base = {"type": ["string", "null"], "description": BASE.meaning}
    return {"$schema": _DIALECT, "title": "Scenario", **schema, "properties": {"base": base, **schema["properties"]}}


def _layered(schema: JsonSchema) -> JsonSchema:
    """A schema and all within it, as one layer may write it."""
    made = {word: value for word, value in schema.items() if word not in ("title", "required", "default", "oneOf")}
    if "oneOf" in schema:
        # A layer that does not say its kind may fit several.
        made["anyOf"] = schema["oneOf"]
    for only in made.pop("allOf", ()):
        # Earlier versions of pydantic write a reference that has a default so.
        made |= _layered(only)
    for word in ("properties", "$defs"):
        if word in made:
            inner = {name: _layered(each) for name, each in made[word].items()}
            made[word] = {name: _or_null(each) for name, each in inner.items()} if word == "properties" else inner
    if "anyOf" in made:
        made["anyOf"] = [_layered(each) for each in made["anyOf"]]
    if "items" in made:
        made["items"] = _layered(made["items"])
    if isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = _or_null(_layered(made["additionalProperties"]))
    return made


def _or_null(schema: JsonSchema) -> JsonSchema:
    if _allows_null(schema):
        return schema
    about = {"description": schema["description"]} if "description" in schema else {}
    inner = {word: value for word, value in schema.items() if word != "description"}
    choices: list[Any] = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    return {**about, "anyOf": [*choices, _NULL]}


def _allows_null(schema: JsonSchema) -> bool:
    return schema == _NULL or any(_allows_null(each) for each in schema.get("anyOf", ()))
