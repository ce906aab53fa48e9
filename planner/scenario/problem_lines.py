"""What is wrong with a scenario, a line for each problem: unknown keys, missing ones, and values that cannot be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from planner.scenario.reference import key_of, section_at
from planner.scenario.schema import KINDS
from planner.scenario.sections import words_of
from planner.scenario.strict_yaml import Marked, in_full, shown
from planner.scenario.words import guess

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]
_OF_A_NAME = "[key]"
"""How pydantic ends the place of a name that a mapping cannot have."""


def problem_lines(error: ValidationError, written: Marked) -> list[str]:
    """A line for each problem, section by section: keys that are not known, then the others in the models' order."""
    found = error.errors(include_url=False)
    firsts: dict[Place, int] = {}
    for index, each in enumerate(found):
        for depth in range(len(each["loc"])):
            firsts.setdefault(each["loc"][: depth + 1], index)
    bad_names = {each["loc"][:-1] for each in found if each["loc"][-1:] == (_OF_A_NAME,)}
    kept = [each for each in found if each["loc"][-1:] == (_OF_A_NAME,) or not _within(each["loc"], bad_names)]
    return [_line(each, written) for each in sorted(kept, key=lambda each: _rank(each, firsts))]


def _within(place: Place, places: set[Place]) -> bool:
    return any(place[: depth + 1] in places for depth in range(len(place)))


def _rank(error: ErrorDetails, firsts: dict[Place, int]) -> list[int]:
    place = error["loc"]
    ranks = [firsts[place[: depth + 1]] for depth in range(len(place))]
    return [*ranks[:-1], -1] if error["type"] == "extra_forbidden" else ranks


def _line(error: ErrorDetails, written: Marked) -> str:
    path, kind = error["loc"], None
    if path and path[0] in KINDS and len(path) > 1:
        path, kind = (path[0], *path[2:]), str(path[1])
    if error["type"] == "union_tag_not_found":
        chooser = KINDS[str(path[0])].chooser
        path = (*path, chooser.key)
        text = _one_of(error["input"][chooser.key], chooser.words)
    else:
        text = _text(error, path, kind)
    at = error.get("ctx", {}).get("at", "")
    if at:
        path = (*path, int(at[1:-1]) if at.startswith("[") else at)
    where = _entry(written, path).where
    if path[-1:] == (_OF_A_NAME,):
        path = path[:-2]
    return f"{where}: {_dotted(path)}: {text}"


def _text(error: ErrorDetails, path: Place, kind: str | None) -> str:
    value = error["input"]
    match error["type"]:
        case "together":
            return f"given together with {_dotted(path[:-1])}.{error['ctx']['rival']}; keep one of them"
        case "extra_forbidden" if kind is not None and path[-1] in KINDS[str(path[0])].words() and len(path) == 2:
            return KINDS[str(path[0])].misplaced(str(path[0]), str(path[1]), kind)
        case "extra_forbidden":
            known = _known(path[:-1], kind)
            hint = guess(str(path[-1]), known) or f"known here: {', '.join(known)}"
            return f"unknown key; {hint}"
        case "missing":
            return f"missing; {_remedy(path, kind)}"
        case "literal_error":
            return _one_of(value, re.findall(r"'([^']+)'", error["ctx"]["expected"]))
        case "model_type":
            return f"expected keys and values, found {in_full(value)}; known here: {', '.join(_known(path, kind))}"
        case "dict_type":
            return f"expected names and values, found {in_full(value)}"
        case "tuple_type":
            return f"expected a list, found {in_full(value)}; begin each item with '- '"
    return error["msg"]


def _one_of(value: object, words: Sequence[str]) -> str:
    hint = guess(value, words) if isinstance(value, str) else ""
    return f"expected one of {', '.join(words)}, found {shown(value)}" + (f"; {hint}" if hint else "")


def _known(path: Place, kind: str | None) -> tuple[str, ...]:
    """The keys of the section at a path, of all its kinds."""
    if len(path) == 1 and path[0] in KINDS:
        return KINDS[str(path[0])].words()
    section = section_at(path, kind)
    return () if section is None else tuple(words_of(section))


def _remedy(path: Place, kind: str | None) -> str:
    word, section = str(path[-1]), section_at(path[:-1], kind)
    example = "" if section is None else key_of(words_of(section)[word]).example
    if kind is not None and not example:
        return f"{KINDS[str(path[0])].chooser.called(kind)} needs it"
    written = f"write {word}: {example}" if example else "give it"
    return f"{written}, or take it from another scenario with base:"


def _entry(written: Marked, path: Place) -> Marked:
    """The innermost entry that was written on the way to a path."""
    for part in path:
        if isinstance(part, int):
            items = written.value if isinstance(written.value, tuple) else ()
            found = items[part] if part < len(items) else None
        else:
            found = (written.entries() or {}).get(part)
        if found is None:
            return written
        written = found
    return written


def _dotted(path: Place) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
