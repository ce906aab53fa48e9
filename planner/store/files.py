"""Single files put in their place in one step, and what killed runs left of such steps."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

LEFT_OVER = re.compile(r"\.(.+)\.(?:lock|new-\d+|old-\d+)")
"""Names of locks and of what is begun or moved aside, with the name that they are about."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait for other runs that put files into a folder; the folder is its own lock, so that nothing is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def put(target: Path, content: bytes) -> None:
    """Write a file in one step; the caller is `alone_in` its folder, or the folder is its own.

    What killed runs had begun of it is removed: whoever begins a file is alone.
    """
    fresh = target.parent / f".{target.name}.new-{os.getpid()}"
    for begun in target.parent.iterdir():
        match = LEFT_OVER.fullmatch(begun.name)
        if match and match[1] == target.name and begun.is_file():
            begun.unlink(missing_ok=True)
    try:
        fresh.write_bytes(content)
        flush(fresh)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_all(folder: Path) -> None:
    """Wait until a folder is on the disk with all that it holds."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            flush_all(path)
        else:
            flush(path)
    flush(folder)


def remove(path: Path) -> None:
    """Remove a folder, or a link or file in its place; nothing when it is not there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def linked(source: Path, target: Path) -> None:
    """Fill a new folder with all that another holds, as further names of the same files where the disk can.

    What killed runs left there is left out.
    """
    for path in source.iterdir():
        place = target / path.name
        if LEFT_OVER.fullmatch(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            place.mkdir()
            linked(path, place)
        else:
            link(path, place)


def link(source: Path, target: Path) -> None:
    """Give a file a further name, or copy it where the disk cannot."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
