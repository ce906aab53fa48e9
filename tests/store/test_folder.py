"""Claims about the folder of a run: replaced in one step or not at all, by one run at a time."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.errors import OutputError
from planner.store import folder as subject
from planner.store.folder import clear_left_overs, held, put, replaced
from tests.days import names

KILLED = """
import os, signal, sys
from pathlib import Path
from planner.store import folder

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

target, moment = Path(sys.argv[1]), sys.argv[2]
if moment == "aside":
    folder._exchange = lambda one, other: False
    rename, calls = Path.rename, []
    def counted(self, other):
        calls.append(other)
        return kill() if len(calls) == 2 else rename(self, other)
    Path.rename = counted
if moment == "flushing":
    folder.flush_all = kill
if moment == "moved":
    folder.remove = kill
with folder.held(target):
    if moment == "held":
        kill()
    with folder.replaced(target) as fresh:
        if moment == "empty":
            kill()
        (fresh / "one").write_text("new")
        if moment == "half":
            kill()
        (fresh / "two").write_text("new")
"""


def write(target: Path, text: str) -> None:
    with held(target), replaced(target) as fresh:
        (fresh / "one").write_text(text)
        (fresh / "two").write_text(text)


def contents(target: Path) -> list[str]:
    return [(target / name).read_text() for name in ("one", "two")]


@pytest.mark.parametrize("moment", ["held", "empty", "half", "flushing", "moved"])
@pytest.mark.parametrize("earlier", [True, False])
def test_killed(tmp_path: Path, moment: str, earlier: bool) -> None:
    """Killed at any point, the target is the whole old result or the whole new one; the next run tidies up."""
    target = tmp_path / "reports" / "day"
    if earlier:
        write(target, "old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(target), moment], check=False, timeout=60)
    assert done.returncode == -9
    if moment == "moved":
        assert contents(target) == ["new", "new"]
    elif earlier:
        assert contents(target) == ["old", "old"]
    else:
        assert not target.exists()
    with held(target):
        left = [name for name in names(target.parent) if ".new-" in name or ".old-" in name]
        assert left == []
    write(target, "next")
    assert contents(target) == ["next", "next"]
    assert names(target.parent) == ["day"]


def test_killed_between_two_renames(tmp_path: Path) -> None:
    """Where folders cannot be exchanged, a kill between the two renames loses nothing: the next run puts it back."""
    target = tmp_path / "day"
    write(target, "old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(target), "aside"], check=False, timeout=60)
    assert done.returncode == -9
    assert not target.exists()
    with held(target):
        assert contents(target) == ["old", "old"]
    assert names(tmp_path) == ["day"]


def test_without_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the operating system cannot exchange two names, the result is replaced all the same."""
    target = tmp_path / "day"
    write(target, "old")
    monkeypatch.setattr(subject, "_exchange", lambda one, other: False)
    write(target, "new")
    assert contents(target) == ["new", "new"]
    assert names(tmp_path) == ["day"]


def test_exchange_of_relative_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are taken from where the run stands; otherwise every folder would go the longer way round."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "is").write_text(name)
    if not subject._exchange(tmp_path / "one", tmp_path / "two"):
        pytest.skip("this system cannot exchange two names")
    assert (tmp_path / "one" / "is").read_text() == "two"
    monkeypatch.chdir(tmp_path)
    assert subject._exchange(Path("one"), Path("two"))
    assert (tmp_path / "one" / "is").read_text() == "one"


def test_error_inside(tmp_path: Path) -> None:
    """An error while writing, of any kind, leaves the old result and nothing beside it."""
    target = tmp_path / "day"
    write(target, "old")

    def fail(error: BaseException) -> None:
        with held(target), replaced(target) as fresh:
            (fresh / "one").write_text("new")
            raise error

    with pytest.raises(OutputError, match="No space left on device; the earlier result stands"):
        fail(OSError(28, "No space left on device"))
    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt())
    assert contents(target) == ["old", "old"]
    assert names(tmp_path) == ["day"]


