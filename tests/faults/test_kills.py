"""Claims about runs that are killed, interrupted or terminated at any moment: nothing is lost, and a rerun works."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import planner
from tests.faults.campaign import SIGNALS, Campaign, draw
from tests.faults.commands import COMMANDS, Stage, ended, hidden
from tests.faults.moments import WRITERS, in_a_child
from tests.faults.verdict import INDEX, require_recovery, standing
from tests.fuzz.command_tree import commands


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("name", COMMANDS)
def test_kills_drawn_from_a_seed(stage: Stage, name: str, is_whole: bool) -> None:
    """A slice of the campaign: every command that writes by every signal, with nothing beyond what is allowed."""
    kills = [kill for kill in draw(seed=11, kills=len(COMMANDS) * len(SIGNALS)) if kill.command == name]
    outcomes = Campaign(stage).run(iter(kills if is_whole else kills[:1]))
    assert outcomes.beyond == []


READ_ONLY = {"check", "audit", "show", "why", "power errors", "compile"}
"""`compile` writes machine code alone, as all commands do where it is missing."""


def test_every_writing_command_is_disturbed() -> None:
    """A new command that writes needs a place in the campaign."""
    known = {name for each in COMMANDS.values() for name in commands() if " ".join(each.words).startswith(f"{name} ")}
    left = commands().keys() - known - READ_ONLY - {""}
    assert {name for name in left if not name.startswith("study ")} == set()
    assert any(name.startswith("study ") for name in known)  # all studies write in one way


def test_files_whose_lines_are_counted_are_there() -> None:
    """A file that is moved would no longer be killed at its lines, and nothing would say so."""
    assert [name for name in WRITERS if not (Path(planner.__file__).parent / name).is_file()] == []


@pytest.mark.slow
def test_killed_before_the_index(stage: Stage) -> None:
    """A run that is killed between a day and the index leaves an index without it; the rerun brings it in."""
    command = COMMANDS["run"]
    stage.reset(command)
    steps = in_a_child(stage.site, command.words).steps
    missed = 0
    for step in range(steps, 0, -1):
        stage.reset(command)
        in_a_child(stage.site, command.words, by=signal.SIGKILL, at_step=step)
        days = [path.name for path in (stage.site / "reports" / "site").glob("2*")]
        index = stage.site / INDEX
        shown = index.read_text(encoding="utf-8") if index.exists() else ""
        if len(days) == 3 and any(day not in shown for day in days):
            require_recovery(stage, command)
            missed += 1
        if missed == 2 or len(days) < 3:
            break
    assert missed == 2, "no kill came between the last day and the index"


def test_a_booking_killed_before_the_index(stage: Stage) -> None:
    """The day is booked, the index is old and a new one begun: booking again, which finds nothing to do, mends it."""
    command = COMMANDS["book"]
    stage.reset(command)
    steps = in_a_child(stage.site, command.words).steps
    seen = set()
    for step in range(steps, 0, -1):
        stage.reset(command)
        before = (stage.site / INDEX).read_bytes()
        in_a_child(stage.site, command.words, by=signal.SIGKILL, at_step=step)
        if standing(stage, command) == "old":
            break
        if (stage.site / INDEX).read_bytes() == before:
            seen.add(bool(list((stage.site / "reports").glob(".index.html.new-*"))))
            require_recovery(stage, command)
        if seen == {True, False}:
            break
    assert seen == {True, False}, "no kill came between the day and the index"


def test_interrupted_as_a_lock_is_given_back(stage: Stage) -> None:
    """Whatever line the signal comes at, a run that has written its result leaves no lock beside it."""
    command = COMMANDS["init"]
    stage.reset(command)
    steps = in_a_child(stage.site, command.words, lines=True).steps
    interrupted = 0
    for step in range(steps, 0, -1):
        stage.reset(command)
        ending = in_a_child(stage.site, command.words, by=signal.SIGINT, at_step=step, lines=True)
        if not (stage.site / "made" / "new").exists():
            break
        interrupted += ending.code == 130
        assert hidden(stage.site) == [], f"at line {step} of {steps}"
    assert interrupted > 5


@pytest.mark.slow
def test_a_study_appears_in_one_step(stage: Stage) -> None:
    """Tables, document and page of a study are all there, or none of them."""
    command = COMMANDS["study"]
    stage.reset(command)
    steps = in_a_child(stage.site, command.words).steps
    seen = set()
    for step in range(steps, 0, -3):
        stage.reset(command)
        in_a_child(stage.site, command.words, by=signal.SIGKILL, at_step=step)
        seen.add(frozenset(path.suffix for path in (stage.site / "made/studies/predictions").glob("*.*")))
        if frozenset() in seen:
            break
    assert seen == {frozenset(), frozenset({".csv", ".md", ".html"})}


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_end_in_good_order(stage: Stage, by: signal.Signals, code: int) -> None:
    """A run that is asked to end tidies up itself, says so in one line, and has the exit code that shells expect."""
    command = COMMANDS["day"]
    stage.reset(command)
    ending = in_a_child(stage.site, command.words, by=by, at_step=20)
    assert ending.code == code, ending.text
    assert ending.text.strip() == f"plan: {'interrupted' if by == signal.SIGINT else 'terminated'}; " + (
        "nothing more was written"
    )
    assert standing(stage, command) == "old"
    assert not list((stage.site / "reports").rglob(".*"))


SWALLOWED = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore one
import planner.cli.main as cli
from planner.__main__ import main

def load_a_library(arguments):
    try:
        os.kill(os.getpid(), signal.{name})
    except BaseException:
        print("a library shows its insides", file=sys.stderr)
    return 0

cli.run = load_a_library
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signal_while_the_program_loads(name: str, code: int) -> None:
    """While libraries are loaded a signal is one line and its exit code; no library can swallow it."""
    words = [sys.executable, "-c", SWALLOWED.format(name=name)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == code
    word = "interrupted" if name == "SIGINT" else "terminated"
    assert done.stderr == f"plan: {word}; nothing more was written\n"


STUMBLED = """
import os, signal
import planner.cli.main as cli
from planner.__main__ import main

