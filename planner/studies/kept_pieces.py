"""What a study keeps between calls: every finished piece in a file of its own, named by what it was made from.

Below its content stands a digest of it: a piece that was damaged is made anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from planner.errors import OutputError
from planner.runs.parallel_calls import TaskEngine, not_shared, run_calls
from planner.scenario.schema import Scenario
from planner.store.folder import alone_in, put
from planner.store.provenance import versions
from planner.text_files import digest

PACKAGE = Path(__file__).resolve().parents[1]
IDLE_ROOMS = ("api", "cli", "cooling", "pages", "site", "slurm", "store")
"""Rooms whose code changes no piece of a study."""

OnDone = Callable[[str], None]
"""Called with the name of each piece that is done, or that was kept from an earlier call."""


@dataclass(frozen=True)
class Task:
    """A piece that is to be made: its name for people, where it is kept, and how its content is made."""

    name: str
    path: Path
    make: Callable[[], bytes]


def piece(folder: Path, kind: str, name: str, facts: Mapping[str, Any], code: str) -> Path:
    """Where a piece is kept: below its kind, under its name and a mark of what it was made from."""
    text = json.dumps({**facts, "code": code, "versions": versions()}, sort_keys=True, default=str)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return folder / "pieces" / kind / f"{name.replace('/', '.')}.{mark}"


@cache
def code_mark(maker: str) -> str:
    """A mark of all code that can change a piece: of the modules of studies, only the one that makes it."""
    text = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        if room in IDLE_ROOMS or (room == "studies" and path.stem != maker):
            continue
        text.update(path.read_bytes())
    return text.hexdigest()


def make_missing(tasks: Iterable[Task], engine: TaskEngine, on_done: OnDone) -> None:
    """Make what is missing, side by side; the first error ends it, and what is done is kept."""
    by_path = {task.path: task for task in tasks}
    missing = [task for task in by_path.values() if content_of(task.path) is None]
    for task in by_path.values():
        if task not in missing:
            on_done(task.name)
    calls = [(task.name, partial(_do, task)) for task in missing]
    run_calls(calls, engine, lambda number: on_done(missing[number].name))
    for task in missing:
        kept(task)


def kept(task: Task) -> bytes:
    """What is kept of a piece that was made; OutputError where nothing whole is there."""
    content = content_of(task.path)
    if content is None:
        raise not_shared(task.path)
    return content


def clear(folder: Path) -> None:
    """Remove what was kept."""
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be removed: {error.strerror or error}") from error


def scenario_facts(scenario: Scenario) -> dict[str, Any]:
    """What a piece owes to a scenario: all that it says, and the content of its files, wherever they are."""
    told = {name: section for name, section in scenario.as_dict().items() if name != "sources"}
    text = json.dumps(told, default=str)
    files = {path.as_posix(): path for path in scenario.files()}
    inputs = {}
    for written in sorted(files, key=len, reverse=True):
        if written in text:
            text = text.replace(written, files[written].name)
            inputs[files[written].name] = _digest(files[written])
    return {"scenario": json.loads(text), "inputs": inputs}


_digest = cache(digest)


def content_of(path: Path) -> bytes | None:
    """What is kept of a piece; None where there is nothing, or nothing whole."""
    try:
        content, _, seal = path.read_bytes().rpartition(b"\n")
    except OSError:
        return None
    return content if seal == _seal(content) else None


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def put_piece(path: Path, content: bytes) -> None:
    """Write a piece in one step, in place of any that was made from something else."""
    name = path.stem
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            put(path, content + b"\n" + _seal(content))
            for other in path.parent.iterdir():
                if other.stem == name and other != path:
                    other.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _do(task: Task) -> None:
    """Make a piece and keep it, wherever that is."""
    put_piece(task.path, task.make())
