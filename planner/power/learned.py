"""What jobs draw, learned from finished ones: decaying means of the power per core of jobs that have something in
common.

`Asked` is what is known of a job before it runs. A profile is what jobs have in common: user, name, size or the like,
from most to least specific. What was learned is kept within what the nodes can draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.job import Job, UnitGroup

MEMORY = "memory_gb"
LEVELS: tuple[tuple[str, ...], ...] = (
    ("user", "account", "name", "partition", "request"),
    ("user", "name", "partition", "size"),
    ("user", "name", "size"),
    ("user", "size"),
    ("partition", "request"),
    ("partition", "size"),
    ("size",),
    ("cores",),
)
"""What jobs of one group have in common, level by level.

``size`` is the number of units and the job's total of every resource but memory, ``request`` also its memory and its
requested time. Jobs of one user come before jobs of one size: people repeat themselves. There is no level for all jobs:
their mean is a worse guess than a site's constant.
"""
Key = tuple[str, ...]
_SLACK = 1e-9
"""Amounts that were cut into units may miss a node's capacity in their last digits."""
DECAY = 0.9
"""How much less a job counts with each later job of its group."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A job's request; texts are empty where the source does not say. ``classes`` are as those of a `Job`."""

    job_id: str
    units: tuple[UnitGroup, ...]
    requested_s: int = 0
    user: str = ""
    account: str = ""
    name: str = ""
    partition: str = ""
    classes: tuple[str, ...] = ()
    exclusive: bool = False

    @classmethod
    def of(cls, job: Job) -> Asked:
        """What a job asked for."""
        return cls(
            job.id,
            job.units,
            job.requested_s,
            job.user,
            job.account,
            job.name,
            job.partition,
            job.classes,
            job.exclusive,
        )

    @property
    def cores(self) -> float:
        """Cores of the whole job."""
        return sum(group.count * group.amount(CORES) for group in self.units)

    @property
    def unit_count(self) -> int:
        """Number of units of the job."""
        return sum(group.count for group in self.units)

    def job(self, submit_unix: int, power_w: float, **others: Any) -> Job:
        """The job that asked for this, with what else is known of it."""
        return Job(
            id=self.job_id,
            submit_unix=submit_unix,
            requested_s=self.requested_s,
            units=self.units,
            power_w=power_w,
            account=self.account,
            user=self.user,
            name=self.name,
            classes=self.classes,
            exclusive=self.exclusive,
            partition=self.partition,
            **others,
        )


PowerModel = Callable[[Asked], float]
"""From what a job asked for to its mean power while it runs [W]."""


def level_name(level: int) -> str:
    """How people read a level: ``user + size``."""
    return " + ".join(LEVELS[level])


def keys_of(asked: Asked) -> list[tuple[int, Key]]:
    """The groups that a job belongs to, the most specific first; levels for which it lacks something are left out."""
    texts = _texts(asked)
    return [
        (level, tuple(texts[name] for name in names))
        for level, names in enumerate(LEVELS)
        if all(texts[name] for name in names)
    ]


def _texts(asked: Asked) -> Mapping[str, str]:
    """What a job has of everything that levels are made of, empty where it lacks it."""
    totals: dict[str, float] = {}
    for group in asked.units:
        for name, amount in group.amounts:
            totals[name] = totals.get(name, 0.0) + group.count * amount
    units = f"{asked.unit_count}x"
    size = _listed({name: total for name, total in totals.items() if name != MEMORY})
    return {
        "user": asked.user,
        "account": asked.account,
        "name": asked.name,
        "partition": asked.partition,
        "request": f"{units} {_listed(totals)} {asked.requested_s} s" if asked.requested_s else "",
        "size": f"{units} {size}",
        "cores": f"{totals.get(CORES, 0.0):.6g}",
    }


def _listed(totals: Mapping[str, Any]) -> str:
    """Totals as text that is the same for jobs that ask for the same, whatever the rounding of their units."""
    return " ".join(f"{name}={total:.6g}" for name, total in sorted(totals.items()))


@dataclass(frozen=True)
class PowerLimits:
    """What nodes draw at least [W], by the cluster's idle power, and at most, where the site says."""

    cluster: Cluster
    max_w_per_core: float | None = None
    max_w_per_node: float | None = None

    def bounded(self, asked: Asked, power_w: float) -> float:
        """The power, or the nearest that the job can draw; where the limits contradict each other, idle power."""
        return max(min(power_w, self._most_w(asked)), self._least_w(asked))

    def _least_w(self, asked: Asked) -> float:
        """Its share of the idle power of its nodes, on the nodes that idle lowest."""
        return min((sum(_idle_w(asked, node_class)) for node_class in _possible(asked, self.cluster)), default=0.0)

    def _most_w(self, asked: Asked) -> float:
        by_core = math.inf if self.max_w_per_core is None else self.max_w_per_core * asked.cores
        by_node = math.inf if self.max_w_per_node is None else self.max_w_per_node * asked.unit_count
        return min(by_core, by_node)


def has_own_nodes(asked: Asked, cluster: Cluster | None) -> bool:
    """Whether no other job can have been on its nodes: it was exclusive, or its units take all cores of a node on
    whatever nodes it may use. Without a cluster only the first is known."""
    if asked.exclusive:
        return True
    possible = [] if cluster is None else list(_possible(asked, cluster))
    return bool(possible) and all(
        group.amount(CORES) >= node_class.capacity[CORES] - _SLACK for node_class in possible for group in asked.units
    )


def _possible(asked: Asked, cluster: Cluster) -> Iterator[NodeClass]:
    """The node classes that all units of a job fit on."""
    for node_class in cluster.classes:
        if asked.classes and node_class.name not in asked.classes:
            continue
        if all(_share(group, node_class) <= 1 + _SLACK for group in asked.units):
            yield node_class


def _idle_w(asked: Asked, node_class: NodeClass) -> Iterator[float]:
    for group in asked.units:
        share = 1.0 if asked.exclusive else _share(group, node_class)
        yield group.count * share * node_class.idle_w


def _share(group: UnitGroup, node_class: NodeClass) -> float:
    """The largest part of a node that a unit takes of any resource; infinite where the node has none of it."""
    shares = [
        amount / node_class.capacity[name] if node_class.capacity.get(name) else math.inf
        for name, amount in group.amounts
    ]
    return max(shares)


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


def learned_from(jobs: Iterable[FinishedJob]) -> LearnedPower:
    """What finished jobs teach, in the order of their ends."""
    learned = LearnedPower()
    for job in sorted(jobs, key=lambda job: job.end_key):
        learned.learn(job)
    return learned
