"""The traces that a study is run on, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.errors import InputError

ENDINGS = (".gz", ".swf", ".csv", ".parquet")


def trace_name(path: Path) -> str:
    """A trace's name: that of its file."""
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def trace_files(given: Sequence[Path]) -> list[Path]:
    """The files in full; InputError when one is missing, or when two have one name."""
    paths = [path.resolve() for path in given]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: there is no such trace")
    names = [trace_name(path) for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"two traces have one name: {', '.join(sorted(names))}; give each another file name")
    return paths
