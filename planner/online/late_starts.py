"""Starts beside a shadow of the same scheduler that holds nothing: who starts later for it, and by how much."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.online.replay import Replay


@dataclass(frozen=True)
class LateStarts:
    """How much later some jobs start than in the shadow: their number, and how many later than allowed [s].

    ``mean`` counts jobs that start earlier as such; ``late95`` and ``latest`` are of all jobs, too.
    """

    late_of: int
    later_than_allowed: int
    late_mean_s: float
    late95_s: float
    latest_s: int

    @classmethod
    def of(cls, late_s: Ints, allowed_s: int) -> LateStarts:
        """From how much later each job starts; at least one."""
        return cls(
            len(late_s),
            int(np.sum(late_s > allowed_s)),
            round(float(late_s.mean()), 1),
            round(float(np.quantile(late_s, 0.95)), 1),
            int(late_s.max()),
        )

    def as_dict(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True)
class LateTable:
    """Late starts of all jobs, and of those of each class and account, worst first."""

    all_jobs: LateStarts
    by: dict[str, dict[str, LateStarts]]


def late_starts(
    happened: Replay,
    shadow: Replay,
    allowed_s: int,
    counted: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None,
    groups: dict[str, list[str]] | None = None,
) -> LateTable:
    """Compare starts with those of a shadow on the same jobs.

    ``counted`` says which jobs count, all that start in both unless given; ``groups`` has, by what they are grouped,
    the name of each job's group.
    """
    both = happened.is_started & shadow.is_started
    both = both if counted is None else both & counted
    late_s = happened.start_s - shadow.start_s
    nothing = LateStarts(0, 0, 0.0, 0.0, 0)
    found: dict[str, dict[str, LateStarts]] = {}
    for what, names in (groups or {}).items():
        of = np.array(names, dtype=object)
        told = {str(name): LateStarts.of(late_s[both & (of == name)], allowed_s) for name in np.unique(of[both])}
        found[what] = dict(sorted(told.items(), key=lambda item: -item[1].latest_s))
    return LateTable(LateStarts.of(late_s[both], allowed_s) if both.any() else nothing, found)
