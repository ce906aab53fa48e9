"""Claims about runs that are killed, interrupted or terminated at any moment: nothing is lost, and a rerun works."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.campaign import SIGNALS, Campaign, draw
from tests.faults.commands import COMMANDS, Stage, ended
from tests.faults.moments import in_a_child
from tests.faults.verdict import INDEX, require_recovery, standing


def test_kills_drawn_from_a_seed(stage: Stage) -> None:
    """A slice of the campaign: every command by every signal, with nothing beyond what is allowed."""
    outcomes = Campaign(stage).run(draw(seed=11, kills=len(COMMANDS) * len(SIGNALS)))
    assert outcomes.beyond == []


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
        if missed == 3 or len(days) < 3:
            break
    assert missed == 3, "no kill came between the last day and the index"


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


def test_interrupt_while_the_program_loads(stage: Stage) -> None:
    """Ctrl-C while libraries are loaded is one line and exit code 130; no library swallows it or shows its insides."""
    command = COMMANDS["day"]
    stage.reset(command)
    for after_s in (0.15, 0.3, 0.45):
        words = [sys.executable, "-m", "planner", *command.words]
        process = subprocess.Popen(words, cwd=stage.site, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(after_s)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        if process.returncode == -signal.SIGINT or "<frozen" in told or "site.py" in told:
            continue  # the interpreter itself had not begun with the program
        assert process.returncode == 130, told
        assert told.strip() == "plan: interrupted; nothing more was written"


def test_what_a_live_run_holds_is_left_alone(stage: Stage) -> None:
    """Tidying up takes what dead runs left, and nothing of a run that lives, whatever number its process has."""
    from planner.report.folder import held, replaced

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
