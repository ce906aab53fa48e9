"""Whether a job can ever run on a machine, and why not."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Ints, class_capacities
from planner.domain.job import Job, UnitGroup
from planner.units import MILLI


class Fit:
    """Answers for one cluster; equal requests are looked at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._capacities = class_capacities(cluster)
        self._counts = np.array([node_class.count for node_class in cluster.classes], dtype=np.int64)
        self._why_not = lru_cache(maxsize=None)(self._judge)

    def why_never(self, job: Job) -> str | None:
        """Why a job cannot run even on the empty machine; None when it can."""
        limit_w = self._cluster.power_limit_w
        if limit_w is not None and round(job.power_w * MILLI) > int(limit_w * MILLI):
            return f"draws {job.power_w:.0f} W, more than the site's limit of {limit_w:.0f} W"
        return self._why_not(job.units)

    def _judge(self, units: tuple[UnitGroup, ...]) -> str | None:
        amounts = []
        for group in units:
            missing = [name for name, _ in group.amounts if name not in self._cluster.resources]
            if missing:
                return f"asks for {missing[0]}, which no node has"
            amounts.append(self._amount(group))
            if not np.any(np.all(amounts[-1] <= self._capacities, axis=1)):
                return f"a unit asks for {_words(group)}, more than any node has"
            most = int((self._counts * _copies(self._capacities, amounts[-1])).sum())
            if group.count > most:
                return f"asks for {group.count} units of {_words(group)}, the machine takes {most} at once"
        if len(units) > 1 and not self._packs(units, amounts):
            return "its units do not fit on the empty machine together"
        return None

    def _amount(self, group: UnitGroup) -> Ints:
        return np.array(
            [np.ceil(round(group.amount(name) * MILLI, 3)) for name in self._cluster.resources], dtype=np.int64
        )

    def _packs(self, units: tuple[UnitGroup, ...], amounts: list[Ints]) -> bool:
        """Whether units of several sizes fit: each odd one where it costs the fewest of the largest group."""
        main = max(range(len(units)), key=lambda index: units[index].count)
        free = np.repeat(self._capacities, self._counts, axis=0)
        for index, group in enumerate(units):
            for _ in range(group.count if index != main else 0):
                takes = np.all(free >= amounts[index], axis=1)
                loss = _copies(free, amounts[main]) - _copies(free - amounts[index], amounts[main])
                if not takes.any():
                    return False
                free[np.argmin(np.where(takes, loss, np.iinfo(np.int64).max))] -= amounts[index]
        return bool(_copies(free, amounts[main]).sum() >= units[main].count)


def _copies(free: Ints, amount: Ints) -> Ints:
    asked = amount > 0
    copies: Ints = np.maximum(0, np.min(free[:, asked] // amount[asked], axis=1))
    return copies


def _words(group: UnitGroup) -> str:
    return " and ".join(f"{amount:g} {name}" for name, amount in group.amounts)
