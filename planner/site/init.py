"""A new site folder: a commented scenario, cooling tables, example jobs, what runs it by the clock, and what to do."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from planner.errors import InputError, OutputError
from planner.places import is_folder, is_there
from planner.store.folder import filled

_TEMPLATES = Path(__file__).parent / "templates"
_WRITTEN = {
    "scenarios/site.yaml": "site.yaml",
    "jobs/example.csv": "example.csv",
    "README.md": "README.md",
    **{
        f"deploy/{name}": f"deploy/{name}"
        for name in (
            "planner.service",
            "planner.timer",
            "planner-book.service",
            "planner-book.timer",
            "planner.cron",
            "alerts.yml",
        )
    },
}
_TABLES = ("air.csv", "hybrid.csv")


def write_site(target: Path, *, shipped: Path) -> list[Path]:
    """Make a new site at ``target`` and return its files; all of it appears, or nothing does.

    The tables are copied from ``shipped/tables``. A folder that holds anything is refused.
    """
    try:
        place = target.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{target} cannot be a folder ({error}); name a new folder") from error
    _demand_empty(place, target)
    contents = {name: _TEMPLATES / template for name, template in _WRITTEN.items()}
    contents |= {f"tables/{name}": shipped / "tables" / name for name in _TABLES}
    for source in contents.values():
        if not source.is_file():
            raise InputError(f"{source} is missing; the planner is not completely installed, install it again")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _write(place, contents)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from error
    return [target / name for name in sorted(contents)]


def _demand_empty(place: Path, target: Path) -> None:
    if is_there(place) and not is_folder(place):
        raise InputError(f"{target} is a file; name a new folder")
    if is_folder(place) and any(place.iterdir()):
        raise InputError(f"{target} is not empty; name a new or empty folder")


def _write(place: Path, contents: dict[str, Path]) -> None:
    with filled(place) as made:
        if made != place:
            _copy(contents, made)
            return
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
        # One level down, since the temporary folder itself is readable by its owner alone.
        made = Path(folder) / place.name
        _copy(contents, made)
        # Someone is standing in the empty folder (`plan init .`): keep it and move the contents in.
        moved: list[Path] = []
        try:
            for entry in sorted(made.iterdir()):
                moved.append(entry.rename(place / entry.name))
        except OSError:
            for entry in moved:
                entry.rename(made / entry.name)
            raise


def _copy(contents: dict[str, Path], folder: Path) -> None:
    for name, source in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
