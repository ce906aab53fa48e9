"""A handover: what one day leaves for the next, work still running at midnight and jobs still waiting."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.job import Job
from planner.domain.problem import Running


@dataclass(frozen=True, slots=True)
class Waiting:
    """A deferred job, and on how many days it was deferred so far."""

    job: Job
    times_deferred: int


@dataclass(frozen=True)
class Handover:
    """What a day hands over; the times of the running work are those of the next day."""

    running: tuple[Running, ...] = ()
    waiting: tuple[Waiting, ...] = ()

    def __len__(self) -> int:
        return len(self.running) + len(self.waiting)

    @property
    def is_empty(self) -> bool:
        """Whether everything that ever came in is finished or rejected."""
        return not self.running and not self.waiting
