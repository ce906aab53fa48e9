"""Kernels and their parts, and machine code that never outlives the text that it was made from."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from planner import places
from planner.compiled import is_missing, kernel, part
from planner.compiled.code_cache import _SealedFiles


def test_a_change_beside_a_kernel_changes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A callee in a neighbouring file is compiled into its caller, so its text counts too."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    sources = tmp_path / "kernels"
    sources.mkdir()
    (sources / "caller.py").write_text("from callee import f\n")
    (sources / "callee.py").write_text("def f(): return 1\n")
    places.kept_folder.cache_clear()
    before = places.kept_folder(sources)
    (sources / "callee.py").write_text("def f(): return 2\n")
    places.kept_folder.cache_clear()
    after = places.kept_folder(sources)
    assert before is not None
    assert after is not None
    assert before != after


def test_without_a_place_for_it_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that cannot be written costs the compilation again, not the run."""
    (tmp_path / "file").write_text("")
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    places.kept_folder.cache_clear()
    assert places.kept_folder(tmp_path) is None
    places.kept_folder.cache_clear()


@part
def add_up_to(values, limit):
    """Sum of the values below a limit."""
    total = np.int64(0)
    for value in values:
        if value < limit:
            total += value
    return total


@part
def twice(values, limit):
    """A part that calls a part."""
    return 2 * add_up_to(values, limit)


def both(values, limit):
    """A kernel of two parts, one of them called twice."""
    return twice(values, limit) + add_up_to(values, limit)


def test_parts_are_compiled_into_their_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives what its Python text gives; its parts have code to be linked and nothing to be called.

    Its machine code is found again. So with the numba that is installed both are really done the quick way.
    """
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    places.kept_folder.cache_clear()
    made = kernel(both)
    assert is_missing(made)
    assert made(np.arange(10), 5) == 30
    assert not is_missing(made)
    (linked,) = twice.overloads.values()
    assert linked.library.get_pointer_to_function(linked.fndesc.llvm_func_name) == 0
    again = kernel(both)
    assert again(np.arange(10), 5) == 30
    assert sum(again.stats.cache_hits.values()) == 1
    places.kept_folder.cache_clear()


def test_a_kernel_is_missing_where_it_never_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in a fresh place; where nothing can be kept there is nothing to miss."""
    (tmp_path / "file").write_text("")
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    for place, missing in ((tmp_path, True), (tmp_path / "file", False)):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
        places.kept_folder.cache_clear()
        assert is_missing(both) is missing
    places.kept_folder.cache_clear()


def sum_of_squares(values):
    """A kernel by itself; of 0 to 4 it gives 0 + 1 + 4 + 9 + 16 = 30."""
    total = np.int64(0)
    for value in values:
        total += value * value
    return total


