"""Claims about the line of progress: the best so far, and its distance to the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner import compiled
from planner.cli import terminal
from planner.cli.main import run
from planner.cli.terminal import DayBar, Progress, left_words
from planner.domain.result import Trial
from planner.machine.place import place_from
from planner.runs.progress import DayCount, Pace, Work


class Shown:
    """A bar that keeps the last text."""

    text = ""

    def update(self, task: object, *, description: str, **more: Any) -> None:
        self.text = description


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> tuple[Progress, Shown]:
    """A progress with a bar of ours."""
    progress, bar = Progress("plan", quiet=True), Shown()
    progress._bar, progress._task = bar, 0
    return progress, bar


def test_the_gap_is_what_is_missing_of_the_bound(shown: tuple[Progress, Shown]) -> None:
    """150 of at most 200 EUR: a quarter of the bound is missing, not a third of the profit."""
    progress, bar = shown
    progress.bound(200.0)
    progress.trial(Trial("+area", 150.0, 3))
    assert bar.text == "plan: +area, best so far 150.00, within 25 % of the bound"


def test_a_nearly_idle_day_is_told_in_money(shown: tuple[Progress, Shown]) -> None:
    """A loss of 0.86 EUR where 4.53 EUR is possible: 5.39 EUR, not 118.99 % of next to nothing."""
    progress, bar = shown
    progress.bound(4.53)
    progress.trial(Trial("one", -0.86, 3))
    assert bar.text == "plan: one, best so far -0.86, 5.39 below the bound"


def test_the_best_profit_stays_when_a_trial_is_worse(shown: tuple[Progress, Shown]) -> None:
    """After 150 EUR a trial of 120 EUR changes the name alone; a profit at the bound has no gap below 0."""
    progress, bar = shown
    progress.bound(150.0)
    progress.trial(Trial("one", 150.0 + 1e-9, 3))
    progress.trial(Trial("two", 120.0, 3))
    assert bar.text == "plan: two, best so far 150.00, within 0 % of the bound"


def test_without_a_bound_there_is_no_gap(shown: tuple[Progress, Shown]) -> None:
    """Unknown, or not above 0: nothing is said; nor is it after a new title, which counts anew."""
    progress, bar = shown
    progress.trial(Trial("one", -5.0, 0))
    assert bar.text == "plan: one, best so far -5.00"
    progress.bound(0.0)
    progress.trial(Trial("two", -6.0, 0))
    assert bar.text == "plan: two, best so far -5.00"
    progress.bound(9.0)
    progress.rename("next")
    progress.trial(Trial("three", -7.0, 0))
    assert bar.text == "next: three, best so far -7.00"


def test_a_silent_command_says_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, in the first sentence of its help; not where it says something itself, is quiet, or has ended."""
    waited: list[tuple[float, str]] = []

    class Timer:
        def __init__(self, after_s: float, function: object, words: list[str], options: object) -> None:
            waited.append((after_s, words[0]))

        def start(self) -> None:
            waited.append((0, "started"))

        def cancel(self) -> None:
            waited.append((0, "ended"))

    monkeypatch.setattr(terminal.threading, "Timer", Timer)
    monkeypatch.setattr(terminal.sys.stderr, "isatty", lambda: True, raising=False)
    assert run(["show", "metrics"]) == 0
    after_s, text = waited[0]
    assert after_s < 2
    assert text.startswith("plan show: list what there is to choose from")
    assert waited[1:] == [(0, "started"), (0, "ended")]
    waited.clear()
    assert run(["compile", "-q", "--help"]) == 0
    monkeypatch.setattr(terminal.sys.stderr, "isatty", lambda: False, raising=False)
    assert run(["show", "metrics"]) == 0
    assert waited == []


def test_what_is_compiled_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By the first process that misses code, and by none that it begins; never where it is there, or by a quiet run."""

    def first() -> str:
        compiled._looked.clear()
        compiled.tell_if_missing(place_from)
        return capsys.readouterr().err

    monkeypatch.delenv(compiled.COMPILING_TOLD, raising=False)
    monkeypatch.setattr(compiled, "is_missing", lambda kernel: False)
    assert first() == ""
    monkeypatch.setattr(compiled, "is_missing", lambda kernel: True)
    assert first() == f"{compiled.COMPILING_TEXT}\n"
    assert first() == ""
    monkeypatch.delenv(compiled.COMPILING_TOLD)
    assert run(["report", "-q", "--help"]) == 0
    capsys.readouterr()
    assert first() == ""


def test_thirty_days_have_a_time_left_by_a_tenth() -> None:
    """Two runs of 30 days at 4 s each, side by side, and two replays settled in 0.1 s a day.

    When the replays are done and 6 days planned, 54 are left: 108 s for two at a time. Kept days take no time.
    """
    work = Work({"planned": 60, "replayed": 2, "settled": 60}, side=2)
    assert work.pace({}).left_s is None
    quick = {"replayed": [1.0, 1.0], "settled": [0.1] * 60}
    pace = work.pace(quick | {"planned": [4.0] * 6})
    assert (pace.done, pace.total, pace.kept, pace.left_s) == (68, 122, 0, pytest.approx(108.0))
    early = work.pace({"replayed": [1.0], "settled": [0.1] * 10, "planned": [4.0]})
    assert early.done < 0.1 * early.total
    assert early.left_s == pytest.approx((59 * 4.0 + 1.0 + 50 * 0.1) / 2)
    gone_on = work.pace(quick | {"kept": [0.01] * 50, "planned": [4.0] * 5})
    assert (gone_on.kept, gone_on.left_s) == (50, pytest.approx(10.0))
    assert work.pace(quick | {"planned": [4.0] * 60}).left_s == 0


def test_a_bar_of_days_shows_what_is_left() -> None:
    """Days done of all, those that were there already, and the time left in words."""
    bar, shown = DayBar("comparing", quiet=True), Shown()
    bar._bar, bar._task = shown, 0
    bar.pace(Pace(12, 120, 3, 95.0))
    assert shown.text == "comparing: 12 of 120 days, 3 of them there already"
    assert [left_words(each) for each in (None, 0, 3.2, 61, 7200)] == [
        *("", "", "about 5 s left", "about 2 min 0 s left", "about 2 h 0 min left"),
    ]


def test_days_are_counted_through_a_folder(tmp_path: Path) -> None:
    """What several processes count is one sum; nobody who counts minds that the folder is gone."""
    count = DayCount(tmp_path)
    assert list(count.timed([1, 2, 3], lambda day: "planned" if day > 1 else "kept")) == [1, 2, 3]
    (tmp_path / "planned-other-7-8").write_text("2.5\n")
    seen = count.read()
    assert (len(seen["planned"]), len(seen["kept"]), 2.5 in seen["planned"]) == (3, 1, True)
    DayCount(tmp_path / "gone").add("planned", 1.0)
    assert DayCount().read() == {}
