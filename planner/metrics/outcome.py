"""What happened to each job, and which jobs count."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.errors import InputError

TRIMMING: dict[str, str] = {
    "none": "all jobs",
    "steady": "without the first 1 % of completions and without what ends after the last submission",
    "last": "without the job that ends last",
}
"""Rules by which jobs are left out of a metric: steady after Tsafrir, Etsion and Feitelson (2007).

The figures of Goponenko et al. (2022) are met without the last job to end; on KTH-SP2 with it as well.
"""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Jobs as they ran, one entry per job; times in seconds.

    ``deadline_s`` is the latest end, -1 for none; ``estimate_s`` the first estimate. Of policies that
    hold jobs ``reference_s`` is when the scheduler would have started each job, ``promise_s`` until when it might be
    held, ``held_until_s`` until when it was; -1 for none. ``processors`` is the machine's size.
    """

    submit_s: Ints
    start_s: Ints
    runtime_s: Ints
    width: Floats
    processors: float
    deadline_s: Ints
    estimate_s: Ints | Floats
    reference_s: Ints
    promise_s: Ints
    held_until_s: Ints

    def __len__(self) -> int:
        return len(self.submit_s)

    @property
    def wait_s(self) -> Ints:
        """Q: from submission to start."""
        return self.start_s - self.submit_s

    @property
    def end_s(self) -> Ints:
        """Second at which each job has ended."""
        return self.start_s + self.runtime_s

    @property
    def flow_s(self) -> Ints:
        """F = Q + D: from submission to end."""
        return self.end_s - self.submit_s

    def trimmed(self, rule: str) -> Outcome:
        """The jobs that count by a rule."""
        if rule not in TRIMMING:
            raise InputError(f"unknown trimming rule {rule!r}; known: {', '.join(TRIMMING)}")
        if rule == "none" or not len(self):
            return self
        end_s = self.end_s
        if rule == "last":
            return self.where(np.arange(len(self)) != np.argmax(end_s))
        is_first = np.zeros(len(self), dtype=np.bool_)
        is_first[np.argsort(end_s, kind="stable")[: len(self) // 100]] = True
        return self.where(~is_first & (end_s < self.submit_s.max()))

    def where(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Outcome:
        """Only some of the jobs."""
        columns = (each.name for each in fields(self) if each.name != "processors")
        return replace(self, **{name: getattr(self, name)[kept] for name in columns})
