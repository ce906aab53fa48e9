"""The stopping rule of the clock: searches ask it after each step whether to stop."""

from __future__ import annotations

import time
from collections.abc import Callable


class MaxRuntime:
    """Stop when a number of seconds has passed since the rule was made."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._start = clock()

    def __call__(self, best_eur: float) -> bool:
        return self._clock() - self._start >= self._seconds
