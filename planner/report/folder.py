"""The folder of a run: written beside its place and moved there in one step, by one run at a time.

A crash, a full disk or a kill at any moment leaves the earlier result as it was. What a killed run left behind is
removed by the next run of the same day.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from planner.errors import OutputError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ATTEMPTS = 5


@contextlib.contextmanager
def held(target: Path) -> Iterator[None]:
    """Hold a target folder for this run; OutputError when another run holds it or it cannot be written.

    Afterwards the lock is gone again, and so are the folders made for it that nothing was written to.
    """
    lock = target.parent / f".{target.name}.lock"
    try:
        in_the_way = target.exists() and not target.is_dir()
        missing = [folder for folder in target.parents if not folder.exists()]
    except OSError as error:
        raise OutputError(_cannot(target, error)) from error
    if in_the_way:
        raise OutputError(f"cannot write {target}: a file is in the way; remove it or choose another folder with --out")
    handle = _locked(lock, target)
    try:
        _clear_left_overs(target)
        yield
    finally:
        # Removed while still held: whoever waits for this file finds that it is no longer the one at its path.
        lock.unlink(missing_ok=True)
        os.close(handle)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """A new empty folder that becomes the target when the block ends well, and vanishes when it does not."""
    fresh = target.parent / f".{target.name}.new-{os.getpid()}"
    try:
        fresh.mkdir()
        yield fresh
        for path in fresh.iterdir():
            _flush(path)
        _flush(fresh)
        _move(fresh, target)
    except OSError as error:
        stands = "; the earlier result stands" if target.exists() else ""
        raise OutputError(f"cannot write {target}: {error.strerror or error}{stands}") from error
    finally:
        _remove(fresh)


def _locked(lock: Path, target: Path) -> int:
    """An open handle that holds the lock file at its path."""
    for _ in range(_ATTEMPTS):
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(_cannot(lock.parent, error)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, lock):
                os.ftruncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode(), 0)
                return handle
        except OSError as error:
            owner = os.pread(handle, 64, 0).decode(errors="replace").strip() or "unknown"
            os.close(handle)
            if not isinstance(error, BlockingIOError):
                raise OutputError(f"cannot lock {target}: {error.strerror}") from error
            problem = f"another run (process {owner}) is planning {target}; wait for it to end"
            raise OutputError(problem) from error
        os.close(handle)
    raise OutputError(f"other runs are planning {target}; wait for them to end")


def _cannot(path: Path, error: OSError) -> str:
    return f"cannot write {path}: {error.strerror or error}; choose another folder with --out"


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _clear_left_overs(target: Path) -> None:
    """Remove what killed runs left, after putting back a result that one had moved aside."""
    for aside in sorted(target.parent.glob(f".{target.name}.old-*")):
        if target.exists():
            _remove(aside)
        else:
            aside.rename(target)
    for fresh in target.parent.glob(f".{target.name}.new-*"):
        _remove(fresh)


def _move(fresh: Path, target: Path) -> None:
    """Put a folder in the place of another in one step; the old one, if any, ends at the new one's first name."""
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        # Without an exchange in the operating system the target is missing for the moment between two renames.
        aside = target.parent / f".{target.name}.old-{os.getpid()}"
        target.rename(aside)
        try:
            fresh.rename(target)
        except OSError:
            aside.rename(target)
            raise
        _remove(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step where the operating system can."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return int(done) == 0


def _remove(path: Path) -> None:
    """Remove a folder, or a link or file in its place; nothing when it is not there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
