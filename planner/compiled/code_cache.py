"""Machine code kept between runs, with a seal on every file: damaged code is compiled anew, and never run.

A numba without the classes that this is made of ends the import with ImportError.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import pickle
import stat
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

SEAL = 32
"""Bytes at the end of every file: the SHA-256 of its name, numba's version and all before."""
STALE_S = 3600.0
"""A file that was begun so long ago was never finished [s]."""
PATIENCE_S = 600.0
"""How long a process waits for another one that compiles the same function [s]; then it compiles it, too."""


def is_kept(function: Callable[..., Any], folder: Path) -> bool:
    """Whether there is whole machine code of a function in a folder, for any types of its arguments."""
    return any(_opened(path) is not None for path in folder.glob(f"{_name(function)}.*.nbc"))


class KeptCode(FunctionCache):  # type: ignore[misc]
    """The machine code of one function, in a folder that all copies of the planner with the same text share.

    Whatever goes wrong in a numba that keeps code in another way costs the keeping, and not the run.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        super().__init__(function)
        if not hasattr(self, "_cache_file"):
            raise RuntimeError("this numba keeps machine code in another way")
        self._cache_file = _SealedFiles(folder, _name(function))
        self._turn = _Turn(folder / f"{_name(function)}.lock")

    def load_overload(self, *asked: Any) -> Any:
        """The code for some types of arguments; None when there is none, and it is this process's turn to compile."""
        found = self._loaded(asked)
        if found is None:
            self._turn.take()
            found = self._loaded(asked)
        return found

    def save_overload(self, *made: Any) -> None:
        """Keep code that was compiled."""
        with suppress(Exception):
            super().save_overload(*made)

    def compiled_by(self, compile_now: Callable[[Any], Any], types: Any) -> Any:
        """What compiles or loads the code for some types; then others have their turn.

        Garbage is not collected meanwhile: numba keeps most of the objects that it makes, and looking through them
        takes a tenth of the time.
        """
        is_collecting = gc.isenabled()
        gc.disable()
        try:
            return compile_now(types)
        finally:
            self._turn.give_back()
            if is_collecting:
                gc.enable()

    def _loaded(self, asked: tuple[Any, ...]) -> Any:
        with suppress(Exception):
            return super().load_overload(*asked)
        return None


class _Turn:
    """Whose turn it is to compile a function: one process at a time, so that the next one finds what it left."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: IO[bytes] | None = None

    def take(self) -> None:
        """Wait for others to be done, if it takes no longer than any compilation and locks are to be had here."""
        self.give_back()
        with suppress(OSError):
            self._held = os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b")
            begun = time.monotonic()
            while time.monotonic() - begun < PATIENCE_S:
                try:
                    fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.05)

    def give_back(self) -> None:
        """Let the next process go on; one that dies does so, too."""
        if self._held is not None:
            self._held.close()
            self._held = None


class _SealedFiles:
    """The files of a function, one for each key of numba's: types of arguments, processor and text of the function.

    The key stands in the file as well, since its name has only a digest of it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def load(self, key: Any) -> Any:
        """What was saved under a key; None when there is nothing, or nothing whole."""
        content = _opened(self._path(key))
        if content is None:
            return None
        kept_key, code = pickle.loads(content)
        return code if kept_key == key else None

    def save(self, key: Any, code: Any) -> None:
        """Write a file in one step, and remove those that killed runs began; those of live runs are young."""
        for begun in self._folder.glob("*.tmp.*"):
            if time.time() - begun.stat().st_mtime > STALE_S:
                begun.unlink(missing_ok=True)
        path = self._path(key)
        begun = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex}")
        try:
            with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(_sealed(path.name, dumps((key, code))))
            begun.replace(path)
        finally:
            begun.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._name}.{hashlib.sha256(str(key).encode()).hexdigest()[:16]}.nbc"


def _name(function: Callable[..., Any]) -> str:
    """What the files of a function begin with; Pythons do not read each other's."""
    code = function.__code__
    return f"{Path(code.co_filename).stem}.{code.co_name}-{code.co_firstlineno}.{sys.implementation.cache_tag}"


def _sealed(name: str, content: bytes) -> bytes:
    return content + hashlib.sha256(f"{name} {numba.__version__} ".encode() + content).digest()


def _opened(path: Path) -> bytes | None:
    """The content of a file of ours whose seal holds; None when it is missing, cut short, garbled or another's."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
                return None
            found = stream.read()
    except OSError:
        return None
    content = found[:-SEAL]
    return content if len(found) > SEAL and _sealed(path.name, content) == found else None
