"""The summary of a day: totals, counts, how its plan was found, what its books say; ``summary.json`` holds the same."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.ledger import Sums, Totals
from planner.domain.problem import ExecuteRule
from planner.domain.result import Hold, Promises, Status, Trial
from planner.domain.waits import Waits
from planner.units import is_share, rounded


@dataclass(frozen=True)
class Elsewhere:
    """Jobs that ran on nodes that the scenario does not have: how many, and what they used within the day."""

    jobs: int = 0
    cpu_hours: float = 0.0


@dataclass(frozen=True)
class Measured:
    """Jobs whose measured energy stands in for the estimate.

    ``kwh`` is what they drew on the day, ``estimated_kwh`` what the estimate would have been.
    """

    jobs: int = 0
    kwh: float = 0.0
    estimated_kwh: float = 0.0


@dataclass(frozen=True)
class PlannedFigures:
    """What a day was planned to be, by the plan in one of its versions."""

    version: str
    profit_eur: float
    revenue_eur: float
    energy_cost_eur: float
    core_hours: float
    kwh: float
    started: int


@dataclass(frozen=True)
class Booked:
    """What the summary of a booked day says of its books.

    ``cpu_hours`` are CPUs times hours within the day, as the source counts them; ``planned`` is None for a day that was
    never planned.
    """

    source: str
    jobs: int
    cpu_hours: float
    measured: Measured
    elsewhere: Elsewhere
    planned: PlannedFigures | None = None


FORMAT = 1
"""Number of the form of ``summary.json``, ``run.json`` and ``compare.json``.

