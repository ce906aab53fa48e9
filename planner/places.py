"""Where the files that ship with the planner are, where it keeps what takes long to make, and public traces."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from planner.errors import InputError

TRACE = "swf/CEA-Curie-2011-2.1-cln.swf.gz"
"""A public trace, in the folder of these."""


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


def full_path(path: Path) -> Path:
    """The path from the root on, without links; where these go round in a loop it ends in one, and using it fails."""
    return Path(os.path.realpath(path))


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


@contextmanager
def away() -> Iterator[None]:
    """Stand in the root folder for a moment: a library that is loaded meanwhile finds no settings or code of ours."""
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
    try:
        os.chdir("/")
        yield
    finally:
        os.fchdir(here)
        os.close(here)


@cache
def kept_folder(*sources: Path) -> Path | None:
    """Where to keep what the code in some folders has made, for later runs of the same code; None when nowhere."""
    text = hashlib.sha256()
    for folder in sources:
        for path in sorted(folder.glob("*.py")):
            text.update(path.read_bytes())
    base = _cache_folder()
    if base is None:
        return None
    try:
        kept = base / text.hexdigest()[:16]
        _make_private(kept)
    except (OSError, ValueError):
        return None
    return kept if os.access(kept, os.W_OK) else None


CACHE = "NUMBA_CACHE_DIR"


def _cache_folder() -> Path | None:
    """The first of the usual folders that nobody else can write to: what is in it is run as machine code.

    One that was asked for and is not ours is refused in one line.
    """
    for name in (CACHE, "XDG_CACHE_HOME", "HOME"):
        try:
            base = Path.home() / ".cache" if name == "HOME" else Path(os.environ.get(name, ""))
            if base == Path():
                continue
            ours = base / "hpc-day-planner"
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_unshared(base)
            _make_private(ours)
        except ValueError as error:
            print(f"plan: no compiled code is kept in {error}; set {CACHE} to a folder of your own", file=sys.stderr)
        except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
            continue
        else:
            return ours
    return None


def _make_private(folder: Path) -> None:
    """Make a folder that we alone can use, or find it so; ValueError when it may hold what others wrote."""
    folder.mkdir(mode=0o700, exist_ok=True)
    _require_unshared(folder, own=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)  # others could read it, and no more


def _require_unshared(folder: Path, *, own: bool = False) -> None:
    """ValueError with the folder and what is wrong, unless it is our own folder, or root's, that we alone write to."""
    found = folder.lstat()
    if not folder.is_absolute():
        raise ValueError(f"{folder}: it is not named from the root on")
    if not stat.S_ISDIR(found.st_mode):
        raise ValueError(f"{folder}: it is a link, or no folder")
    if found.st_uid != os.geteuid() and (own or found.st_uid != 0):
        raise ValueError(f"{folder}: it belongs to another user")
    if found.st_mode & 0o022:
        raise ValueError(f"{folder}: others can write to it")


def data_home(given: Path | None) -> Path:
    """Where public traces are looked for."""
    return given or Path(os.environ.get("PLANNER_DATA") or shipped_folder().parent / "shared" / "data")


def data_folder(given: Path | None = None) -> Path:
    """The folder of public traces; InputError says what must be in it."""
    folder = data_home(given)
    if not (folder / TRACE).is_file():
        raise InputError(
            f"{folder / TRACE}: the trace is not there; get it from the Parallel Workloads Archive and give its folder"
            " with --data DIR, or in PLANNER_DATA"
        )
    return full_path(folder)
