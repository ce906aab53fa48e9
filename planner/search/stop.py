"""Stopping rules: small callables that a search asks after each step whether to stop."""

from __future__ import annotations

import time
from collections.abc import Callable

Stop = Callable[[float], bool]
"""Asked with the best profit so far [EUR]; true means stop."""


class MaxRuntime:
    """Stop when a number of seconds has passed since the rule was made."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._start = clock()

    def __call__(self, best_eur: float) -> bool:
        return self._clock() - self._start >= self._seconds


class MaxIterations:
    """Stop after a number of steps."""

    def __init__(self, iterations: int) -> None:
        self._left = iterations

    def __call__(self, best_eur: float) -> bool:
        self._left -= 1
        return self._left < 0


class FirstOf:
    """Stop as soon as one of several rules says so; all are asked every time."""

    def __init__(self, *rules: Stop) -> None:
        self._rules = rules

    def __call__(self, best_eur: float) -> bool:
        answers = [rule(best_eur) for rule in self._rules]
        return any(answers)


def never(best_eur: float) -> bool:
    """Go on to the end."""
    return False
