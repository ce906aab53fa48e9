"""Where the file of a scenario is: by its name in the folders of scenarios, or by its path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.errors import InputError
from planner.places import full_path, is_file
from planner.printable import is_text
from planner.scenario.words import guess

_SUFFIXES = (".yaml", ".yml")


def known_scenarios(folders: Iterable[Path]) -> dict[str, Path]:
    """Names of all scenarios in the folders, with their files; an earlier folder hides a later one."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find_scenario(name_or_path: str | Path, folders: Sequence[Path]) -> Path:
    """The file of a scenario; InputError with the known names when there is none."""
    if isinstance(name_or_path, Path) or is_path(name_or_path):
        path = at_home(Path(name_or_path))
        if not is_file(path):
            raise InputError(f"{path}: no such scenario file")
        if not is_text(str(full_path(path))):
            raise InputError(f"{full_path(path)} is not UTF-8 text; use names that are")
        return path
    known = known_scenarios(folders)
    if name_or_path not in known:
        listed = f"known: {', '.join(known)}" if known else f"none are in {', '.join(map(str, folders))}"
        hint = " ".join(filter(None, [guess(name_or_path, known), listed]))
        raise InputError(f"unknown scenario {name_or_path!r}; {hint}; or give a path that ends in .yaml")
    return known[name_or_path]


def at_home(path: Path) -> Path:
    """The path with ~ replaced by the home folder, where there is one."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_path(text: str) -> bool:
    """Whether a text means a file, and not the name of a scenario."""
    return text.endswith(_SUFFIXES) or "/" in text or "\\" in text
