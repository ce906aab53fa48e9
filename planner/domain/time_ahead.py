"""What is said of the time on which a day was decided: the regime of its queue, and how its plan does against EASY."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.plan import Plan


@dataclass(frozen=True)
class Regime:
    """What a euro that is earned after the day counts, from 0 to 1, and why.

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


@dataclass(frozen=True)
class TimeAhead:
    """The regime, what an hour of waiting counts [EUR], EASY's plan of the outlook, and how many days it has."""

    regime: Regime
    waiting_eur_per_h: float
    easy: Plan
    days: int
