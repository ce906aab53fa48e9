"""Claims about the line of progress: the best profit so far, and its distance to the bound."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cli.terminal import Progress
from planner.domain.result import Trial


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
