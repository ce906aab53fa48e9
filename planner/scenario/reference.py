"""The reference of all keys, made from the models: for the table in scenarios/README.md, and for tests."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.fields import FieldInfo

from planner.scenario.fields import behind, key_of
from planner.scenario.schema import KINDS, Scenario
from planner.scenario.sections import Key, words_of

BASE = Key("name or path", "scenario to start from", default="none")
"""The key that layers are made of; no model has it, as it is gone once they are merged."""


def schema_keys() -> tuple[str, ...]:
    """Every key that a scenario file may have, dotted, apart from ``base``.

    Such as ``cluster.classes.<class>.count`` or ``tariff.bands[].to``.
    """
    return tuple(key for key, _ in _fields())


def key_rows() -> list[tuple[str, str, str, str]]:
    """Key, unit, default and meaning of every key, apart from ``base``."""
    about = [(key, field, key_of(field)) for key, field in _fields()]
    return [(key, said.unit, said.default or _default(field), said.meaning) for key, field, said in about]


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
