"""A handover: what one day leaves for the next, work still running at midnight and jobs still waiting."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.job import Job
from planner.domain.problem import Running
from planner.domain.site_state import SiteState


@dataclass(frozen=True, slots=True)
class Waiting:
    """A deferred job, and on how many days it was deferred so far."""

    job: Job
    times_deferred: int


@dataclass(frozen=True)
class Handover:
    """What a day hands over; the times of the running work are those of the next day.

    ``since_unix`` is the moment from which jobs may be new to the next day, where the day was planned from a snapshot;
    None: the moment follows from what days know. ``known_ids`` are jobs that are not new, whenever they were submitted.
    ``refused`` are jobs that can never run here and that others wait for: these must go on waiting. ``site`` is what
    the site carries over besides jobs.
    """

    running: tuple[Running, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    since_unix: int | None = None
    known_ids: frozenset[str] = frozenset()
    refused: tuple[Job, ...] = ()
    site: SiteState | None = None

    def __len__(self) -> int:
        return len(self.running) + len(self.waiting)

    @property
    def is_empty(self) -> bool:
        """Whether everything that ever came in is finished or rejected."""
        return not self.running and not self.waiting
