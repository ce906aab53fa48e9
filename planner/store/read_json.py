"""run.json and summary.json of a written day, read whole: every key that is used must have its type.

Everything that reads results back goes through here: the audit, cost reports, rolling runs, handovers and the index.
What stands in the files is read with the types that it was written from. Keys that nobody knows are let be, so that a
later version may write more.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from planner import __version__, limits
from planner.domain.cluster import Cluster
from planner.domain.day_summary import FORMAT, DaySummary
from planner.domain.horizon import zone_named
from planner.domain.job import DeferRule
from planner.domain.method_params import Strength
from planner.domain.problem import ExecuteRule
from planner.domain.rates import Rates
from planner.domain.situation import LeftAlone, Outage, SiteState
from planner.errors import FileFormatError, InputError
from planner.limits import Bounds
from planner.printable import one_line

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

REMEDY = "plan the day again"
QUOTED = 160
"""Characters of another message that a message repeats."""
_VALUE_CHARACTERS = 40
"""Characters of a bad value that a message shows."""
_NUMBER = Bounds(-1e15, 1e15)
"""No number in a result is beyond this, so that sums of them stay exact enough."""
_COUNT = Bounds(0, 1e15)
"""No whole number in a result is beyond this: they count, or are moments."""


def _that(words: str, fits: Callable[[Any], bool]) -> AfterValidator:
    """A value that is more than its type says, as in the words."""

    def check(value: Any) -> Any:
        if not fits(value):
            raise PydanticCustomError("expected", "{words}", {"words": words})
        return value

    return AfterValidator(check)


def _is_zone(name: str) -> bool:
    try:
        return bool(zone_named(name))
    except InputError:
        return False


def _later() -> Any:
    """The default of a key that earlier versions did not write; where it stands it is not null."""
    return Field(default=None)


_Word = Annotated[str, _that("text that is not empty", bool)]
_Amount = Annotated[float, _that(f"a number {_COUNT}", _COUNT.__contains__)]
_Moment = Annotated[int, _that(f"a whole number {limits.UNIX_S}", limits.UNIX_S.__contains__)]
_Day = Annotated[dt.date, _that("a day such as 2024-06-01", lambda day: day.year in limits.PLANNED_YEARS)]
_Zone = Annotated[str, _that("a time zone such as Europe/Paris", _is_zone)]
_Digest = Annotated[
    str, _that("a SHA-256 of 64 digits", lambda text: re.fullmatch("[0-9a-f]{64}", text, re.ASCII) is not None)
]
_Some = Annotated[list[T], _that("a list that is not empty", bool)]


@dataclass(frozen=True, kw_only=True)
class _Summary(DaySummary):
    """What summary.json says."""

    scenario: _Word
    day: _Day
    zone: _Zone
    solve_s: _Amount
    found_s: _Amount | None = None


# Parts of run.json: the keys of it that somebody reads.


class _Jobs(BaseModel):
    visibility: _Word


class _Cooling(BaseModel):
    table: _Word


class _Revenue(BaseModel):
    eur_per_core_hour: _Amount


class _Rules(BaseModel):
    defer: DeferRule
    execute: ExecuteRule = "requested"
    max_delay_s: int | None = None


class _Demand(BaseModel):
    eur_per_kw: _Amount
    interval_s: int


class _Carbon(BaseModel):
    eur_per_tonne: _Amount


class _OptIn(BaseModel):
    partitions: list[str]
    qos: list[str]
    comment: list[str]


class _Slurm(BaseModel):
    opt_in: _OptIn


class _Scenario(BaseModel):
    name: _Word
    zone: _Zone
    jobs: _Jobs
    cluster: Cluster
    cooling: _Cooling
    revenue: _Revenue
    rules: _Rules
    demand: _Demand
    carbon: _Carbon
    outages: list[Outage] = _later()
    slurm: _Slurm = _later()


class _Snapshot(BaseModel):
    """What run.json keeps of the snapshot that a day was planned from."""

    moment_unix: _Moment
    source: str
    outages: list[Outage]
    left_alone: list[LeftAlone] = _later()


class _Books(BaseModel):
    known_until_unix: _Moment


class _Outside(BaseModel):
    start_s: _Some[int]
    temperature_c: _Some[float]


class _Strength(BaseModel):
    """Null: hold nothing."""

    value: _Amount | None
    decided_unix: _Moment


class _Run(BaseModel):
    """What run.json says. Results of the earliest versions have no ``outputs``; those that need them say so."""

    format: int = FORMAT
    planner: str
    command: list[str]
    began: str
    method: _Word
    seed: int
    workers: int
    time_limit_s: _Amount
    engine: str | None
    iterations: int | None
    continues: dict[str, str] | None
    closed: bool
    snapshot: _Snapshot | None = None
    outages: list[Outage] = _later()
    books: _Books = _later()
    conflicts: list[str] = _later()
    versions: dict[str, str]
    inputs: dict[str, _Digest]
    scenario: _Scenario
    rates: Rates = _later()
    left: SiteState = _later()
    hold_strength: _Strength = _later()
    outside: _Outside = _later()
    bound: dict[str, Any] | None
    real_bound: dict[str, Any] | None = None
    outputs: dict[str, _Digest] = _later()
    seal: _Digest = _later()


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schema of each JSON file of a day, as it is checked when it is read back."""
    return {"summary.json": _adapter(_Summary).json_schema(), "run.json": _adapter(_Run).json_schema()}


