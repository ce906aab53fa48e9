"""Jobs that are held for cheaper hours: until when, what that saves, and how the promises of a day were kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hold:
    """A job that is held: since when the scheduler would have started it, until when it is held, and until when it may.

    ``saved_eur`` is what its energy is expected to cost less at the end of the hold than now, ``waiting_eur`` what its
    waiting counts for. All moments are Unix seconds.
    """

    job_id: str
    reference_unix: int
    until_unix: int
    latest_unix: int
    saved_eur: float
    waiting_eur: float


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A job that starts later than the last moment until which it might be held, by how much, and why."""

    job_id: str
    late_s: int
    reason: str


@dataclass(frozen=True)
class Promises:
    """Jobs that were held; how many start after the moment since which they were, by how much, and those beyond it.

    A job that has no start yet is late by what has passed of the time that was looked at.
    """

    given: int
    delayed: int
    mean_delay_s: float
    longest_delay_s: int
    broken: tuple[BrokenPromise, ...]
