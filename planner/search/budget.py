"""How much of a search's effort is spent: by the clock, or by a number of steps."""

from __future__ import annotations

import time

ROUND_STEPS = 1000
"""Most steps that a chain takes in a round, where steps are counted."""

ROUND_S = 0.2
"""About how long a round takes where the clock decides [s]: short enough to stop in time."""

FIRST_PACE = 1000.0
"""Steps of a chain in a second, as long as no round has been timed."""


class Budget:
    """The effort of a search. Only `count` spends steps; all else asks."""

    def __init__(self, *, time_limit_s: float, iterations: int | None) -> None:
        self._time_limit_s = max(time_limit_s, 1e-9)
        self._iterations = iterations
        self._began = time.monotonic()
        self._steps = 0

    @property
    def spent(self) -> float:
        """The part that is spent, from 0 to 1 or more."""
        if self._iterations is not None:
            return self._steps / max(1, self._iterations)
        return (time.monotonic() - self._began) / self._time_limit_s

    @property
    def is_short_of_steps(self) -> bool:
        """Whether steps are counted and some of them are left."""
        return self._iterations is not None and self.spent < 0.99

    def count(self, steps: int) -> None:
        """Count steps that were taken."""
        self._steps += steps

    def round_steps(self, until: float, pace: float, chains: int) -> int:
        """Steps that each of some chains takes in the next round, on the way to a share of the budget.

        ``pace`` is how many steps a chain takes in a second.
        """
        if self._iterations is not None:
            left = until * self._iterations - self._steps
            return max(0, min(ROUND_STEPS, round(left / chains)))
        return max(1, round(pace * ROUND_S))
