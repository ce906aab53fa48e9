"""A replay second by second, with Python between the steps: for estimates or rounds that the kernels do not make."""

from __future__ import annotations

from collections.abc import Callable

from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.state import State, widened
from planner.online.stretches import SECONDS_AT_A_TIME, OnProgress

Schedule = Callable[[State, int], None]
"""Runs the scheduling rounds that are due at a second."""


class SteppedReplay:
    """A replay under way; what is derived from it may do more when a second opens, a job arrives, or a round is due."""

    def __init__(
        self, state: State, *, schedule: Schedule = steps.schedule, on_progress: OnProgress | None = None
    ) -> None:
        self.state = state
        self._schedule = schedule
        self._on_progress = on_progress
        self._every_event = bool(state.clock.every_event)

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""
        self.state.clock.until = moment_s
        seconds, count = 0, self.state.jobs.shape[0]
        while (now := int(steps.next_second(self.state))) != NEVER:
            self.replay_second(now)
            seconds += 1
            if self._on_progress is not None and seconds % SECONDS_AT_A_TIME == 0:
                self._on_progress(int(self.state.clock.finished), count)
        if self._on_progress is not None:
            self._on_progress(int(self.state.clock.finished), count)

    def replay_second(self, now: int) -> None:
        """The arrivals and completions of a second, with a round after each or after all of them."""
        needed = int(steps.entries_needed(self.state, now))
        if needed > self.state.times.shape[1]:
            self.state = widened(self.state, needed)
        self.open(now)
        events = 0
        if self._every_event and self.state.clock.scan:
            self.run_rounds(now)
            events += 1
        while steps.is_arriving(self.state, now):
            self.arrive(now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        while steps.is_ending(self.state, now):
            steps.take_completion(self.state, now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        if not self._every_event or events == 0:
            self.run_rounds(now)

    def open(self, now: int) -> None:
        """Begin a second."""
        steps.open_second(self.state, now)

    def arrive(self, now: int) -> None:
        """Let the next job arrive."""
        steps.take_arrival(self.state)

    def run_rounds(self, now: int) -> None:
        """Run the rounds that are due."""
        self._schedule(self.state, now)