def work(arguments):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(10**9): pass
    finally:
        raise RuntimeError("cannot release un-acquired lock")

work.__globals__["__name__"] = "planner.cli.day"
cli.run = work
main()
"""


def test_a_library_that_stumbles_over_the_end() -> None:
    """An error that comes of being told to end is the end."""
    done = subprocess.run([sys.executable, "-c", STUMBLED], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (143, "plan: terminated; nothing more was written\n")


DEEP = """
import hashlib, os, signal, threading
import planner.cli.main as cli
from planner.__main__ import main

def work(arguments):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # minutes in which this thread runs no Python

cli.run = work
main()
"""


def test_told_to_end_deep_in_compiled_code() -> None:
    """A run that does not come back to Python for a long time ends all the same, with its line and its exit code."""
    done = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 143
    assert done.stderr == "plan: terminated; nothing more was written\n"


def test_what_a_live_run_holds_is_left_alone(stage: Stage) -> None:
    """Tidying up takes what dead runs left, and nothing of a run that lives, whatever number its process has."""
    from planner.store.folder import held, replaced

    command = COMMANDS["run"]
    stage.reset(command)
    folder = stage.site / "reports" / "site"
    live, dead = folder / "2024-07-01", folder / ".2024-07-02.new-1"
    with held(live), replaced(live) as fresh:
        (fresh / "one").write_text("mine")
        dead.mkdir()
        (folder / ".2024-07-02.lock").write_text("1")
        assert ended(stage.site, command.words)[0] == 0
        assert (fresh / "one").read_text() == "mine"
        assert not dead.exists()
        assert not (folder / ".2024-07-02.lock").exists()
        assert (folder / ".2024-07-01.lock").exists()
    assert (live / "one").read_text() == "mine"


def test_leftovers_beside_the_index_are_removed(stage: Stage) -> None:
    """A begun index of a killed run goes with the next run, even one that finds all its days done."""
    command = COMMANDS["run"]
    stage.reset(command)
    assert ended(stage.site, command.words)[0] == 0
    left = Path(stage.site / "reports" / ".index.html.new-4711")
    left.write_text("<html")
    (stage.site / INDEX).unlink()
    require_recovery(stage, command)
    assert not left.exists()
