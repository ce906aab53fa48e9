"""The parameters of the searches; the scenario's `search` section says what each number means."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.domain.hold_params import HoldParams


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
