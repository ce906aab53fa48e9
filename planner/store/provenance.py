"""Where a run came from and what it wrote: its inputs, the SHA-256 of each file, and a seal on run.json itself."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from planner import __version__
from planner.domain.day_summary import FORMAT
from planner.domain.situation import Outage, Situation
from planner.scenario.schema import Scenario
from planner.text_files import digest, digest_read

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
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What ``run.json`` says.

    ``continues`` names the day before and the SHA-256 of its files, None where the day started anew; ``closed`` says
    that no new jobs came in; ``inputs`` are `hashes`, None where they are added once all is read. `with_situation` adds
    what a day has that was planned from a moment on.
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
        "inputs": dict(inputs or {}),
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


@cache
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
    """SHA-256 of each file that exists, by its path: of what was read of it, else as it stands."""
    return {path.as_posix(): digest_read(path) for path in sorted(files) if path.is_file()}


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
