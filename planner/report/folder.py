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


@contextlib.contextmanager
def held(target: Path) -> Iterator[None]:
    """Hold a target folder for this run; OutputError when another run holds it or it cannot be written."""
    lock = target.parent / f".{target.name}.lock"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OutputError(
            f"cannot write {target.parent}: {error.strerror}; choose another folder with --out"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(handle, 64, 0).decode(errors="replace").strip() or "unknown"
            raise OutputError(f"another run (process {owner}) is writing {target}; wait for it to end") from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        for left_over in target.parent.glob(f".{target.name}.new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        yield
    finally:
        os.close(handle)


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
        raise OutputError(f"cannot write {target}: {error.strerror or error}; the earlier result stands") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _move(fresh: Path, target: Path) -> None:
    """Put a folder in the place of another in one step; the old one, if any, ends at the new one's first name."""
    if not target.exists():
        fresh.rename(target)
        return
    if not _exchange(fresh, target):
        # Without an exchange in the operating system the target is missing for the moment between two renames.
        old = target.parent / f".{target.name}.new-old-{os.getpid()}"
        target.rename(old)
        fresh.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step where the operating system can."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return int(done) == 0


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
