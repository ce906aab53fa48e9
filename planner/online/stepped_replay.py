"""A replay second by second, with Python between the steps: for estimates or rounds that the kernels do not make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.machine.timeline import NEVER
from planner.online.estimates import RealEstimates
from planner.online.kernel import steps
from planner.online.kernel.state import State, widened
from planner.online.policies import Policy
from planner.online.stretches import SECONDS_AT_A_TIME, OnProgress

Schedule = Callable[[State, int], None]
"""Runs the scheduling rounds that are due at a second."""


def columns_of(found: Any) -> SimpleNamespace:
    """The fields of a record, or of many, as plain arrays of the same memory: Python reads these far quicker.

    A field of the one record of the clock is an array without a dimension; ``field.item()`` is its value.
    """
    plain = np.ndarray((), found.dtype, found) if isinstance(found, np.record) else found.view(np.ndarray)
    return SimpleNamespace(**{name: plain[name] for name in plain.dtype.names or ()})


class SteppedReplay:
    """A replay under way; what is derived from it may do more when a second opens, a job arrives, or a round is due."""

    def __init__(
        self, state: State, *, schedule: Schedule = steps.schedule, on_progress: OnProgress | None = None
    ) -> None:
        self.state = state
        self.jobs, self.clock, self._ends = (columns_of(each) for each in (state.jobs, state.clock, state.ends))
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
        if self._every_event and self.clock.scan:
            self.run_rounds(now)
            events += 1
        while self._is_arriving(now):
            self.arrive(now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        while self.clock.running > 0 and self._ends.key[0] == now:
            steps.take_completion(self.state, now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        if not self._every_event or events == 0:
            self.run_rounds(now)

    def _is_arriving(self, now: int) -> bool:
        next_job = self.clock.arrived.item()
        return bool(next_job < len(self.jobs.submit) and self.jobs.submit[next_job] == now)

    def open(self, now: int) -> None:
        """Begin a second."""
        steps.open_second(self.state, now)

    def arrive(self, now: int) -> None:
        """Let the next job arrive."""
        steps.take_arrival(self.state)

    def run_rounds(self, now: int) -> None:
        """Run the rounds that are due."""
        self._schedule(self.state, now)


IN_TICKS = ("strict", "greedy", "list", "easy")
"""Kinds of policy that take estimates which are no whole seconds.

The others plan in whole seconds, or start jobs when a reservation begins, which would be between two seconds.
"""

MOST_TICKS = 1000
"""Parts of a second that a replay may count in, at most."""

LARGEST_PRODUCT = int(np.iinfo(np.int64).max // 4)
"""What the product of width and squared estimate must be below, by which spf sorts."""

REMEDY = "round the estimates up (--round-estimates)"


def require_ticks(policy: Policy, trace: Trace, estimate: RealEstimates, *, starts_from_nothing: bool) -> None:
    """InputError where estimates that are no whole seconds cannot be."""
    if policy.kind not in IN_TICKS or policy.holds or not starts_from_nothing:
        raise InputError(f"policy {policy.name} counts in whole seconds here, and the estimates are none; {REMEDY}")
    if estimate.per_second > MOST_TICKS:
        raise InputError(
            f"estimates are counted in thousandths of a second at the finest, these in {estimate.per_second:,} parts;"
            f" give a factor of three digits after the point, or {REMEDY}"
        )
    longest, widest = int(estimate.ticks.max(initial=1)), int(trace.width.max(initial=1))
    if "spf" in (policy.order, policy.backfill_order) and widest * longest**2 >= LARGEST_PRODUCT:
        raise InputError(
            f"policy {policy.name}: width times squared estimate goes beyond 64 bits in parts of a second; {REMEDY}"
        )


def trace_in_ticks(trace: Trace, per_second: int) -> Trace:
    """The same trace with its times in ticks."""
    return replace(
        trace,
        submit_s=trace.submit_s * per_second,
        runtime_s=trace.runtime_s * per_second,
        requested_s=trace.requested_s * per_second,
        deadline_s=ticks_of(trace.deadline_s, per_second),
    )


def ticks_of(moments_s: Ints | None, per_second: int) -> Ints | None:
    """Moments in ticks; -1 stays."""
    return None if moments_s is None else np.where(moments_s >= 0, moments_s * per_second, -1)


def seconds_of(ticks: Ints, per_second: int) -> Ints:
    """Moments in seconds; -1 stays."""
    return np.where(ticks >= 0, ticks // per_second, -1)
