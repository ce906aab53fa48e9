"""Where the files that ship with the planner are, and where it keeps what takes long to make."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path


def shipped_folder() -> Path:
    """The folder that holds ``tables/``, ``scenarios/`` and ``docs/``.

    An installed wheel carries them in ``planner/shipped``; a checkout has them beside the package.
    """
    package = Path(__file__).resolve().parent
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent


def document(name: str) -> str:
    """Where people find a document: in ``docs/`` of a checkout, or inside the installed planner."""
    inside = shipped_folder() / "docs" / name
    return str(inside) if shipped_folder().name == "shipped" and inside.is_file() else f"docs/{name}"


def is_there(path: Path) -> bool:
    """Whether anything has this path; a path that cannot be is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):  # too long a name, or no text
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder has this path."""
    return is_there(path) and path.is_dir()


def is_file(path: Path) -> bool:
    """Whether a file has this path."""
    return is_there(path) and path.is_file()


def scenario_folders(cwd: Path) -> list[Path]:
    """Folders in which a scenario's name is looked up, the site's own before the shipped ones."""
    own, shipped = cwd / "scenarios", shipped_folder() / "scenarios"
    if own.is_dir() and own.resolve() != shipped.resolve():
        return [own, shipped]
    return [shipped]


@cache
def kept_folder(*sources: Path) -> Path | None:
    """Where to keep what the code in some folders has made, for later runs of the same code; None when nowhere."""
    text = hashlib.sha256()
    for folder in sources:
        for path in sorted(folder.glob("*.py")):
            text.update(path.read_bytes())
    try:
        base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        kept = Path(base) / "hpc-day-planner" / text.hexdigest()[:16]
        kept.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
        return None
    return kept if os.access(kept, os.W_OK) else None
