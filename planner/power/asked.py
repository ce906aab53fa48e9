"""What is known of a job before it runs, as far as its power may depend on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.domain.cluster import CORES
from planner.domain.job import UnitGroup


@dataclass(frozen=True, slots=True)
class Asked:
    """A job's request; texts are empty where the source does not say. ``classes`` are as those of a `Job`."""

    job_id: str
    units: tuple[UnitGroup, ...]
    requested_s: int = 0
    user: str = ""
    account: str = ""
    name: str = ""
    partition: str = ""
    classes: tuple[str, ...] = ()
    exclusive: bool = False

    @property
    def cores(self) -> float:
        """Cores of the whole job."""
        return sum(group.count * group.amount(CORES) for group in self.units)

    @property
    def unit_count(self) -> int:
        """Number of units of the job."""
        return sum(group.count for group in self.units)


PowerModel = Callable[[Asked], float]
"""From what a job asked for to its mean power while it runs [W]."""