def read_run(folder: Path) -> dict[str, Any]:
    """The run.json of a day; FileFormatError names the key that is missing or has another type."""
    found: dict[str, Any] = _read(folder / "run.json", _Run)[0]
    return found


def read_summary(folder: Path) -> DaySummary:
    """The summary.json of a day; FileFormatError names the key that is missing or has another type."""
    return DaySummary(**vars(_read(folder / "summary.json", _Summary)[1]))


def made(kind: type[T], plain: Any) -> T:
    """An object of a type, from plain data that `read_run` found to be one."""
    return _adapter(kind).validate_python(plain)


def cluster_of(run: Mapping[str, Any]) -> Cluster:
    """The cluster that a run was planned for, from the scenario in its run.json."""
    return made(Cluster, run["scenario"]["cluster"])


def outages_of(run: Mapping[str, Any]) -> tuple[Outage, ...]:
    """The outages that a run knew of: those of its situation, or where that had none of its own, of its scenario."""
    known = (run.get("snapshot") or (run if "outages" in run else run["scenario"])).get("outages", ())
    return tuple(made(Outage, each) for each in known)


def strength_of(run: Mapping[str, Any]) -> Strength | None:
    """How strongly it was best to hold; None where a run does not say."""
    found = run.get("hold_strength")
    if found is None:
        return None
    return Strength(math.inf if found["value"] is None else float(found["value"]), found["decided_unix"])


def moment_of(run: Mapping[str, Any]) -> int | None:
    """The moment of the snapshot that a run planned from [Unix seconds]; None where there was none."""
    snapshot = run.get("snapshot")
    return None if snapshot is None else int(snapshot["moment_unix"])


def known_until_of(run: Mapping[str, Any]) -> int | None:
    """The moment from which jobs may be new to a run [Unix seconds]; None where its scenario says it.

    Books are no news of jobs that wait: these are known as far as the plan before them knew them.
    """
    return int(run["books"]["known_until_unix"]) if "books" in run else moment_of(run)


def is_booked(folder: Path) -> bool:
    """Whether a folder holds a booked day, by its run.json or else by its summary; one of them may be damaged."""
    with suppress(FileFormatError):
        if "books" in read_run(folder):
            return True
    with suppress(FileFormatError):
        return read_summary(folder).booked is not None
    return False


def text_of(path: Path) -> str:
    """The text of a file that a run wrote; FileFormatError when it is missing, not a file, or not UTF-8."""
    try:
        if not path.exists():
            raise FileFormatError(path, "it is missing", remedy=REMEDY)
        if not path.is_file():
            raise FileFormatError(path, "it is not a file", remedy=REMEDY)
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, "it is damaged (not UTF-8 text)", remedy=REMEDY) from error
    except OSError as error:
        raise FileFormatError(path, f"cannot read it ({error.strerror or error})", remedy=REMEDY) from error


def _read(path: Path, kind: type[T]) -> tuple[Any, T]:
    """What a JSON file holds, as plain data and as its type."""
    text = text_of(path)
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise FileFormatError(path, "it is damaged (nested too deeply)", remedy=REMEDY) from error
    except ValueError as error:
        raise _damaged(path, f" ({one_line(str(error), QUOTED)})") from error
    written = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
    if written != FORMAT:
        problem = f"it has format {shown(written)}, and this planner ({__version__}) reads format {FORMAT}"
        raise FileFormatError(path, problem, remedy=f"read it with the planner that wrote it, or {REMEDY}")
    try:
        found = _adapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        raise _damaged(path, f": {_words(error.errors(include_url=False)[0])}") from error
    wrong = _odd_number(_adapter(kind).dump_python(found))
    if wrong is not None:
        raise _damaged(path, f": {wrong}")
    return content, found


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """What reads a type, made once."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _damaged(path: Path, what: str) -> FileFormatError:
    return FileFormatError(path, f"it is damaged{what}", remedy=REMEDY)


_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": f"a whole number {_COUNT}",
    "int_from_float": f"a whole number {_COUNT}",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
}


def _words(error: ErrorDetails) -> str:
    """What is wrong with a file, in words that name the key."""
    kind, where = error["type"], _dotted(error["loc"])
    if kind == "missing":
        return f"{where} is missing"
    if kind == "value_error":
        return f"{where} is not right: {one_line(str(error['ctx']['error']), QUOTED)}"
    if kind == "literal_error":
        expected = " or ".join(re.findall(r"'([^']+)'", error["ctx"]["expected"]))
    elif kind.startswith("date_"):
        expected = "a day such as 2024-06-01"
    else:
        expected = _EXPECTED.get(kind, error["msg"])
    return f"{where or 'it'} is {shown(error['input'])}, expected {expected}"


def _odd_number(value: object, *place: str | int) -> str | None:
    """The first number that is beyond all that a result may hold, in words that name its key."""
    if isinstance(value, Mapping | list | tuple):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        return next(filter(None, (_odd_number(item, *place, key) for key, item in items)), None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    limits, words = (_COUNT, f"a whole number {_COUNT}") if isinstance(value, int) else (_NUMBER, "a number")
    return None if value in limits else f"{_dotted(place)} is {shown(value)}, expected {words}"


def _dotted(place: tuple[str | int, ...]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{one_line(part, _VALUE_CHARACTERS)}" for part in place)
    return "".join(parts).removeprefix(".")


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line, without signs that a terminal would obey."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the text '{one_line(value, _VALUE_CHARACTERS)}'"
    return one_line(str(value), _VALUE_CHARACTERS)