def test_held_once(tmp_path: Path) -> None:
    """A held folder cannot be held again until it is let go, and the message names the process."""
    target = tmp_path / "made" / "day"
    with held(target):
        with pytest.raises(OutputError, match=rf"another run \(process {os.getpid()}\) is planning"), held(target):
            pass
        # The refused run must not have taken the lock with it.
        with pytest.raises(OutputError, match="another run"), held(target):
            pass
    with held(target):
        pass
    assert names(tmp_path) == []


def test_lock_of_a_dead_run(tmp_path: Path) -> None:
    """A lock file that a killed run left is no lock."""
    (tmp_path / ".day.lock").write_text("12345")
    write(tmp_path / "day", "new")
    assert names(tmp_path) == ["day"]


def test_linked_target(tmp_path: Path) -> None:
    """A target that is a link is replaced by a folder; what it pointed to is left alone."""
    write(tmp_path / "elsewhere", "old")
    (tmp_path / "day").symlink_to("elsewhere")
    write(tmp_path / "day", "new")
    assert contents(tmp_path / "day") == ["new", "new"]
    assert contents(tmp_path / "elsewhere") == ["old", "old"]
    assert names(tmp_path) == ["day", "elsewhere"]


def test_left_overs_of_other_days(tmp_path: Path) -> None:
    """Whoever writes a day removes what killed runs left of the days beside it, and gives back what was moved aside."""
    (tmp_path / ".yesterday.lock").write_text("12345")
    (tmp_path / ".yesterday.new-12345").mkdir()
    (tmp_path / ".older.old-12345").mkdir()
    (tmp_path / ".older.old-12345" / "one").write_text("old")
    with held(tmp_path / "tomorrow"):
        (tmp_path / ".tomorrow.new-1").mkdir()
        write(tmp_path / "day", "new")
        assert names(tmp_path) == [".tomorrow.lock", ".tomorrow.new-1", "day", "older"]
    assert (tmp_path / "older" / "one").read_text() == "old"


def test_renewed_keeps_the_rest(tmp_path: Path) -> None:
    """A renewed folder has its other files as before; an error leaves all of them, with the bytes that they had."""
    write(tmp_path / "day", "old")
    (tmp_path / "day" / "below").mkdir()
    (tmp_path / "day" / "below" / "three").write_text("old")
    (tmp_path / "day" / ".mine").write_text("hidden")
    (tmp_path / "day" / ".one.new-7").write_text("begun")

    def fail() -> None:
        with subject.renewed(tmp_path / "day") as fresh:
            put(fresh / "one", b"new")
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputError):
        fail()
    assert contents(tmp_path / "day") == ["old", "old"]
    with subject.renewed(tmp_path / "day") as fresh:
        put(fresh / "one", b"new")
    assert contents(tmp_path / "day") == ["new", "old"]
    assert (tmp_path / "day" / "below" / "three").read_text() == "old"
    assert names(tmp_path / "day") == [".mine", "below", "one", "two"]
    assert names(tmp_path) == ["day"]


def test_filled_leaves_folders_of_the_user_in_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that somebody stands in, or that holds folders, gets its files one by one; others are exchanged."""
    mine, plain = tmp_path / "mine", tmp_path / "plain"
    for folder in (mine / "below", plain):
        folder.mkdir(parents=True)
    with subject.filled(mine) as place:
        assert place == mine
    with subject.filled(plain) as place:
        assert place != plain
        put(place / "one", b"new")
    assert names(plain) == ["one"]
    (tmp_path / ".mine.lock").write_text("of another program")
    (tmp_path / ".mine.new-1").write_text("likewise")
    with subject.filled(tmp_path / "third") as place:
        put(place / "one", b"new")
    assert names(tmp_path) == [".mine.lock", ".mine.new-1", "mine", "plain", "third"]
    monkeypatch.chdir(plain)
    with subject.filled(Path()) as place:
        assert place == plain


# Whose lock it is: the file at the path counts, not one that was removed in the meantime.

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
