"""Models of what a job draws, for sources that do not say: watts per core, fixed or drawn per job."""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import blake2b

from planner.bounds import W_PER_CORE
from planner.errors import InputError
from planner.scenario.sections import Power

PowerModel = Callable[[str, float], float]
"""From a job's id and its cores to its mean power while it runs [W]."""

STUDY_LOW_W_PER_CORE = 7.8
STUDY_HIGH_W_PER_CORE = 11.11
"""Range of the published study (design, model.md)."""


def power_of(choice: Power, seed: int) -> PowerModel:
    """The model by the ``power:`` of a scenario; InputError where it says nothing."""
    if choice.w_per_core is not None:
        return per_core(choice.w_per_core)
    if choice.draw_w_per_core is None:
        raise InputError("power: give w_per_core or draw_w_per_core, for jobs whose source says no power")
    low, high = choice.draw_w_per_core
    return drawn_per_core(low, high, seed)


def per_core(w_per_core: float) -> PowerModel:
    """A model in which every core of every job draws the same [W]."""
    W_PER_CORE.require("watts per core", w_per_core)
    return lambda job_id, cores: w_per_core * cores


def drawn_per_core(low: float = STUDY_LOW_W_PER_CORE, high: float = STUDY_HIGH_W_PER_CORE, seed: int = 0) -> PowerModel:
    """A model in which each job's watts per core are uniform in [low, high).

    The draw is a hash of the seed and the job's id. It is a property of the job: reading other jobs, fewer
    jobs, or the same jobs in another order changes nothing.

    Parameters
    ----------
    low, high
        Bounds of the draw [W/core].
    seed
        Any integer; another seed gives every job another draw.
    """
    W_PER_CORE.require("low watts per core", low)
    W_PER_CORE.require("high watts per core", high)
    if low > high:
        raise InputError(f"watts per core range from {low} to {high}; give the smaller first")
    largest = math.nextafter(high, low)

    def power_w(job_id: str, cores: float) -> float:
        return min(low + (high - low) * _uniform(seed, job_id), largest) * cores

    return power_w


def _uniform(seed: int, job_id: str) -> float:
    """A number in [0, 1) with 53 random bits, from the seed and the id alone."""
    digest = blake2b(f"{seed}:{job_id}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
