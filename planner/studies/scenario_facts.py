"""What a piece of a study owes to a scenario: all that it says, and the content of its files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from planner.scenario.schema import Scenario
from planner.store.provenance import digest


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
def _digest(path: Path) -> str:
    return digest(path)
