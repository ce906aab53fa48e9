"""Machine code kept between runs, with a seal on every file: damaged code is compiled anew, and never run."""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

SEAL = 32
"""Bytes at the end of every file: the SHA-256 of its name, numba's version and all before."""
STALE_S = 3600.0
"""A file that was begun so long ago was never finished [s]."""


def is_intact(path: Path) -> bool:
    """Whether a kept file is what some run of this numba wrote under this name."""
    return _opened(path) is not None


def _sealed(name: str, content: bytes) -> bytes:
    return content + hashlib.sha256(f"{name} {numba.__version__} ".encode() + content).digest()


def _opened(path: Path) -> bytes | None:
    """The content of a file whose seal holds; None when it is missing, cut short, garbled or another's."""
    try:
        found = path.read_bytes()
    except OSError:
        return None
    content = found[:-SEAL]
    return content if len(found) > SEAL and _sealed(path.name, content) == found else None


class _SealedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """numba's index and data files of a function, with seals. What cannot be written is not kept, and that is all."""

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):
            self._remove_stale()
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        content = _opened(Path(self._index_path))
        if content is None:
            return {}
        stamp, overloads = pickle.loads(content)
        return dict(overloads) if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(_sealed(self._index_name, self._dump((self._source_stamp, overloads))))

    def _load_data(self, name: str) -> Any:
        content = _opened(Path(self._data_path(name)))
        if content is None:
            raise FileNotFoundError(name)
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_sealed(name, self._dump(data)))

    def _remove_stale(self) -> None:
        """Remove files that killed runs began; those of live runs are young."""
        for begun in Path(self._cache_path).glob("*.tmp.*"):
            if time.time() - begun.stat().st_mtime > STALE_S:
                begun.unlink(missing_ok=True)


class KeptCode(FunctionCache):  # type: ignore[misc]
    """The machine code of one function, in the folder that numba is set to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _SealedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
