"""A snapshot: what is true at one moment, whatever the last plan believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.domain.job import Job

NodeState = Literal["down", "drain", "maintenance"]


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that has started: since when, on which nodes, and its real end if it has ended.

    ``nodes`` has one node per unit, in the order of the job's groups. ``end_unix`` is None while it runs. ``cancelled``
    says that it was ended by somebody before it was done.
    """

    job: Job
    start_unix: int
    nodes: tuple[int, ...]
    end_unix: int | None = None
    cancelled: bool = False

    @property
    def is_running(self) -> bool:
        """Whether it runs at the moment of the snapshot."""
        return self.end_unix is None


@dataclass(frozen=True, slots=True)
class Outage:
    """A node on which nothing may start from a moment until another; ``end_unix`` None: until further notice.

    ``down`` and ``maintenance``: nothing runs there. ``drain``: what runs there may end, nothing new starts.
    """

    node: int
    start_unix: int
    end_unix: int | None
    state: NodeState


@dataclass(frozen=True)
class Snapshot:
    """What is true at one moment. Membership decides: a job in it exists, a job not in it is gone.

    Attributes
    ----------
    moment_unix
        The moment.
    pending
        Jobs that wait, in order of submission.
    started
        Jobs that run, and jobs that have ended since the start of the day.
    withdrawn
        Jobs that were cancelled before they started.
    outages
        Nodes that cannot be used, and when.
    source
        Where it was read from, for messages.
    """

    moment_unix: int
    pending: tuple[Job, ...] = ()
    started: tuple[StartedJob, ...] = ()
    withdrawn: tuple[Job, ...] = ()
    outages: tuple[Outage, ...] = ()
    source: str = "snapshot"

    @property
    def running(self) -> tuple[StartedJob, ...]:
        """The jobs that run at the moment."""
        return tuple(each for each in self.started if each.is_running)
