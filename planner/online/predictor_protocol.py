"""What a replay needs from a predictor of runtimes."""

from __future__ import annotations

from typing import Protocol


class Predictor(Protocol):
    """Something that estimates runtimes from completed jobs; jobs are places in the trace."""

    def predict(self, job: int, now: int) -> int:
        """Estimate the runtime of a job that waits now [s]."""

    def complete(self, job: int, now: int) -> None:
        """Learn from a job that has just completed."""

    def begin(self, job: int, now: int) -> None:
        """Note that a job has started."""

    def stop(self, job: int, now: int) -> None:
        """Note that a run has ended before it was done; it teaches nothing about runtimes."""
