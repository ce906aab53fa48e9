"""Claims about whose lock it is: the file at the path counts, not one that was removed in the meantime."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.store import folder as subject
from planner.store.folder import clear_left_overs, held

NOW = fcntl.LOCK_EX | fcntl.LOCK_NB


def before_the_first_lock(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen between the moment at which a lock file is opened and the one at which it is locked."""
    real, calls = fcntl.flock, [happens]

    def flock(handle: int, how: int) -> None:
        if calls:
            calls.pop()()
        real(handle, how)

    monkeypatch.setattr(subject.fcntl, "flock", flock)


def test_a_lock_is_that_of_the_file_at_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run before lets go and removes its file, and a new one takes its place: that one is locked in the end."""
    lock = tmp_path / ".day.lock"

    def exchanged() -> None:
        lock.unlink()
        lock.touch()

    before_the_first_lock(monkeypatch, exchanged)
    with held(tmp_path / "day"), lock.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_is_gone_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run before removes its file: a new one is made, and locked."""
    lock = tmp_path / ".day.lock"
    before_the_first_lock(monkeypatch, lock.unlink)
    with held(tmp_path / "day"), lock.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, NOW)


def test_tidying_up_leaves_a_run_alone_that_took_the_lock_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead run's file is opened; before it is locked, a live run has its own file there and writes a folder."""
    lock, begun = tmp_path / ".day.lock", tmp_path / ".day.new-1"
    lock.touch()
    begun.mkdir()

    def taken_anew() -> None:
        lock.unlink()
        lock.touch()

    before_the_first_lock(monkeypatch, taken_anew)
    clear_left_overs(tmp_path)
    assert begun.is_dir()
    assert lock.exists()
