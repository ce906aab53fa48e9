"""The parameters of the searches and of holding; the scenario's `search` and `hold` sections say what each means."""

from __future__ import annotations

from dataclasses import dataclass, field

LEAST_MARGIN_S = 3600
"""A hold of a job with a deadline ends at least this long before the last start that keeps it [s]."""

MARGIN_PART = 10
"""And at least this part, one by this number, of the time that the job asks for."""


@dataclass(frozen=True)
class HoldParams:
    """How it is decided which jobs are held; the scenario's `hold` section says what each number means."""

    every_s: int = 3600
    ahead_s: int = 86400
    strengths: tuple[float, ...] = (1.0, 4.0, 16.0)
    days_back: tuple[int, ...] = (7, 1, 2)
    stay_fraction: float = 0.005
    waiting_fraction: float = 0.02


@dataclass(frozen=True, slots=True)
class Strength:
    """How strongly it was best to hold jobs when that was last compared, and when that was [Unix s].

    An hour of waiting counts for so many times its price; infinite: hold nothing.
    """

    value: float
    decided_unix: int


@dataclass(frozen=True)
class HarvestParams:
    """How HarvestSearch shares its effort, and how much a step changes."""

    tier_share: float = 0.25
    rebuilds: bool = True
    meetings: int = 12
    heat: float = 1e-7
    largest: int = 8
    guests: int = 8


@dataclass(frozen=True)
class DelayParams:
    """How DelaySearch pushes a job."""

    step_s: int = 3600


@dataclass(frozen=True)
class RelaxationParams:
    """How RelaxationSearch cuts a day into parts for its engine."""

    whole_day: int = 120
    part: int = 90
    step_s: float = 1.0


@dataclass(frozen=True)
class SearchParams:
    """The parameters of every method that has some."""

    harvest: HarvestParams = HarvestParams()
    delay: DelayParams = DelayParams()
    relaxation: RelaxationParams = RelaxationParams()
    hold: HoldParams = field(default_factory=HoldParams)
