"""Kept machine code never outlives the text that it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import compiled


def test_a_change_beside_a_kernel_changes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A callee in a neighbouring file is compiled into its caller, so its text counts too."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    sources = tmp_path / "kernels"
    sources.mkdir()
    (sources / "caller.py").write_text("from callee import f\n")
    (sources / "callee.py").write_text("def f(): return 1\n")
    compiled._cache_folder.cache_clear()
    before = compiled._cache_folder(sources)
    (sources / "callee.py").write_text("def f(): return 2\n")
    compiled._cache_folder.cache_clear()
    after = compiled._cache_folder(sources)
    assert before is not None
    assert after is not None
    assert before != after


def test_without_a_place_for_it_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that cannot be written costs the compilation again, not the run."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    compiled._cache_folder.cache_clear()
    assert compiled._cache_folder(tmp_path) is None
    compiled._cache_folder.cache_clear()
