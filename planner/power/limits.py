"""The least and the most that a job can draw: idle and full nodes; and whether it had its nodes for itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.job import UnitGroup
from planner.power.asked import Asked

_SLACK = 1e-9
"""Amounts that were cut into units may miss a node's capacity in their last digits."""


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