A key that is new does not change it; a key that goes, or means something else, does.
"""


@dataclass(frozen=True)
class DayTotals(Sums):
    """The sums of a day and what follows from them, each rounded by itself."""

    it_kwh: float
    energy_cost_eur: float
    profit_eur: float
    pue: float

    @classmethod
    def of(cls, totals: Totals) -> DayTotals:
        """The totals of a ledger, rounded."""
        return cls(**{name: rounded(value) for name, value in totals.as_dict().items()})


@dataclass(frozen=True)
class JobCounts:
    """What became of jobs.

    ``known`` + ``carried_in`` = ``finished`` + ``running`` + ``deferred`` + ``rejected`` + ``withdrawn``.
    """

    known: int
    started: int
    carried_in: int
    finished: int
    running: int
    deferred: int
    rejected: int
    missed_deadlines: int
    withdrawn: int = 0


@dataclass(frozen=True)
class Baseline:
    """What a rule of common schedulers would earn on the same day, with every job as long as it asked."""

    name: str
    profit_eur: float
    revenue_eur: float
    energy_cost_eur: float
    started: int


@dataclass(frozen=True)
class EasyDay:
    """The same day under EASY: with the same jobs from the same beginning, as long as they really were.

    ``kwh`` is the energy of IT and cooling. What the day itself saved is positive where it did better than EASY.
    """

    profit_eur: float
    revenue_eur: float
    energy_cost_eur: float
    kwh: float
    carbon_kg: float
    started: int
    deferred: int
    waits: Waits
    saved_eur: float
    saved_energy_cost_eur: float
    saved_kwh: float
    saved_carbon_kg: float


@dataclass(frozen=True)
class AheadTotals:
    """Money of the time in which all known jobs end, what waiting counts there, and the waits."""

    profit_eur: float
    revenue_eur: float
    energy_cost_eur: float
    waiting_eur: float
    worth_eur: float
    waits: Waits


@dataclass(frozen=True)
class AheadSummary:
    """The time on which a day was decided: until all known jobs have run, here and under EASY.

    ``later`` is what a euro after the day counts, ``is_set`` whether the site said so; ``load`` and ``backlog_days``
    are why. ``left`` jobs do not start by its end. ``bound_eur`` is what no schedule of it can earn, and
    ``worth_bound_eur`` what none can be worth; ``gap_fraction`` is how far the plan is from that.
    ``pulled_forward_eur`` is the part of what the day earns more than under EASY that later days lack.
    ``worst_account`` is the one whose jobs wait longest against EASY on average. ``waiting_dearer`` is how many times
    the default an hour of waiting counts. ``core_hours_after`` is the work that is left for after its end, less what
    EASY leaves: what it draws and pays is in no figure here.
    """

    days: int
    until: str
    regime: str
    later: float
    is_set: bool
    load: float | None
    backlog_days: float
    waiting_eur_per_h: float
    left: int
    plan: AheadTotals
    easy: AheadTotals
    pulled_forward_eur: float
    more_core_hours: float
    worst_account: str | None = None
    worst_more_s: float | None = None
    bound_eur: float | None = None
    worth_bound_eur: float | None = None
    gap_fraction: float | None = None
    waiting_dearer: float = 1.0
    core_hours_after: float = 0.0

    @property
    def after_words(self) -> str:
        """Work that the figures leave out, where it is not as much as under EASY."""
        if abs(self.core_hours_after) < 1:
            return ""
        more = "more" if self.core_hours_after > 0 else "fewer"
        hours = f"{abs(self.core_hours_after):,.0f} core-hours {more} than under EASY"
        return f"{hours} run after this time, in no figure here"

    def how_near(self, money: Callable[[float], str]) -> str:
        """How near the worth of the plan is to what none can exceed; empty where that is not known."""
        if self.gap_fraction is None or self.worth_bound_eur is None:
            return ""
        if is_share(self.gap_fraction):
            return f"within {100 * self.gap_fraction:.2f} % of what none can exceed"
        return f"at most {money(self.worth_bound_eur - self.plan.worth_eur)} below what none can exceed"

    @property
    def dearer_words(self) -> str:
        """Why an hour of waiting counts more than the default, if it does."""
        if self.waiting_dearer <= 1:
            return ""
        return f", {self.waiting_dearer:.0f} times the default, as jobs would wait longer than under EASY"


@dataclass(frozen=True)
class DayFigures:
    """The part of a summary that follows from the plan alone, and so can be worked out again."""

    totals: DayTotals
    peak_kw: float
    site_cost_eur: float
    utilisation_fraction: float
    jobs: JobCounts
    segments: int
    last_end_s: int


@dataclass(frozen=True, kw_only=True)
class DaySummary:
    """The results of a day, and how its plan was found.

    The fields are the keys of ``summary.json``, in its order; docs/outputs.md says what each means. ``bound_eur`` and
    ``gap_fraction`` go with ``planned_profit_eur``; ``real_bound_eur`` and ``real_gap_fraction`` with the profit of the
    totals where jobs ended at their real runtimes, else they are None. ``easy`` is the same day under EASY, and
    ``baselines`` what rules would earn; None where they were not asked for. ``moment`` is that of the snapshot which
    the day was planned from, None where it was planned from what the day before left; ``conflicts`` counts what in the
    snapshot is not as the last plan said. ``promises`` is None where the site promises nothing. ``booked`` is there for
    a day that is not a plan but what really happened. ``holds`` are the jobs that are held for cheaper hours, or were.
    ``ahead`` is the time on which the day was decided; None where only the profit of the day counted.
    """

    format: int = FORMAT
    scenario: str
    day: dt.date
    zone: str
    currency: str
    method: str
    status: Status
    solve_s: float
    found_s: float | None = None
    best_trial: str
    cut_short: bool
    leaves_room: bool
    stands_in_for: str | None = None
    bound_eur: float | None
    gap_fraction: float | None
    real_bound_eur: float | None = None
    real_gap_fraction: float | None = None
    execute: ExecuteRule
    planned_profit_eur: float
    totals: DayTotals
    peak_kw: float
    site_cost_eur: float
    utilisation_fraction: float
    jobs: JobCounts
    segments: int
    last_end_s: int
    carbon_limit_kg: float | None = None
    carbon_runs_kg: float | None = None
    waits: Waits | None = None
    easy: EasyDay | None = None
    ahead: AheadSummary | None = None
    trials: tuple[Trial, ...]
    inputs: tuple[Intake, ...]
    moment: str | None = None
    conflicts: int = 0
    promises: Promises | None = None
    baselines: tuple[Baseline, ...] | None = None
    booked: Booked | None = None
    holds: tuple[Hold, ...] = ()

    @property
    def horizon(self) -> Horizon:
        """The day in its zone."""
        return Horizon(self.day, self.zone)

    @property
    def has_plan(self) -> bool:
        """Whether the method found a plan; where it did not no job starts, and only what ran goes on."""
        return self.status != "nothing"

    @property
    def is_carried_out(self) -> bool:
        """Whether the scheduler itself started the jobs, with their real runtimes: then there is no plan without."""
        return self.method == "hold" and self.execute == "actual" and self.booked is None

    @property
    def profit_bound_eur(self) -> float | None:
        """The limit on the profit of the totals: of real runtimes where jobs ended at those."""
        return self.real_bound_eur if self.execute == "actual" else self.bound_eur

    @property
    def profit_gap_fraction(self) -> float | None:
        """How far the profit of the totals is from its limit."""
        return self.real_gap_fraction if self.execute == "actual" else self.gap_fraction

    @property
    def best_baseline(self) -> Baseline | None:
        """The rule that would earn the most; None when none was tried."""
        return max(self.baselines or (), key=lambda base: (base.profit_eur, base.name), default=None)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data: what ``summary.json`` holds."""
        plain = vars(self) | {
            "day": self.day.isoformat(),
            "totals": asdict(self.totals),
            "jobs": asdict(self.jobs),
            "waits": None if self.waits is None else asdict(self.waits),
            "easy": None if self.easy is None else asdict(self.easy),
            "ahead": None if self.ahead is None else asdict(self.ahead),
            "trials": [asdict(trial) for trial in self.trials],
            "inputs": [intake.as_dict() for intake in self.inputs],
            "promises": None if self.promises is None else asdict(self.promises),
        }
        baselines, booked, holds = plain.pop("baselines"), plain.pop("booked"), plain.pop("holds")
        plain |= {"holds": [asdict(each) for each in holds]} if holds else {}
        plain |= {} if baselines is None else {"baselines": [asdict(base) for base in baselines]}
        return plain if booked is None else plain | {"booked": asdict(booked)}
