"""Kernels and their parts, and machine code that never outlives the text that it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner import places
from planner.compiled import is_missing, kernel, part


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
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
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
    """The kernel gives what its Python text gives; its parts have code to be linked and nothing to be called."""
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
    files = list((tmp_path / "cache").rglob("*.nb*"))
    assert len(files) == 2
    for how in ("empty", "cut", "garbage", "foreign", "one bit"):
        damage(files, how)
        assert is_missing(sum_of_squares)
        assert [hits(), hits()] == [0, 1], how
    damage([path for path in files if path.suffix == ".nbc"], "one bit")
    assert [hits(), hits()] == [0, 1]
    places.kept_folder.cache_clear()


def test_a_full_disk_costs_the_keeping_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that cannot be kept is compiled all the same."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    places.kept_folder.cache_clear()
    made = kernel(both)
    places.kept_folder.cache_clear()
    monkeypatch.setattr("planner.compiled.kept._SealedFiles._save_index", full)
    assert made(np.arange(5), 3) == 9
    assert not list(tmp_path.rglob("*.nb*"))