def damage(files: list[Path], how: str) -> None:
    """Change kept files in one of the ways in which files are changed."""
    contents = [path.read_bytes() for path in files]
    for path, content, other in zip(files, contents, reversed(contents), strict=True):
        middle = len(content) // 2
        path.write_bytes(
            {
                "empty": b"",
                "cut": content[:middle],
                "garbage": b"\x80\x04garbage" * 200,
                "foreign": other,
                "one bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            }[how]
        )


def test_damaged_code_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept code that is empty, cut, garbled, another's or off by a bit is compiled again and kept again, never run."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    places.kept_folder.cache_clear()

    def hits() -> int:
        made = kernel(sum_of_squares)
        assert made(np.arange(5)) == 30
        return sum(made.stats.cache_hits.values())

    assert is_missing(sum_of_squares)
    assert [hits(), hits()] == [0, 1]
    kernel(both)(np.arange(10), 5)  # whose code is the foreign one
    files = list((tmp_path / "cache").rglob("*.nb*"))
    assert len(files) == 2
    for how in ("empty", "cut", "garbage", "foreign", "one bit"):
        damage(files, how)
        assert is_missing(sum_of_squares)
        assert [hits(), hits()] == [0, 1], how
        kernel(both)(np.arange(10), 5)
    places.kept_folder.cache_clear()


def test_a_process_waits_for_another_that_compiles_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes what the other one leaves, and compiles nothing."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    places.kept_folder.cache_clear()
    kernel(sum_of_squares)(np.arange(5))
    (kept,) = tmp_path.rglob("*.nbc")
    content = kept.read_bytes()
    kept.unlink()
    made = kernel(sum_of_squares)
    with next(tmp_path.rglob("*.lock")).open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        waiting = threading.Thread(target=lambda: made(np.arange(5)))
        waiting.start()
        time.sleep(0.2)
        kept.write_bytes(content)
    waiting.join()
    assert sum(made.stats.cache_hits.values()) == 1
    places.kept_folder.cache_clear()


@pytest.mark.slow
def test_copies_of_the_same_text_share_their_code(tmp_path: Path) -> None:
    """A second copy in another folder loads what the first one compiled."""
    hits = []
    for copy in ("one", "two"):
        (tmp_path / copy).mkdir()
        (tmp_path / copy / "tiny.py").write_text(TINY)
        hits.append(run_tiny(tmp_path / copy, tmp_path / "cache")[3])
    assert hits == [0, 1]


def test_kept_code_is_found_by_the_whole_key(tmp_path: Path) -> None:
    """The name of a file has a digest of the key's text; 1 and "1" have the same, and get nothing of each other."""
    files = _SealedFiles(tmp_path, "name")
    files.save(1, "code of a number")
    assert files.load(1) == "code of a number"
    assert files.load("1") is None
    assert files.load(2) is None
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_costs_the_keeping_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that cannot be kept is compiled all the same."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    places.kept_folder.cache_clear()
    made = kernel(both)
    places.kept_folder.cache_clear()
    monkeypatch.setattr("planner.compiled.code_cache._sealed", full)
    assert made(np.arange(5), 3) == 9
    assert not list(tmp_path.rglob("*.nb*"))


def test_garbage_is_collected_again_whatever_becomes_of_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that cannot be compiled leaves its turn to others, too."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    places.kept_folder.cache_clear()

    def sums(values: Any) -> Any:
        return values.sum() + values.what

    made = kernel(sums)
    with pytest.raises(TypingError):
        made(np.arange(3))
    assert gc.isenabled()
    (lock,) = tmp_path.rglob("*.lock")
    with lock.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    places.kept_folder.cache_clear()


OTHER_NUMBAS = {
    "this one": "",
    "a later one": "numba.__version__ = '99.0.0'",
    "no code library": "del numba.core.codegen.JITCodeLibrary",
    "no compiler class": "del numba.core.compiler.Compiler",
    "no cache class": "del cache.FunctionCache",
    "a cache with another name for its files": """
import inspect
exec(inspect.getsource(cache.Cache).replace("_cache_file", "_files"), vars(cache))
cache.FunctionCache.__bases__ = (cache.Cache,)
""",
    "a cache that is made in another way": "cache.FunctionCache.__init__ = lambda self: None",
    "a cache that fails": "cache.FunctionCache._index_key = None",
    "no such options": """
options = numba.core.cpu.CPUTargetOptions.__bases__[0]
del options._nrt, options.no_cfunc_wrapper
""",
}
LINKS = OTHER_NUMBAS.keys() - {"a later one", "no code library", "no compiler class"}
KEEPS = {"this one", "a later one", "no code library", "no compiler class", "no such options"}
TINY = """
from typing import Any, NamedTuple
from planner.compiled import by_address, is_missing, kernel, part

@part
def thrice(x):
    return 3 * x

@part
def thrice_and_one(x):
    return thrice(x) + 1

@kernel
def both(x):
    return thrice_and_one(x) + thrice(x)

@by_address
class Table(NamedTuple):
    values: Any
    records: Any
    step: int

@part
def last(table):
    return table.values[table.values.shape[0] - 1]

@kernel
def move(table, by):
    before = last(table)
    for place in range(table.values.shape[0]):
        table.values[place] += by * table.step
    table.records[0].count += 1
    return before, last(table), table.records.count[0]
"""
TRY = """
import json, sys, numba, numba.core.ccallback, numpy as np
from numba.core import caching as cache
{change}
import tiny
was_missing = tiny.is_missing(tiny.both)
answer = tiny.both(5)
libraries = [type(code.library).__name__ for code in tiny.thrice.overloads.values()]
records = np.rec.array([(5,)], dtype=[("count", "i8")])
moved = [tiny.move(tiny.Table(np.arange(size), records, 2), 10) for size in (3, 5)]
how = type(tiny.move.signatures[0][0]).__name__
held = sys.getrefcount(records)
print(json.dumps([answer, libraries, was_missing, sum(tiny.both.stats.cache_hits.values()), moved, how, held]))
"""


def run_tiny(folder: Path, cache: Path, change: str = "") -> list[Any]:
    """What a process tells that runs the tiny kernel of a folder, with something changed in numba."""
    surroundings = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[1])]),
        "NUMBA_CACHE_DIR": str(cache),
    }
    script = [sys.executable, "-c", TRY.format(change=change)]
    done = subprocess.run(script, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("other", OTHER_NUMBAS)
def test_a_numba_that_is_built_in_another_way(tmp_path: Path, other: str) -> None:
    """Without what linking or keeping rests on, a kernel of two parts gives 3 * 5 + 1 + 3 * 5 = 31 all the same.

    What is still as we know it is used: this numba links parts and keeps code, so that a second run compiles nothing,
    and hands tables on by address. Their fields are read anew in every call, and nothing of them is kept.
    """
    (tmp_path / "tiny.py").write_text(TINY)

    def run() -> list[Any]:
        return run_tiny(tmp_path, tmp_path / "cache", OTHER_NUMBAS[other])

    libraries = ["PartLibrary" if other in LINKS else "JITCodeLibrary"]
    told = [[[2, 22, 6], [4, 24, 7]], "Address" if other in LINKS else "NamedTuple", 2]
    assert run() == [31, libraries, other != "no cache class", 0, *told]
    if other in KEEPS:
        assert run() == [31, [], False, 1, *told]
    else:
        assert not list((tmp_path / "cache").rglob("*.nb*"))


def test_programs_of_our_own_load_no_linear_algebra() -> None:
    """The kernels load without scipy's; it is there for whoever wants it afterwards, and for everybody by default."""
    script = (
        "import sys; from planner import compiled; {first}; import planner.search.rebuild, planner.online.replay;"
        "import numba.np.arraymath; print('scipy.linalg' in sys.modules); import scipy.linalg.cython_blas"
    )
    for first, is_loaded in (("compiled.load_no_linear_algebra()", "False"), ("0", "True")):
        words = [sys.executable, "-c", script.format(first=first)]
        done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.stderr) == (is_loaded, "")
