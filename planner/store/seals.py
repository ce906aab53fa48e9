"""What a run keeps of its own files: the SHA-256 of each in run.json, and a seal on run.json itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.store.provenance import digest

RUN = "run.json"
CHECKED = ("schedule.csv", "deferred.csv", "segments.csv", "summary.json")
"""Files that every run writes, and whose hashes it keeps."""

CHANGED = "it was changed after it was written"


def outputs_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in a day's folder but run.json, which keeps them."""
    return {path.name: digest(path) for path in sorted(folder.iterdir()) if path.is_file() and path.name != RUN}


def sealed(run: Mapping[str, Any]) -> dict[str, Any]:
    """What run.json says, with its own SHA-256 as ``seal``."""
    return {**run, "seal": _seal(run)}


def changed(folder: Path, run: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Files that are not what the run wrote, each with what is wrong: gone, changed, or with no hash to tell by."""
    outputs: Mapping[str, str] = run.get("outputs", {})
    for name in sorted({*CHECKED, *outputs}):
        path = folder / Path(name).name
        if name not in outputs:
            yield folder / RUN, f"it does not keep the SHA-256 of {name}"
        elif not path.is_file():
            yield path, "it is missing"
        elif digest(path) != outputs[name]:
            yield path, CHANGED
    if "seal" not in run:
        yield folder / RUN, "it has no seal"
    elif run["seal"] != _seal(run):
        yield folder / RUN, CHANGED


def _seal(run: Mapping[str, Any]) -> str:
    """SHA-256 of what run.json says, however it is laid out."""
    plain = {name: value for name, value in run.items() if name != "seal"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
