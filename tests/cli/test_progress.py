"""Claims about the line of progress: the best profit so far, and its distance to the bound."""

from __future__ import annotations

from typing import Any

import pytest

from planner import first_run
from planner.cli import terminal
from planner.cli.main import run
from planner.cli.terminal import Progress
from planner.domain.result import Trial
from planner.machine.place import place_from


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
    assert bar.text == "plan: +area, best profit 150.00, within 25 % of the bound"


def test_a_nearly_idle_day_is_told_in_money(shown: tuple[Progress, Shown]) -> None:
    """A loss of 0.86 EUR where 4.53 EUR is possible: 5.39 EUR, not 118.99 % of next to nothing."""
    progress, bar = shown
    progress.bound(4.53)
    progress.trial(Trial("one", -0.86, 3))
    assert bar.text == "plan: one, best profit -0.86, 5.39 below the bound"


def test_the_best_profit_stays_when_a_trial_is_worse(shown: tuple[Progress, Shown]) -> None:
    """After 150 EUR a trial of 120 EUR changes the name alone; a profit at the bound has no gap below 0."""
    progress, bar = shown
    progress.bound(150.0)
    progress.trial(Trial("one", 150.0 + 1e-9, 3))
    progress.trial(Trial("two", 120.0, 3))
    assert bar.text == "plan: two, best profit 150.00, within 0 % of the bound"


def test_without_a_bound_there_is_no_gap(shown: tuple[Progress, Shown]) -> None:
    """Unknown, or not above 0: nothing is said; nor is it after a new title, which counts anew."""
    progress, bar = shown
    progress.trial(Trial("one", -5.0, 0))
    assert bar.text == "plan: one, best profit -5.00"
    progress.bound(0.0)
    progress.trial(Trial("two", -6.0, 0))
    assert bar.text == "plan: two, best profit -5.00"
    progress.bound(9.0)
    progress.rename("next")
    progress.trial(Trial("three", -7.0, 0))
    assert bar.text == "next: three, best profit -7.00"


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
        first_run._looked.clear()
        first_run.tell_if_missing(place_from)
        return capsys.readouterr().err

    monkeypatch.delenv(first_run.TOLD, raising=False)
    monkeypatch.setattr(first_run, "is_missing", lambda kernel: False)
    assert first() == ""
    monkeypatch.setattr(first_run, "is_missing", lambda kernel: True)
    assert first() == f"{first_run.TEXT}\n"
    assert first() == ""
    monkeypatch.delenv(first_run.TOLD)
    assert run(["report", "-q", "--help"]) == 0
    capsys.readouterr()
    assert first() == ""
