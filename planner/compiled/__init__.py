"""The decorators of compiled code: numba, with what keeps it quick and true; and what a first run says before it.

A `kernel` is called from Python; a `part` is called by kernels and by other parts alone. Neither allocates anything, so
numba's counting of references, which would take more than half of their time, is off. The machine code of kernels is
kept between runs in a folder named by the text of all files beside them, of `planner.machine` and of this folder: numba
itself would not notice that a function called by a kept one has changed.

Much of this rests on the inside of numba. With a numba that is built in another way functions are compiled as numba
does it by itself, which takes longer and gives the same answers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from planner.places import away, kept_folder

Function = TypeVar("Function", bound=Callable[..., Any])
Table = TypeVar("Table")

_with_linear_algebra = True


def kernel(function: Function) -> Function:
    """Compile a function on its first call, or take its machine code from an earlier run."""
    made: Function = _njit()(**_known(_nrt=False, no_cfunc_wrapper=True))(function)
    folder = _folder(function)
    if folder is not None:
        _keep(made, function, folder)
    return made


def part(function: Function) -> Function:
    """Compile a function into the kernels that call it; Python must not."""
    made: Function = _njit()(**_of_a_part())(function)
    return made


def by_address(made: type[Table]) -> type[Table]:
    """Hand named tuples of a class on to compiled code as addresses, where that is known to work: it compiles sooner.

    Compiled code can read their fields by name, and no more than that.
    """
    _njit()
    with suppress(ImportError):
        from planner.compiled.numba_inside import hand_on_by_address

        hand_on_by_address(made)
    return made


def kernel_of(made: Function) -> Function:
    """A kernel that does what a part does, for Python to call."""
    written: Function = getattr(made, "py_func", made)  # with NUMBA_DISABLE_JIT a part is what is written
    return kernel(written)


def is_missing(function: Callable[..., Any]) -> bool:
    """Whether machine code of a kernel could be kept from an earlier run, and is not."""
    folder = _folder(function)
    try:
        from planner.compiled.code_cache import is_kept
    except ImportError:  # with this numba nothing is kept
        return False
    return folder is not None and not is_kept(function, folder)


COMPILING_TOLD = "PLAN_COMPILING_TOLD"
"""The variable that is set once this was said, or is not to be said: processes that are begun do not repeat it."""
COMPILING_TEXT = "compiling machine code for this computer, once: about a minute (`plan compile` does it ahead)"

_looked: set[str] = set()


def tell_if_missing(function: Callable[..., Any]) -> None:
    """Say once that code is compiled, if that of a kernel could be kept from an earlier run and is not.

    So nobody wonders why nothing happens.
    """
    name = function.__name__
    if name in _looked:
        return
    _looked.add(name)
    if os.environ.get(COMPILING_TOLD) is None and is_missing(function):
        os.environ[COMPILING_TOLD] = "1"
        with suppress(OSError, ValueError, AttributeError):  # there may be nowhere to say it
            print(COMPILING_TEXT, file=sys.stderr, flush=True)


def load_no_linear_algebra() -> None:
    """Let numba load without scipy's linear algebra, which takes a tenth of a second: no kernel of ours multiplies
    matrices.

    For programs of our own alone: kernels of others in the same process could not multiply them any more.
    """
    global _with_linear_algebra  # noqa: PLW0603
    _with_linear_algebra = False


@cache
def _njit() -> Callable[..., Any]:
    """numba's decorator, without settings of the current folder, which numba reads again before each compilation."""
    with away():
        from numba import config, njit

        if not _with_linear_algebra:
            with _missing("scipy.linalg.cython_blas"), suppress(ImportError):
                import numba.np.arraymath  # noqa: F401
    config._config_fname = os.devnull
    return njit  # type: ignore[no-any-return]


@contextmanager
def _missing(module: str) -> Iterator[None]:
    """Have no such module for a moment, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


@cache
def _of_a_part() -> dict[str, Any]:
    """How parts are compiled: as code to be linked, where that is known to work, else as functions of their own."""
    plain = _known(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    try:
        from planner.compiled.numba_inside import PartCompiler
    except ImportError:
        return plain
    return plain | {"pipeline_class": PartCompiler}


def _known(**options: bool) -> dict[str, Any]:
    """The options that this numba has, and ``nogil``, which all have; the others only save time."""
    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        return {"nogil": True}
    return {"nogil": True} | {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


def _keep(made: Any, function: Callable[..., Any], folder: Path) -> None:
    """Have the machine code of a kernel kept in a folder, if this numba does that and the folder is still ours."""
    from numba import config

    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        from planner.compiled.code_cache import KeptCode

        made._cache = kept = KeptCode(function, folder)
        made.compile = partial(kept.compiled_by, made.compile)
    except (ImportError, AttributeError, TypeError, RuntimeError, OSError):
        return  # it is compiled in every run
    finally:
        config.CACHE_DIR = before


def _folder(function: Callable[..., Any]) -> Path | None:
    """Where the machine code of a kernel is kept: by the text of all that it may be made of."""
    here = Path(__file__).parent
    return kept_folder(Path(function.__code__.co_filename).parent, here.parent / "machine", here)
