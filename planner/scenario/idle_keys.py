"""Keys that a choice in a later layer made idle, and keys that contradict the choice beside them.

Where a base chose ``kind: hourly`` with a ``file`` and a later layer chooses ``kind: flat``, the file no longer applies
and is dropped. Written in the same layer as the choice, or a later one, it is a contradiction and an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from planner.scenario.chooser import Kinds
from planner.scenario.marked import Marked
from planner.scenario.schema import KINDS
from planner.scenario.written import given, plain

_RIVALS = {"weather": ("period", "season"), "tariff": ("column", "members"), "carbon": ("g_per_kwh", "file")}
"""Pairs of keys of which a section has one; that of the later layer replaces the other."""


def drop_idle(written: Marked) -> tuple[Marked, list[str]]:
    """A scenario with the keys that apply, and a line for each that contradicts another."""
    sections = dict(written.entries() or {})
    lines: list[str] = []
    for name in ("power", *KINDS):
        section = sections.get(name)
        if section is None or section.entries() is None:
            continue
        if name == "power":
            section, found = _one_power(section)
        else:
            section, rivals = _without_rival(section, name, *_RIVALS[name]) if name in _RIVALS else (section, [])
            section, found = _without_idle(section, name, KINDS[name])
            found = [*rivals, *found]
        sections[name] = section
        lines += found
    return dataclasses.replace(written, value=sections), lines


def _one_power(power: Marked) -> tuple[Marked, list[str]]:
    """One of ``w_per_core`` and ``draw_w_per_core``, whatever their layers."""
    fixed, drawn = given(power, "w_per_core"), given(power, "draw_w_per_core")
    if fixed is None or drawn is None:
        return power, []
    text = f"given together with power.draw_w_per_core ({drawn.where}); keep one and set the other to null"
    return _without(power, {"draw_w_per_core"}), [f"{fixed.where}: power.w_per_core: {text}"]


def _without_rival(section: Marked, name: str, first: str, second: str) -> tuple[Marked, list[str]]:
    """The section with the later of two keys; both in one layer are an error."""
    one, other = given(section, first), given(section, second)
    if one is None or other is None:
        return section, []
    lines = []
    if one.source.layer == other.source.layer:
        lines.append(f"{other.where}: {name}.{second}: given together with {name}.{first}; keep one of them")
    return _without(section, {first if one.source.layer <= other.source.layer else second}), lines


def _without_idle(section: Marked, name: str, kinds: Kinds) -> tuple[Marked, list[str]]:
    """The section without the keys that its kind does not use."""
    chooser = kinds.chooser
    kind = chooser.kind_of(plain(section))
    if kind is None:
        return section, []
    used = {each: kinds.words_of(each) for each in kinds.models}
    chosen = (section.entries() or {}).get(chooser.deciding(kind))
    lines = []
    idle = [word for word in kinds.words() if word not in used[kind]]
    for word in idle:
        found = given(section, word)
        if found is not None and (chosen is None or found.source.layer >= chosen.source.layer):
            others = " or ".join(each for each in kinds.models if word in used[each])
            remedy = f"write {chooser.called(others)}, or {word}: null"
            lines.append(f"{found.where}: {name}.{word}: not used with {chooser.called(kind)}; {remedy}")
    return _without(section, idle), lines


def _without(section: Marked, words: Collection[str]) -> Marked:
    kept = {word: entry for word, entry in (section.entries() or {}).items() if word not in words}
    return section if section.blank else dataclasses.replace(section, value=kept)
