"""How the promises of a day were kept: who starts later than the reference, and who later than promised."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A job that starts later than promised, by how much, and why that could not be helped."""

    job_id: str
    late_s: int
    reason: str


@dataclass(frozen=True)
class Promises:
    """Jobs with a promise; how many start after their reference start, and by how much; and those beyond it.

    A job that has no start yet is late by what has passed of the time that was looked at.
    """

    given: int
    delayed: int
    mean_delay_s: float
    longest_delay_s: int
    broken: tuple[BrokenPromise, ...]
