"""Means of the power per core of groups of jobs, in which later jobs count more; the state that learning leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from planner.power.asked import Asked
from planner.power.profiles import LEVELS, Key, keys_of

DECAY = 0.9
"""How much less a job counts with each later job of its group."""


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that has ended, with its measured mean power [W]."""

    asked: Asked
    submit_unix: int
    end_unix: int
    power_w: float

    @property
    def end_key(self) -> tuple[int, int, str]:
        """What finished jobs are learned in the order of: their ends, whatever the order of the tables."""
        return self.end_unix, self.submit_unix, self.asked.job_id


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs of one profile: the decaying mean of their power per core [W], the weight behind it, and how many."""

    w_per_core: float = 0.0
    weight: float = 0.0
    jobs: int = 0

    def with_job(self, w_per_core: float, decay: float) -> Group:
        """The group after one more job."""
        weight = self.weight * decay + 1.0
        return Group(self.w_per_core + (w_per_core - self.w_per_core) / weight, weight, self.jobs + 1)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The mean power that is expected of a job [W], and the level of the group that says so."""

    power_w: float
    level: int


@dataclass
class LearnedPower:
    """Groups by level and key; `learn` takes jobs in the order in which they ended."""

    decay: float = DECAY
    groups: tuple[dict[Key, Group], ...] = field(default_factory=lambda: tuple({} for _ in LEVELS))

    def learn(self, job: FinishedJob) -> None:
        """Take a finished job into every group that it belongs to."""
        cores = job.asked.cores
        if not cores:
            return
        for level, key in keys_of(job.asked):
            known = self.groups[level]
            known[key] = known.get(key, Group()).with_job(job.power_w / cores, self.decay)

    def predict(self, asked: Asked) -> Prediction | None:
        """By the most specific group of the job that has history; None where none has."""
        for level, key in keys_of(asked):
            group = self.groups[level].get(key)
            if group is not None:
                return Prediction(group.w_per_core * asked.cores, level)
        return None


def learned_from(jobs: Iterable[FinishedJob], decay: float = DECAY) -> LearnedPower:
    """What finished jobs teach, in the order of their ends."""
    learned = LearnedPower(decay)
    for job in sorted(jobs, key=lambda job: job.end_key):
        learned.learn(job)
    return learned
