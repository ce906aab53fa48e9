"""The books' part of the summary of a day that has been booked."""

from __future__ import annotations

from dataclasses import dataclass


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
