"""What a site carries from day to day besides its jobs: the peak of the month, and what its battery holds."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from planner.domain.ledger import Ledger
from planner.domain.problem import Problem


@dataclass(frozen=True)
class SiteState:
    """The state at the end of a day; ``battery_kwh`` is None where there is no battery."""

    day: dt.date
    peak_kw: float
    battery_kwh: float | None = None

    @classmethod
    def after(cls, problem: Problem, ledger: Ledger) -> SiteState:
        """What is left when a day ends as its ledger has it."""
        rates = problem.rates
        held = None if rates.battery is None else float(ledger.segments.battery_kwh[-1])
        return cls(problem.horizon.day, max(rates.demand_so_far_kw, ledger.peak_kw), held)

    def is_of_month(self, day: dt.date) -> bool:
        """Whether a day is in the same month."""
        return (self.day.year, self.day.month) == (day.year, day.month)
