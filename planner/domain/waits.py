"""How long jobs waited: mean, 95th percentile, longest, and how many for more than two days."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.limits import DAY_S
from planner.units import rounded


@dataclass(frozen=True)
class Waits:
    """How long jobs waited from when they could first start to their start [s]; None where there was none.

    ``still_waiting`` of them have not started by the end: their waits count until then, though they go on.
    ``over_48_h`` of them waited for more than two days. ``started_mean_s`` is the mean of those that started.
    """

    mean_s: float | None
    p95_s: float | None
    still_waiting: int = 0
    longest_s: float | None = None
    over_48_h: int = 0
    started_mean_s: float | None = None

    @classmethod
    def of(cls, ready_s: Ints, start_s: Ints, end_s: int) -> Waits:
        """The waits of jobs until an end; starts are below 0 for jobs that do not start.

        Whoever could not have started by the end has not begun to wait, and is left out.
        """
        starts = (start_s >= 0) & (start_s < end_s)
        counts = starts | (ready_s < end_s)
        wait_s = np.maximum(np.where(starts, start_s, end_s) - ready_s, 0)[counts]
        if not len(wait_s):
            return cls(None, None)
        still_waiting = int((counts & ~starts).sum())
        return cls(
            rounded(float(wait_s.mean())),
            rounded(float(np.percentile(wait_s, 95))),
            still_waiting,
            rounded(float(wait_s.max())),
            int((wait_s > 2 * DAY_S).sum()),
            rounded(float(wait_s[starts[counts]].mean())) if starts.any() else None,
        )
