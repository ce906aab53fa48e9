"""The decorators of compiled code: numba, with what keeps it quick and true.

A `kernel` is called from Python; a `part` is called by kernels and by other parts alone. Neither allocates anything, so
numba's counting of references, which would take more than half of their time, is off. The machine code of kernels is
kept between runs in a folder named by the text of all files beside them, of `planner.machine` and of this folder: numba
itself would not notice that a function called by a kept one has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from planner.places import kept_folder

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function on its first call, or take its machine code from an earlier run."""
    from numba import config, njit

    from planner.compiled.kept import KeptCode

    made: Function = njit(nogil=True, _nrt=False, no_cfunc_wrapper=True)(function)
    folder = _folder(function)
    if folder is None:
        return made
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        made._cache = KeptCode(function)  # type: ignore[attr-defined]
    except (RuntimeError, OSError):  # the folder is no longer ours to write to
        return made
    finally:
        config.CACHE_DIR = before
    return made


def part(function: Function) -> Function:
    """Compile a function into the kernels that call it; Python must not."""
    from numba import njit

    from planner.compiled.linking import PartCompiler

    made: Function = njit(
        nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=PartCompiler
    )(function)
    return made


def kernel_of(made: Function) -> Function:
    """A kernel that does what a part does, for Python to call."""
    written: Function = made.py_func  # type: ignore[attr-defined]
    return kernel(written)


def is_missing(function: Callable[..., Any]) -> bool:
    """Whether machine code of a kernel could be kept from an earlier run, and is not."""
    from planner.compiled.kept import is_intact

    source, folder = Path(function.__code__.co_filename), _folder(function)
    if folder is None:
        return False
    return not any(is_intact(path) for path in folder.rglob(f"{source.stem}.{function.__name__}-*.nbi"))


def _folder(function: Callable[..., Any]) -> Path | None:
    """Where the machine code of a kernel is kept: by the text of all that it may be made of."""
    here = Path(__file__).parent
    return kept_folder(Path(function.__code__.co_filename).parent, here.parent / "machine", here)
