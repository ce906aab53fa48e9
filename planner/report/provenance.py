"""Provenance of a run: everything that is needed to know where its numbers came from, and to make them again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from planner import __version__
from planner.readers.scenario.schema import Scenario

PACKAGES = ("numpy", "numba", "pandas", "pvlib", "scipy", "docplex", "ortools", "pyyaml", "typer")


def provenance(
    scenario: Scenario, *, method: str, seed: int, workers: int, time_limit_s: float, command: Sequence[str], began: str
) -> dict[str, Any]:
    """What ``run.json`` says."""
    return {
        "planner": __version__,
        "command": list(command),
        "began": began,
        "method": method,
        "seed": seed,
        "workers": workers,
        "time_limit_s": time_limit_s,
        "versions": versions(),
        "inputs": hashes(scenario.files()),
        "scenario": scenario.as_dict(),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape a result."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of each file that exists, by its path."""
    return {path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files) if path.is_file()}
