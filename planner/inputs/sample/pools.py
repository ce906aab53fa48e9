"""Parts of a cluster that the sample workload fills, each with the shape that jobs take on its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.job import UnitGroup

MEMORY = "memory_gb"
GPUS = "gpus"

GPU_WORK_SHARE = 0.7
"""Part of the time of nodes with GPUs that goes to jobs which use them."""


@dataclass(frozen=True)
class Pool:
    """Nodes of one class and the jobs that they get: jobs are counted in cores, or in GPUs where ``gpu``.

    Attributes
    ----------
    work_share
        Part of the class's time that these jobs are to fill.
    """

    node_class: NodeClass
    gpu: bool
    work_share: float

    @property
    def per_node(self) -> int:
        """Processors of the pool's kind on one node."""
        return int(self.node_class.capacity[GPUS if self.gpu else CORES])

    @property
    def core_equivalents(self) -> float:
        """Cores that the pool has to fill."""
        return self.work_share * self.node_class.count * self.node_class.capacity[CORES]

    def largest_job(self, machine_share: float) -> int:
        """Processors of the largest job: a share of the class, at least a node, at most the class."""
        total = self.node_class.count * self.per_node
        return min(total, max(self.per_node, int(machine_share * total)))

    def memory_gb(self, processors: int, fair_shares: float) -> float:
        """Memory of a unit: a multiple of its fair share of the node's, in whole GB [GB]."""
        node_gb = self.node_class.capacity.get(MEMORY, 0.0)
        wanted = node_gb * fair_shares * processors / self.per_node
        return min(node_gb, max(1.0, round(wanted)))

    def units(self, processors: int, fair_shares: float) -> tuple[UnitGroup, ...]:
        """The job as units: whole nodes, and a smaller last one."""
        full, rest = divmod(processors, self.per_node)
        groups = [(full, self.per_node)] if full else []
        groups += [(1, rest)] if rest else []
        return tuple(UnitGroup.of(count, self._amounts(size, fair_shares)) for count, size in groups)

    def taken(self, units: tuple[UnitGroup, ...]) -> float:
        """Core-equivalents of a job: the largest share of a node over all resources, times its cores."""
        capacity = self.node_class.capacity
        shares = (group.count * max(v / capacity[name] for name, v in group.amounts) for group in units)
        return capacity[CORES] * sum(shares)

    def _amounts(self, size: int, fair_shares: float) -> dict[str, float]:
        amounts: dict[str, float] = {MEMORY: self.memory_gb(size, fair_shares)}
        if not self.gpu:
            return amounts | {CORES: size}
        node_cores = self.node_class.capacity[CORES]
        return amounts | {GPUS: size, CORES: min(node_cores, max(1.0, node_cores * size // self.per_node))}


def pools_of(cluster: Cluster) -> tuple[Pool, ...]:
    """One pool per class; nodes with GPUs have two, one for jobs that use them and one for the others."""
    pools = []
    for node_class in cluster.classes:
        has_gpus = node_class.capacity.get(GPUS, 0.0) >= 1
        if node_class.capacity[CORES] >= 1:
            pools.append(Pool(node_class, gpu=False, work_share=1.0 - GPU_WORK_SHARE if has_gpus else 1.0))
        if has_gpus:
            pools.append(Pool(node_class, gpu=True, work_share=GPU_WORK_SHARE))
    return tuple(pools)
