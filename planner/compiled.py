"""The decorator of compiled kernels: numba, with what keeps it quick and true.

Kernels allocate nothing, so numba's counting of references, which would take more than half of their time, is off.
Their machine code is kept between runs in a folder named by the text of all kernels beside them: numba itself would not
notice that a function called by a kept one has changed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function on its first call, or take its machine code from an earlier run."""
    from numba import config, njit

    folder = _cache_folder(Path(function.__code__.co_filename).parent)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder) if folder is not None else before
    try:
        made: Function = njit(cache=folder is not None, nogil=True, _nrt=False)(function)
    finally:
        config.CACHE_DIR = before
    return made


@cache
def _cache_folder(sources: Path) -> Path | None:
    """Where the machine code of the kernels in a folder is kept; None when nothing can be written."""
    text = hashlib.sha256()
    for path in sorted(sources.glob("*.py")):
        text.update(path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "hpc-day-planner" / text.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
