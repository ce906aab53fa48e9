"""What the study keeps between calls: every finished piece in a file of its own, named by what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from planner.errors import OutputError
from planner.scenario.schema import Scenario
from planner.store.files import alone_in, put
from planner.store.provenance import digest, versions

PACKAGE = Path(__file__).resolve().parents[2]
IDLE_ROOMS = ("cli", "cooling", "cp", "pages", "site", "store")
"""Rooms whose code changes no piece of the study."""
MAKERS = ("kept", "sites", "moved_years", "static_plans", "replays", "settled")
"""Modules of the study that do; the others only choose and show."""


def piece(folder: Path, kind: str, name: str, facts: Mapping[str, Any]) -> Path:
    """Where a piece is kept: below its kind, under its name and a mark of what it was made from."""
    text = json.dumps({**facts, "code": code_mark(), "versions": versions()}, sort_keys=True, default=str)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return folder / "pieces" / kind / f"{name.replace('/', '.')}.{mark}"


def keep(path: Path, content: bytes) -> None:
    """Write a piece in one step, in place of any that was made from something else."""
    name = path.stem
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            put(path, content)
            for other in path.parent.iterdir():
                if other.stem == name and other != path:
                    other.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


def scenario_facts(scenario: Scenario, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """A scenario and the content of its files, wherever these are; some of its sections left out."""
    told = {name: section for name, section in scenario.as_dict().items() if name not in (*without, "sources")}
    text = json.dumps(told, default=str)
    files = {path.as_posix(): path for path in scenario.files()}
    inputs = {}
    for written in sorted(files, key=len, reverse=True):
        if written in text:
            text = text.replace(written, files[written].name)
            inputs[files[written].name] = _digest(files[written])
    return {"scenario": json.loads(text), "inputs": inputs}


@cache
def code_mark() -> str:
    """A mark of all code that can change a piece."""
    text = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        room, *rest = path.relative_to(PACKAGE).parts
        if room in IDLE_ROOMS or (room == "studies" and rest[0] == "operation" and path.stem not in MAKERS):
            continue
        text.update(path.read_bytes())
    return text.hexdigest()


@cache
def _digest(path: Path) -> str:
    return digest(path)
