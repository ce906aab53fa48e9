"""The order of node classes: the plainest first, so that what few nodes have is left to the jobs that need it.

Nodes are tried in the order of their numbers. A job that could run anywhere should take a node without GPUs before one
with them, and one with little memory per core before one with much.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.domain.cluster import CORES, NodeClass


def plainest_first(classes: Iterable[NodeClass]) -> tuple[NodeClass, ...]:
    """The classes by how many resources they have that another class lacks, then by what they have per core.

    What they have per core of each resource counts in parts of the most that any of them has. Equals keep their order.
    """
    given = tuple(classes)
    names = {name for each in given for name in each.capacity} - {CORES}
    scarce = {name for name in names if any(not each.capacity.get(name) for each in given)}
    most = {name: max(_per_core(each, name) for each in given) for name in names}

    def key(each: NodeClass) -> tuple[int, float]:
        rare = sum(bool(each.capacity.get(name)) for name in scarce)
        return rare, sum(_per_core(each, name) / most[name] for name in sorted(names) if most[name])

    return tuple(sorted(given, key=key))


def _per_core(node_class: NodeClass, resource: str) -> float:
    return node_class.capacity.get(resource, 0.0) / node_class.capacity[CORES]
