"""Whether a job ever fits on a cluster."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Ints, class_capacities, unit_amount
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import copies_of, is_decidable, nodes_for
from planner.errors import InputError
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
        limit_mw = self._cluster.power_limit_mw
        if limit_mw is not None and round(job.power_w * MILLI) > limit_mw:
            return f"draws {job.power_w:.6g} W, more than the site's limit of {limit_mw / MILLI:.6g} W"
        return self._why_not(job.units, job.classes, job.exclusive)

    def why_no_room(self, job: Job) -> str | None:
        """The same for a job that runs already, whatever it draws and wherever it should be."""
        return self._why_not(job.units, (), job.exclusive)

    def _judge(self, units: tuple[UnitGroup, ...], classes: tuple[str, ...], exclusive: bool) -> str | None:
        allowed = [not classes or node_class.name in classes for node_class in self._cluster.classes]
        capacities, counts = self._capacities[allowed], self._counts[allowed]
        if exclusive:
            # One more column, of which every node has one and every unit takes one.
            capacities = np.append(capacities, np.ones((len(capacities), 1), dtype=np.int64), axis=1)
        only = f"may only run on {', '.join(classes)}, where " if classes else ""
        amounts = []
        for group in units:
            missing = [name for name, _ in group.amounts if name not in self._cluster.resources]
            if missing:
                return f"asks for {missing[0]}, which no node has"
            amounts.append(np.append(unit_amount(group, self._cluster), [1] * exclusive).astype(np.int64))
            if not np.any(np.all(amounts[-1] <= capacities, axis=1)):
                return f"{only}a unit asks for {_words(group)}, more than any node has"
            most = int((counts * copies_of(capacities, amounts[-1])).sum())
            if group.count > most:
                asked = f"{group.count} units of {_words(group)}" + (" with a node each" if exclusive else "")
                if only:
                    return f"{only}{most} of its {asked} have room at once"
                return f"asks for {asked}, the machine takes {most} at once"
        if len(units) > 1 and _cannot_pack(capacities, counts, units, amounts):
            return f"{only}its units do not fit on the empty machine together"
        return None


def _cannot_pack(capacities: Ints, counts: Ints, units: tuple[UnitGroup, ...], amounts: list[Ints]) -> bool:
    """Whether units of several sizes are proven not to fit on the empty machine together."""
    wanted = sum(amount * group.count for amount, group in zip(amounts, units, strict=True))
    if np.any(counts @ capacities < wanted):
        return True
    numbers = [group.count for group in units]
    # More nodes of a class than the job has units are never needed.
    useful = np.minimum(counts, sum(numbers))
    if not is_decidable(numbers, int(useful.sum())):
        return False
    return nodes_for(np.repeat(capacities, useful, axis=0), amounts, numbers) is None


def _words(group: UnitGroup) -> str:
    return " and ".join(f"{amount:g} {name}" for name, amount in group.amounts)


def require_fit(job: Job, fit: Fit) -> None:
    """InputError when a job that has started is too large for the empty machine."""
    reason = fit.why_no_room(job)
    if reason is not None:
        raise InputError(f"job {job.id} cannot have started here: {reason}; correct its size or the cluster")
