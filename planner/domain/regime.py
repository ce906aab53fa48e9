"""What is said of the time on which a day was decided: the regime of its queue, and how its plan does against EASY."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.plan import Plan

TOMORROW_COUNTS = 0.5
"""What the money of tomorrow counts at least: its room is as scarce as today's, but who will come in is not known."""


@dataclass(frozen=True)
class Regime:
    """What a euro of later days counts, from 0 to 1, and why; one of tomorrow counts half at least.

    ``load`` is the work that came in on the days before, as a part of what the machine can do; None where that is not
    known. ``backlog_days`` is the work that waits and runs, in days of the whole machine. ``is_set``: the site said so.
    """

    later: float
    load: float | None
    backlog_days: float
    is_set: bool = False

    @property
    def name(self) -> str:
        """The regime in words."""
        if self.later >= 1:
            return "the queue empties"
        return "overloaded" if self.later <= 0 else "nearly full"


def tomorrow_counts(later: float) -> float:
    """What a euro of tomorrow counts where one of later days counts ``later``."""
    return max(later, TOMORROW_COUNTS)


def counts_words(later: float) -> str:
    """What a euro of tomorrow and of later days counts, in words."""
    if later >= TOMORROW_COUNTS:
        return f"after today counts {later:.2f}"
    return f"of tomorrow counts {TOMORROW_COUNTS:.2f}, of later days {later:.2f}"


@dataclass(frozen=True)
class TimeAhead:
    """The regime, what an hour of waiting counts [EUR], EASY's plan of the outlook, and how many days it has.

    ``dearer`` says how many times the default that hour counts.
    """

    regime: Regime
    waiting_eur_per_h: float
    easy: Plan
    days: int
    dearer: float = 1.0
