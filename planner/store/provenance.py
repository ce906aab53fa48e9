"""Provenance of a run: everything that is needed to know where its numbers came from, and to make them again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from planner import __version__
from planner.domain.day_summary import FORMAT
from planner.domain.situation import Outage, Situation
from planner.scenario.schema import Scenario

PACKAGES = ("numpy", "numba", "pandas", "pvlib", "scipy", "docplex", "ortools", "pyyaml", "typer")


def provenance(
    scenario: Scenario,
    *,
    method: str,
    seed: int,
    workers: int,
    time_limit_s: float,
    command: Sequence[str],
    began: str,
    engine: str | None = None,
    iterations: int | None = None,
    continues: Mapping[str, str] | None = None,
    closed: bool = False,
    files: Iterable[Path] = (),
) -> dict[str, Any]:
    """What ``run.json`` says.

    ``continues`` names the day before and the SHA-256 of its files, None where the day started anew; ``closed`` says
    that no new jobs came in; ``files`` are inputs besides those of the scenario. `with_situation` adds what a day has
    that was planned from a moment on.
    """
    return {
        "format": FORMAT,
        "planner": __version__,
        "command": list(command),
        "began": began,
        "method": method,
        "seed": seed,
        "workers": workers,
        "time_limit_s": time_limit_s,
        "engine": engine,
        "iterations": iterations,
        "continues": None if continues is None else dict(continues),
        "closed": closed,
        "snapshot": None,
        "conflicts": [],
        "versions": versions(),
        "inputs": hashes([*scenario.files(), *files]),
        "scenario": scenario.as_dict(),
    }


def with_situation(
    run: Mapping[str, Any], situation: Situation, usual: Sequence[Outage], conflicts: Sequence[str]
) -> dict[str, Any]:
    """The same for a day of a situation: its moment, outages, jobs that are left alone, and conflicts.

    Of what the day before left at midnight it says outages alone, and these where they are not the ``usual`` ones of
    the scenario.
    """
    outages = [asdict(outage) for outage in situation.outages]
    if situation.nightly:
        return {**run, "outages": outages} if set(situation.outages) - set(usual) else dict(run)
    kept = {
        "moment_unix": situation.moment_unix,
        "source": situation.source,
        "outages": outages,
        "left_alone": [asdict(each) for each in situation.left_alone],
    }
    return {**run, "snapshot": kept, "conflicts": list(conflicts)}


def with_books(run: Mapping[str, Any], situation: Situation, known_until_unix: int) -> dict[str, Any]:
    """The same for a day that is booked: how it ended, and from when on jobs may be new to the next day."""
    return {**with_situation(run, situation, (), ()), "books": {"known_until_unix": known_until_unix}}


SAME = (
    "planner",
    "method",
    "seed",
    "time_limit_s",
    "engine",
    "iterations",
    "continues",
    "closed",
    "snapshot",
    "versions",
    "inputs",
    "scenario",
)
"""What must be the same for two runs of a day to give the same answer; the number of workers is no part of it."""


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
    return {path.as_posix(): digest(path) for path in sorted(files) if path.is_file()}


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
