"""Claims about runs in bad surroundings: a full disk, folders that cannot be written, two at once, odd environments."""

from __future__ import annotations

import contextlib
import io
import locale
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner import places
from tests.faults.commands import COMMANDS, Stage, ended, state
from tests.faults.moments import Child, begun, in_a_child
from tests.faults.verdict import require_recovery, standing


def require_one_line(code: int, text: str) -> None:
    """Fails unless a command that was refused says so in one line of its own."""
    assert code == 6, text
    told = [line for line in text.splitlines() if line.startswith("plan: ")]
    assert len(told) == 1, text
    assert len(told[0]) <= 300
    assert "Traceback" not in text


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(("name", "most_bytes"), [*((name, 300) for name in COMMANDS), ("day", 0), ("run", 6000)])
def test_no_room_for_a_file(stage: Stage, name: str, most_bytes: int) -> None:
    """Files that cannot grow, as on a full disk, are exit code 6, and the old result stands."""
    command = COMMANDS[name]
    stage.reset(command)
    ending = in_a_child(stage.site, command.words, first=lambda: _limit(most_bytes))
    if ending.code != 0:  # small results may fit
        require_one_line(ending.code, ending.text)
    assert standing(stage, command) in ("new", "old", "some new")
    require_recovery(stage, command)


