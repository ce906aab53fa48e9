"""Models of what a job draws, for sources that do not say: watts per core, fixed or drawn per job; or learned.

The file of learned power is made and read back here: JSON that people can read, with where it came from.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from planner import limits
from planner.errors import FileFormatError, InputError
from planner.limits import JOB_W, W_PER_CORE, Bounds
from planner.power.learned import LEVELS, Asked, Group, Key, LearnedPower, PowerLimits, PowerModel, level_name
from planner.scenario.jobs_power import Power
from planner.scenario.schema import Scenario
from planner.text_files import read_bytes
from planner.units import utc_text

STUDY_LOW_W_PER_CORE = 7.8
STUDY_HIGH_W_PER_CORE = 11.11
"""Range of the published study (design, model.md)."""


def power_of(scenario: Scenario) -> PowerModel:
    """The model by the ``power:`` of a scenario: learned where it names a file of that, else constants."""
    constant = constant_of(scenario.power, scenario.seed)
    if scenario.power.learned is None:
        return constant
    return LearnedModel(read_learned_power(scenario.power.learned), limits_of(scenario), constant)


def constant_of(choice: Power, seed: int) -> PowerModel:
    """Watts per core by the ``power:`` of a scenario; InputError where it says nothing."""
    if choice.w_per_core is not None:
        return per_core(choice.w_per_core)
    if choice.draw_w_per_core is None:
        raise InputError("power: give w_per_core or draw_w_per_core, for jobs whose source says no power")
    low, high = choice.draw_w_per_core
    return drawn_per_core(low, high, seed)


def limits_of(scenario: Scenario) -> PowerLimits:
    """The least and the most that jobs of a scenario can draw."""
    return PowerLimits(scenario.cluster, scenario.power.max_w_per_core, scenario.power.max_w_per_node)


@dataclass
class LearnedModel:
    """A model by what finished jobs drew; jobs of which nothing is known draw the constant.

    ``used`` counts jobs by what said their power.
    """

    file: LearnedFile
    limits: PowerLimits
    constant: PowerModel
    used: Counter[str] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> float:
        found = self.file.learned.predict(asked)
        if found is None:
            self.used["the constant, as nothing is known of such jobs"] += 1
            return self.constant(asked)
        self.used[f"jobs of the same {level_name(found.level)}"] += 1
        return min(self.limits.bounded(asked, found.power_w), JOB_W.high)

    def notes(self, until_unix: int | None) -> list[str]:
        """What was done, in lines for people; ``until_unix`` is when the jobs are planned."""
        lines = [f"power by {way}: {count} jobs" for way, count in sorted(self.used.items())]
        last = self.file.last_end_unix
        if until_unix is not None and last >= until_unix:
            text = f"power was learned from jobs that ended up to {utc_text(last)}, after {utc_text(until_unix)}"
            lines.append(f"{text}: it knows what was not known then (plan power learn --until)")
        return lines


def power_notes(power: PowerModel, until_unix: int | None = None) -> list[str]:
    """Lines for people on where power came from; none where it is constant."""
    return power.notes(until_unix) if isinstance(power, LearnedModel) else []


def per_core(w_per_core: float) -> PowerModel:
    """A model in which every core of every job draws the same [W]."""
    W_PER_CORE.require("watts per core", w_per_core)
    return lambda asked: w_per_core * asked.cores


def drawn_per_core(low: float = STUDY_LOW_W_PER_CORE, high: float = STUDY_HIGH_W_PER_CORE, seed: int = 0) -> PowerModel:
    """A model in which each job's watts per core are uniform in [low, high).

    The draw is a hash of the seed and the job's id. It is a property of the job: reading other jobs, fewer
    jobs, or the same jobs in another order changes nothing. Another seed gives every job another draw.
    """
    W_PER_CORE.require("low watts per core", low)
    W_PER_CORE.require("high watts per core", high)
    if low > high:
        raise InputError(f"watts per core range from {low} to {high}; give the smaller first")
    largest = math.nextafter(high, low)

    def power_w(asked: Asked) -> float:
        return min(low + (high - low) * _uniform(seed, asked.job_id), largest) * asked.cores

    return power_w


def _uniform(seed: int, job_id: str) -> float:
    """A number in [0, 1) with 53 random bits, from the seed and the id alone."""
    digest = blake2b(f"{seed}:{job_id}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53


LEARNED_WHAT = "learned power of jobs"
LEARNED_FORMAT = 1
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
        "what": LEARNED_WHAT,
        "format": LEARNED_FORMAT,
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
    if not isinstance(content, dict) or content.get("what") != LEARNED_WHAT:
        raise FileFormatError(path, "is no file of learned power", remedy=_REMEDY)
    if content.get("format") != LEARNED_FORMAT:
        raise FileFormatError(path, f"has format {content.get('format')!r}, expected {LEARNED_FORMAT}", remedy=_REMEDY)
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
