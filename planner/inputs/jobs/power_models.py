"""Models of what a job draws, for sources that do not say: watts per core, fixed or drawn per job; or learned."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from planner.errors import InputError
from planner.inputs.learned_power import LearnedFile, read_learned_power
from planner.limits import JOB_W, W_PER_CORE
from planner.power.learned import Asked, PowerLimits, PowerModel, level_name
from planner.scenario.power import Power
from planner.scenario.schema import Scenario
from planner.units import utc_text

STUDY_LOW_W_PER_CORE = 7.8
STUDY_HIGH_W_PER_CORE = 11.11
"""Range of the published study (design, model.md)."""


def power_of(scenario: Scenario) -> PowerModel:
    """The model by the ``power:`` of a scenario: learned where it names a file of that, else constants."""
    constant = constant_of(scenario.power, scenario.seed)
    if scenario.power.learned is None:
        return constant
    return LearnedModel(read_learned_power(scenario.power.learned), limits_of(scenario), constant)


def constant_of(choice: Power, seed: int) -> PowerModel:
    """Watts per core by the ``power:`` of a scenario; InputError where it says nothing."""
    if choice.w_per_core is not None:
        return per_core(choice.w_per_core)
    if choice.draw_w_per_core is None:
        raise InputError("power: give w_per_core or draw_w_per_core, for jobs whose source says no power")
    low, high = choice.draw_w_per_core
    return drawn_per_core(low, high, seed)


def limits_of(scenario: Scenario) -> PowerLimits:
    """The least and the most that jobs of a scenario can draw."""
    return PowerLimits(scenario.cluster, scenario.power.max_w_per_core, scenario.power.max_w_per_node)


@dataclass
class LearnedModel:
    """A model by what finished jobs drew; jobs of which nothing is known draw the constant.

    ``used`` counts jobs by what said their power.
    """

    file: LearnedFile
    limits: PowerLimits
    constant: PowerModel
    used: Counter[str] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> float:
        found = self.file.learned.predict(asked)
        if found is None:
            self.used["the constant, as nothing is known of such jobs"] += 1
            return self.constant(asked)
        self.used[f"jobs of the same {level_name(found.level)}"] += 1
        return min(self.limits.bounded(asked, found.power_w), JOB_W.high)

    def notes(self, until_unix: int | None) -> list[str]:
        """What was done, in lines for people; ``until_unix`` is when the jobs are planned."""
        lines = [f"power by {way}: {count} jobs" for way, count in sorted(self.used.items())]
        last = self.file.last_end_unix
        if until_unix is not None and last >= until_unix:
            text = f"power was learned from jobs that ended up to {utc_text(last)}, after {utc_text(until_unix)}"
            lines.append(f"{text}: it knows what was not known then (plan power learn --until)")
        return lines


def power_notes(power: PowerModel, until_unix: int | None = None) -> list[str]:
    """Lines for people on where power came from; none where it is constant."""
    return power.notes(until_unix) if isinstance(power, LearnedModel) else []


def per_core(w_per_core: float) -> PowerModel:
    """A model in which every core of every job draws the same [W]."""
    W_PER_CORE.require("watts per core", w_per_core)
    return lambda asked: w_per_core * asked.cores


def drawn_per_core(low: float = STUDY_LOW_W_PER_CORE, high: float = STUDY_HIGH_W_PER_CORE, seed: int = 0) -> PowerModel:
    """A model in which each job's watts per core are uniform in [low, high).

    The draw is a hash of the seed and the job's id. It is a property of the job: reading other jobs, fewer
    jobs, or the same jobs in another order changes nothing. Another seed gives every job another draw.
    """
    W_PER_CORE.require("low watts per core", low)
    W_PER_CORE.require("high watts per core", high)
    if low > high:
        raise InputError(f"watts per core range from {low} to {high}; give the smaller first")
    largest = math.nextafter(high, low)

    def power_w(asked: Asked) -> float:
        return min(low + (high - low) * _uniform(seed, asked.job_id), largest) * asked.cores

    return power_w


def _uniform(seed: int, job_id: str) -> float:
    """A number in [0, 1) with 53 random bits, from the seed and the id alone."""
    digest = blake2b(f"{seed}:{job_id}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