def _limit(most_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


@contextlib.contextmanager
def small_disk(place: Path, options: str) -> Iterator[None]:
    """A disk of a few kilobytes at a place; skips where this process may not make one."""
    place.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    try:
        made = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount on this system")
    if made.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_full_disk(stage: Stage) -> None:
    """A disk that fills up on the way is exit code 6; the days before stand, and with room the run goes on."""
    command = COMMANDS["run"]
    stage.reset(command)
    with small_disk(stage.site / "reports", "size=300k"):
        ending = in_a_child(stage.site, command.words)
        require_one_line(ending.code, ending.text)
        assert "No space left on device" in ending.text
        assert standing(stage, command) in ("old", "some new")
        subprocess.run(["mount", "-o", "remount,size=20m", str(stage.site / "reports")], check=True)
        require_recovery(stage, command)


@pytest.mark.parametrize("name", ["day", "run", "compare", "report", "simulate"])
def test_read_only(stage: Stage, name: str) -> None:
    """Folders that cannot be written are exit code 6 and stay as they are."""
    command = COMMANDS[name]
    stage.reset(command)
    place = stage.site / ("simulated" if name == "simulate" else "reports")
    before = state(stage.site)
    with small_disk(place.parent / "disk", "size=20m"):
        disk = place.parent / "disk"
        words = tuple("disk/x" if word == "simulated" else word for word in command.words)
        words += () if name == "simulate" else ("--out", "disk")
        if place.is_dir():
            subprocess.run(["cp", "-a", f"{place}/.", str(disk)], check=True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ending = in_a_child(stage.site, words)
        require_one_line(ending.code, ending.text)
        assert "Read-only file system" in ending.text
    assert state(stage.site) == before


@pytest.mark.parametrize("name", ["day", "run", "compare", "simulate"])
def test_a_file_in_the_way(stage: Stage, name: str) -> None:
    """A file where the folder of results should be is exit code 6, and is left alone."""
    command = COMMANDS[name]
    stage.reset(COMMANDS["run"])
    in_the_way = stage.site / ("simulated" if name == "simulate" else "reports")
    in_the_way.write_text("mine")
    ending = in_a_child(stage.site, command.words)
    require_one_line(ending.code, ending.text)
    assert in_the_way.read_text() == "mine"


@pytest.mark.parametrize("name", ["run", "compare", "report"])
def test_two_at_once(stage: Stage, name: str) -> None:
    """Of two equal runs at once one is done, and the other is done too or told to wait; nothing is mixed up."""
    command = COMMANDS[name]
    stage.reset(command)
    children: list[Child] = [begun(stage.site, command.words) for _ in range(2)]
    endings = [child.ending() for child in children]
    codes = sorted(ending.code for ending in endings)
    assert codes in ([0, 0], [0, 6]), [ending.text for ending in endings]
    for ending in endings:
        assert "Traceback" not in ending.text
        assert ending.code == 0 or "another run (process" in ending.text
    assert standing(stage, command) == "new"
    require_recovery(stage, command)


SURROUNDINGS = {
    "no home": {"HOME": None, "XDG_CACHE_HOME": None},
    "plain locale": {"LANG": "C", "LC_ALL": "C"},
    "Turkish": {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
    "unknown locale": {"LANG": "xx_YY.nothing", "LC_ALL": "xx_YY.nothing"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "Kathmandu": {"TZ": "Asia/Kathmandu"},
    "no such zone": {"TZ": ":Mars/Olympus\x01"},
}


@pytest.mark.parametrize("where", SURROUNDINGS)
def test_odd_surroundings(stage: Stage, where: str) -> None:
    """Home, locale and time zone of whoever calls change no byte of a result."""
    command = COMMANDS["day"]
    stage.reset(command)
    ending = in_a_child(stage.site, command.words, first=lambda: _surround(SURROUNDINGS[where]))
    assert ending.code == 0, ending.text
    assert standing(stage, command) == "new"


def _surround(settings: dict[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    time.tzset()
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "")
    places.kept_folder.cache_clear()
    if "PYTHONIOENCODING" in settings:
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="ascii", line_buffering=True)


def test_a_stream_that_cannot_show_a_sign(stage: Stage) -> None:
    """A terminal without a sign gets its number, not a traceback; a real process in the oddest surroundings."""
    command = COMMANDS["run"]
    stage.reset(command)
    surroundings = {name: value for each in SURROUNDINGS.values() for name, value in each.items() if value is not None}
    surroundings |= {"LC_ALL": "C", "TZ": "Asia/Kathmandu", "NUMBA_CACHE_DIR": str(Path.home() / ".cache")}
    keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "NUMBA_CACHE_DIR") if name in os.environ}
    words = [sys.executable, "-m", "planner", "--day", "2024-06-03", "-m", "est", "--bound-time", "0"]
    words += ["--out", "résultats"]
    done = subprocess.run(words, cwd=stage.site, env={**surroundings, **keep}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"r\\xe9sultats/site/2024-06-03" in done.stdout
    [folder] = stage.site.glob("*/site/2024-06-03")
    assert ended(stage.site, ("audit", str(folder)))[0] == 0


PLAN = (sys.executable, "-P", "-m", "planner")


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_closed_stream(stage: Stage, number: int) -> None:
    """No result gets the number of a stream that was closed, and with it what is said there."""
    stage.reset(COMMANDS["run"])
    words = [*PLAN, "--day", "2024-06-03", "-m", "est", "--bound-time", "0"]
    found = subprocess.run(words, cwd=stage.site, preexec_fn=lambda: os.close(number), capture_output=True, check=False)
    assert found.returncode == 0, found.stderr
    assert ended(stage.site, ("audit", "reports/site/2024-06-03"))[0] == 0


@pytest.mark.parametrize("words", [("show", "methods"), ("--help",)])
def test_nowhere_to_print(words: tuple[str, ...]) -> None:
    """A full disk behind the standard output is one line; behind that of errors the exit code is left to say it."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PLAN, *words], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 6
        assert (
            done.stderr == b"plan: standard output: No space left on device; check the path, its rights and its disk\n"
        )
        for broken, variables, code in (("check", {}, 2), ("show", {"PLAN_UMASK": "x"}, 2)):
            done = subprocess.run([*PLAN, broken, "--odd"], stderr=full, env=os.environ | variables, check=False)
            assert done.returncode == code


def test_a_reader_of_errors_that_has_gone() -> None:
    """The exit code is that of the command."""
    reader, writer = os.pipe()
    os.close(reader)
    assert subprocess.run([*PLAN, "check", "--odd"], stderr=writer, check=False).returncode == 2
    os.close(writer)


def test_nobody_knows_where_home_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a home, machine code is not kept, and that is all."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    places.kept_folder.cache_clear()
    assert places.kept_folder(tmp_path) is None
    places.kept_folder.cache_clear()
