"""The parameters of holding jobs for cheaper hours, and how strongly jobs were last held."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_MARGIN_S = 3600
"""A hold of a job with a deadline ends at least this long before the last start that keeps it [s]."""

MARGIN_PART = 10
"""And at least this part, one by this number, of the time that the job asks for."""


@dataclass(frozen=True)
class HoldParams:
    """How it is decided which jobs are held; the scenario's `hold` section says what each number means."""

    every_s: int = 3600
    ahead_s: int = 86400
    strengths: tuple[float, ...] = (1.0, 4.0, 16.0)
    days_back: tuple[int, ...] = (7, 1, 2)
    stay_fraction: float = 0.005
    waiting_fraction: float = 0.02


@dataclass(frozen=True, slots=True)
class Strength:
    """How strongly it was best to hold jobs when that was last compared, and when that was [Unix s].

    An hour of waiting counts for so many times its price; infinite: hold nothing.
    """

    value: float
    decided_unix: int
