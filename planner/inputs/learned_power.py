"""The file of learned power: JSON that people can read, with where it came from; made and read back here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner import limits
from planner.errors import FileFormatError
from planner.limits import Bounds
from planner.power.learned import LEVELS, Group, Key, LearnedPower
from planner.text_files import read_bytes
from planner.units import utc_text

WHAT = "learned power of jobs"
FORMAT = 1
_DECAY = Bounds(0, 1)
_WEIGHT = Bounds(1, limits.JOBS_OF_A_FILE.high * 1_000)
_COUNT = Bounds(1, limits.JOBS_OF_A_FILE.high * 1_000)
_REMEDY = "make it again with plan power learn"


@dataclass(frozen=True)
class LearnedFile:
    """Learned power with its provenance: how many jobs it is of, and when the first and the last ended [Unix seconds].

    ``sources`` are the SHA-256 of each table, by its path; ``left_out`` counts rows by why they were not learned from.
    """

    learned: LearnedPower
    jobs: int
    first_end_unix: int
    last_end_unix: int
    sources: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    made: str = ""
    planner: str = ""


def learned_power_text(file: LearnedFile) -> str:
    """The file as text: its provenance, then one line per group."""
    head: dict[str, Any] = {
        "what": WHAT,
        "format": FORMAT,
        "planner": file.planner,
        "made": file.made,
        "sources": dict(file.sources),
        "jobs": file.jobs,
        "left_out": dict(sorted(file.left_out.items())),
        "first_end": utc_text(file.first_end_unix),
        "last_end": utc_text(file.last_end_unix),
        "first_end_unix": file.first_end_unix,
        "last_end_unix": file.last_end_unix,
        "decay": file.learned.decay,
    }
    lines = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    levels = ",\n".join(_level_text(level, file.learned) for level in range(len(LEVELS)))
    return f'{lines},\n  "levels": [\n{levels}\n  ]\n}}\n'


def _level_text(level: int, learned: LearnedPower) -> str:
    rows = [
        json.dumps([*key, group.w_per_core, group.weight, group.jobs], ensure_ascii=False)
        for key, group in sorted(learned.groups[level].items())
    ]
    columns = json.dumps([*LEVELS[level], "w_per_core", "weight", "jobs"])
    groups = "[\n        " + ",\n        ".join(rows) + "\n      ]" if rows else "[]"
    return f'    {{\n      "columns": {columns},\n      "groups": {groups}\n    }}'


def read_learned_power(path: Path | str) -> LearnedFile:
    """Read a file of learned power; FileFormatError when it is none, damaged, or of another version."""
    path = Path(path)
    written = read_bytes(path)
    try:
        content = json.loads(written.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(path, f"is no JSON or damaged ({error})", remedy=_REMEDY) from error
    if not isinstance(content, dict) or content.get("what") != WHAT:
        raise FileFormatError(path, "is no file of learned power", remedy=_REMEDY)
    if content.get("format") != FORMAT:
        raise FileFormatError(path, f"has format {content.get('format')!r}, expected {FORMAT}", remedy=_REMEDY)
    try:
        return _file_of(content)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(path, f"is damaged: {problem}", remedy=_REMEDY) from error


def _file_of(content: Mapping[str, Any]) -> LearnedFile:
    levels = content["levels"]
    if not isinstance(levels, list) or len(levels) != len(LEVELS):
        raise ValueError(f"it must have {len(LEVELS)} levels")
    groups = tuple(_groups(level, each) for level, each in enumerate(levels))
    return LearnedFile(
        LearnedPower(_number("decay", content["decay"], _DECAY), groups),
        _whole("jobs", content["jobs"], _COUNT),
        _whole("first_end_unix", content["first_end_unix"], limits.UNIX_S),
        _whole("last_end_unix", content["last_end_unix"], limits.UNIX_S),
        dict(content["sources"]),
        dict(content["left_out"]),
        str(content["made"]),
        str(content["planner"]),
    )


def _groups(level: int, written: Any) -> dict[Key, Group]:
    columns = [*LEVELS[level], "w_per_core", "weight", "jobs"]
    if not isinstance(written, dict) or written.get("columns") != columns or not isinstance(written["groups"], list):
        raise ValueError(f"level {level + 1} must have the columns {', '.join(columns)}")
    found: dict[Key, Group] = {}
    for row in written["groups"]:
        if not isinstance(row, list) or len(row) != len(columns) or not all(isinstance(x, str) for x in row[:-3]):
            raise ValueError(f"a group of level {level + 1} is {row!r}")
        found[tuple(row[:-3])] = Group(
            _number("w_per_core", row[-3], limits.W_PER_CORE),
            _number("weight", row[-2], _WEIGHT),
            _whole("jobs", row[-1], _COUNT),
        )
    if len(found) < len(written["groups"]):
        raise ValueError(f"level {level + 1} has a group twice")
    return found


def _number(name: str, value: object, limits: Bounds) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in limits:
        raise ValueError(f"{name} is {value!r}, expected a number {limits}")
    return float(value)


def _whole(name: str, value: object, limits: Bounds) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in limits:
        raise ValueError(f"{name} is {value!r}, expected a whole number {limits}")
    return value
