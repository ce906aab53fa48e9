"""The JSON schema of a scenario file, for editors that check and complete YAML, made from the models."""

from __future__ import annotations

from typing import Any

from planner.scenario.forms import JsonSchema
from planner.scenario.reference import BASE
from planner.scenario.schema import KINDS, Scenario

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL: JsonSchema = {"type": "null"}


def editor_schema() -> JsonSchema:
    """The schema of one file, which is one layer: nothing is required, ``null`` takes away what a base said.

    It knows keys, kinds, words and ranges; whether files exist and layers make a whole is seen when they are read.
    """
    schema = _layered(Scenario.model_json_schema())
    for kinds in KINDS.values():
        for model in kinds.models.values():
            said = schema["$defs"][model.__name__]["properties"]
            said |= {word: _NULL for word in kinds.words() if word not in said}
    base = {"type": ["string", "null"], "description": BASE.meaning}
    return {"$schema": _DIALECT, "title": "Scenario", **schema, "properties": {"base": base, **schema["properties"]}}


def _layered(schema: JsonSchema) -> JsonSchema:
    """A schema and all within it, as one layer may write it."""
    said = {word: value for word, value in schema.items() if word not in ("title", "required", "default", "oneOf")}
    if "oneOf" in schema:
        # A layer that does not say its kind may fit several.
        said["anyOf"] = schema["oneOf"]
    for only in said.pop("allOf", ()):
        # Earlier versions of pydantic write a reference that has a default so.
        said |= _layered(only)
    for word in ("properties", "$defs"):
        if word in said:
            inner = {name: _layered(each) for name, each in said[word].items()}
            said[word] = {name: _or_null(each) for name, each in inner.items()} if word == "properties" else inner
    if "anyOf" in said:
        said["anyOf"] = [_layered(each) for each in said["anyOf"]]
    if "items" in said:
        said["items"] = _layered(said["items"])
    if isinstance(said.get("additionalProperties"), dict):
        said["additionalProperties"] = _or_null(_layered(said["additionalProperties"]))
    return said


def _or_null(schema: JsonSchema) -> JsonSchema:
    if _allows_null(schema):
        return schema
    about = {"description": schema["description"]} if "description" in schema else {}
    inner = {word: value for word, value in schema.items() if word != "description"}
    choices: list[Any] = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    return {**about, "anyOf": [*choices, _NULL]}


def _allows_null(schema: JsonSchema) -> bool:
    return schema == _NULL or any(_allows_null(each) for each in schema.get("anyOf", ()))
