"""Files and folders put in their place in one step, and what killed runs left of such steps."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from planner.errors import OutputError
from planner.text_files import csv_text, encoded

LEFT_OVER = re.compile(r"\.(.+)\.(?:lock|new-\d+|old-\d+)")
"""Names of locks and of what is begun or moved aside, with the name that they are about."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait for other runs that put files into a folder; the folder is its own lock, so that nothing is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            raise _unlockable(folder, error) from error
        yield
    finally:
        os.close(handle)


PRIVATE = 0o600
"""The mode of what the planner keeps for itself: journals, learned powers, what Slurm said."""


def put(target: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file in one step; the caller is `alone_in` its folder, or the folder is its own.

    What killed runs had begun of it is removed: whoever begins a file is alone. The umask takes from the mode. OSError
    where a device, a pipe or a socket stands: taking its place would harm others, as with /dev/null.
    """
    if target.exists() and not target.is_dir() and not target.is_file():
        raise OSError(errno.EINVAL, "is a device or a pipe; give a file")
    fresh = target.parent / f".{target.name}.new-{os.getpid()}"
    for begun in target.parent.iterdir():
        match = LEFT_OVER.fullmatch(begun.name)
        if match and match[1] == target.name and begun.is_file():
            begun.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            stream.write(content)
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


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ATTEMPTS = 8
_PAUSE_S = 0.05
"""Who finds a lock taken tries again for a moment: the holder may only be tidying up."""

PATIENCE_S = 60.0
"""How long to wait for another run that only writes a few files [s]."""


@contextlib.contextmanager
def held(target: Path, wait_s: float = 0.0, *, tidy: bool = True) -> Iterator[None]:
    """Hold a target folder for this run; OutputError when another run holds it or it cannot be written.

    Afterwards the lock is gone again, and so are the folders made for it that nothing was written to. ``wait_s`` is how
    long to wait for another run; ``tidy``: the folder around it is one of results, where dead runs may
    have left things of other targets.
    """
    lock = _lock_of(target)
    try:
        in_the_way = target.exists() and not target.is_dir()
        missing = [folder for folder in target.parents if not folder.exists()]
    except OSError as error:
        raise OutputError(_cannot(target, error)) from error
    if in_the_way:
        raise OutputError(f"cannot write {target}: a file is in the way; remove it or choose another folder with --out")
    handle = -1
    try:
        handle = _locked(lock, target, time.monotonic() + wait_s)
        _locks[handle] = lock
        try:
            _tidy(target)
        except OSError as error:
            raise OutputError(_cannot(target, error)) from error
        if tidy:
            clear_left_overs(target.parent)
        yield
    finally:
        if handle >= 0:
            _give_back(handle, lock)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


_locks: dict[int, Path] = {}
"""Locks that this process holds, by their open handles."""


def _give_back(handle: int, lock: Path) -> None:
    """Remove a lock while it is still held: whoever waits for its file finds that it is no longer the one there."""
    if _is_at(handle, lock):
        lock.unlink(missing_ok=True)
    _locks.pop(handle, None)
    os.close(handle)


def give_back_all() -> None:
    """Remove the locks that this process still holds: a signal may have come as one was to be given back."""
    for handle, lock in list(_locks.items()):
        with contextlib.suppress(OSError):
            _give_back(handle, lock)


@contextlib.contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """A new empty folder that becomes the target when the block ends well, and vanishes when it does not."""
    fresh = target.parent / f".{target.name}.new-{os.getpid()}"
    try:
        fresh.mkdir()
        yield fresh
        flush_all(fresh)
        _move(fresh, target)
    except OSError as error:
        stands = "; the earlier result stands" if target.exists() else ""
        raise OutputError(f"cannot write {target}: {error.strerror or error}{stands}") from error
    finally:
        remove(fresh)


@contextlib.contextmanager
def renewed(target: Path) -> Iterator[Path]:
    """The same with all that the target holds already: files to write beside others, all of them in one step.

    Files are other names of those in the target; put new ones in their place, never write into them.
    """
    with replaced(target) as fresh:
        if target.is_dir():
            linked(target, fresh)
        yield fresh


@contextlib.contextmanager
def filled(target: Path) -> Iterator[Path]:
    """Where to put files so that they appear in a folder of the user's choice, all in one step where that can be.

    It can where the folder is new or holds nothing but files. A folder with folders of its own, one that somebody
    stands in, or one whose parent is not ours to write to is left in its place, and every file appears by itself.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100, a link stays a link
    if _can_be_replaced(target):
        with held(target, PATIENCE_S, tidy=False), renewed(target) as fresh:
            yield fresh
    else:
        yield target


def _can_be_replaced(target: Path) -> bool:
    try:
        if not target.exists() and not target.is_symlink():
            return True
        if (
            not target.is_dir()
            or target.is_symlink()
            or target.is_mount()
            or target in (Path.cwd(), *Path.cwd().parents)
        ):
            return False
        return os.access(target.parent, os.W_OK) and not any(path.is_dir() for path in target.iterdir())
    except OSError:  # writing there will report it
        return False


def clear_left_overs(folder: Path) -> None:
    """Remove what killed runs left in a folder of results; never anything that a live run holds."""
    try:
        names = {match[1] for path in folder.iterdir() if (match := LEFT_OVER.fullmatch(path.name))}
    except OSError:  # not there, or not to be read: writing there will report it
        return
    for name in sorted(names):
        target = folder / name
        lock = _lock_of(target)
        with contextlib.suppress(OSError, OutputError):
            handle = _opened_lock(lock)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(handle, lock):
                    _tidy(target)
                    lock.unlink(missing_ok=True)
            finally:
                os.close(handle)


def _lock_of(target: Path) -> Path:
    return target.parent / f".{target.name}.lock"


def _locked(lock: Path, target: Path, until: float) -> int:
    """An open handle that holds the lock file at its path."""
    attempt = 0
    while True:
        attempt += 1
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            handle = _opened_lock(lock)
        except OSError as error:
            raise OutputError(_cannot(lock.parent, error)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, lock):
                with contextlib.suppress(OSError):  # on a full disk, the lock holds without its owner's number
                    os.ftruncate(handle, 0)
                    os.pwrite(handle, str(os.getpid()).encode(), 0)
                return handle
            os.close(handle)
        except BlockingIOError as error:
            owner = os.pread(handle, 64, 0).decode(errors="replace").strip() or "unknown"
            os.close(handle)
            if attempt >= _ATTEMPTS and time.monotonic() >= until:
                problem = f"another run (process {owner}) is planning {target}; wait for it to end"
                raise OutputError(problem) from error
            time.sleep(_PAUSE_S)
        except OSError as error:
            lock.unlink(missing_ok=True)
            os.close(handle)
            raise _unlockable(target, error) from error


def _opened_lock(lock: Path) -> int:
    """An open handle of a lock file, made if it is not there; OutputError when something else is in its place.

    What it says is read by people alone, so that one with a further name elsewhere is none of ours.
    """
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _no_lock(lock) from error
        raise
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(handle)
        raise _no_lock(lock)
    return handle


def _unlockable(path: Path, error: OSError) -> OutputError:
    remedy = "its disk must have locks (flock): mount it with them, or choose another folder with --out"
    return OutputError(f"cannot lock {path}: {error.strerror}; {remedy}")


def _no_lock(lock: Path) -> OutputError:
    return OutputError(f"{lock} is a link or no plain file, and stands where a lock should; look at it and remove it")


def _cannot(path: Path, error: OSError) -> str:
    return f"cannot write {path}: {error.strerror or error}; choose another folder with --out"


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _tidy(target: Path) -> None:
    """Remove what killed runs left of a target that we hold, after putting back a result that one had moved aside."""
    for aside in sorted(target.parent.glob(f".{_plain(target.name)}.old-*")):
        if target.exists():
            remove(aside)
        else:
            aside.rename(target)
    for fresh in target.parent.glob(f".{_plain(target.name)}.new-*"):
        if fresh.is_dir():  # files are those of `put`, under another lock
            remove(fresh)


def _plain(name: str) -> str:
    """A name as a pattern that only it fits."""
    return re.sub(r"([*?[])", r"[\1]", name)


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
        remove(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step where the operating system can."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return int(done) == 0


def write_rows(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Write the lines of a table, all with the columns of any."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_csv(path, columns, ([row.get(name, "") for name in columns] for row in rows))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table in one step."""
    write_text(path, csv_text([columns, *rows]))


def write_text(path: Path, text: str) -> None:
    """Write a text in one step."""
    write_file(path, encoded(text))


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file in one step, in a folder that is made if need be; the umask takes from the mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            put(path, content, mode)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
