"""Rules about where jobs may run, as hidden columns beside the resources of the nodes.

Whatever packs units by resources then honours the rules, and needs to know nothing about them. Each distinct set of
allowed node classes is a column: nodes of these classes have plenty of it, all others have none, and each unit of a job
that is restricted to them asks for 1. Where a job wants its nodes for itself there is one more: all nodes have the same
plenty of it, a unit of such a job asks for all of it, any other unit for 1. There are no columns that no job needs.
They are not resources: nothing that people see or pay for counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.job import Job

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Restrictions:
    """The hidden columns that some jobs need: one for each of ``class_sets``, one if a job is ``exclusive``."""

    class_sets: tuple[tuple[str, ...], ...] = ()
    exclusive: bool = False

    @classmethod
    def of(cls, jobs: Iterable[Job]) -> Restrictions:
        """Those of some jobs."""
        known = list(jobs)
        return cls(tuple(sorted({job.classes for job in known if job.classes})), any(job.exclusive for job in known))

    def __len__(self) -> int:
        return len(self.class_sets) + self.exclusive

    def of_classes(self, cluster: Cluster, plenty: int) -> Ints:
        """What a node of each class has of each hidden column; ``plenty`` is more than units can ever ask for."""
        limits.NODE_CELLS.require(
            "the number of nodes times that of resources and sets of node classes that jobs are restricted to",
            cluster.node_count * (len(cluster.resources) + len(self)),
        )
        shared = [plenty] * self.exclusive
        rows = [
            [*(plenty * (each.name in allowed) for allowed in self.class_sets), *shared] for each in cluster.classes
        ]
        return np.array(rows, dtype=np.int64).reshape(len(cluster.classes), len(self))

    def of_unit(self, job: Job, plenty: int) -> list[int]:
        """What each unit of a job asks of each hidden column."""
        shared = [plenty if job.exclusive else 1] * self.exclusive
        return [*(int(job.classes == allowed) for allowed in self.class_sets), *shared]


NO_RESTRICTIONS = Restrictions()
