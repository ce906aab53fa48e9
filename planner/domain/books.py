"""What really ran on a day: runs of jobs with their real times, nodes and energy, and the books' part of a summary."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.job import Job


@dataclass(frozen=True, slots=True)
class Run:
    """A job that ran: from its real start to its real end, whatever day that is on.

    ``end_unix`` None: it still runs. ``nodes`` has one node per unit. ``cpus`` are those that the source counts, which
    may be other than the cores that the job asked for. ``energy_j`` is what its nodes drew while it ran, None where
    nothing was measured.
    """

    job: Job
    start_unix: int
    end_unix: int | None
    nodes: tuple[int, ...]
    cpus: float
    energy_j: float | None = None
    cancelled: bool = False

    def seconds_within(self, start_unix: int, end_unix: int) -> int:
        """How long it ran within a stretch of time [s]."""
        until = end_unix if self.end_unix is None else min(end_unix, self.end_unix)
        return max(0, until - max(start_unix, self.start_unix))


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
