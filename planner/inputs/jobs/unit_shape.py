"""Cuts a job's cores into units that fit on a node: full ones, and a smaller last one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.bounds import CORE_SCALE, UNIT_CORES
from planner.domain.cluster import CORES, Cluster
from planner.domain.job import UnitGroup
from planner.scenario.jobs import Jobs, SlurmJobs

MEMORY = "memory_gb"


@dataclass(frozen=True)
class UnitShape:
    """How the processors that a trace asks for become units.

    Attributes
    ----------
    unit_cores
        Cores of a full unit, usually those of a node.
    core_scale
        Factor on the cores asked for, such as 9600 / 93312 for a machine of another size.
    use_memory
        Whether memory requests of the source count.
    """

    unit_cores: int
    core_scale: float = 1.0
    use_memory: bool = True

    def __post_init__(self) -> None:
        UNIT_CORES.require("unit cores", self.unit_cores)
        CORE_SCALE.require("the core scale", self.core_scale)

    def scaled_cores(self, cores: float) -> int:
        """Whole cores after scaling: rounded half up, at least 1."""
        return max(1, math.floor(cores * self.core_scale + 0.5))


def unit_shape_of(choice: Jobs, cluster: Cluster) -> UnitShape:
    """The shape by the ``jobs:`` of a scenario; a full unit has the cores of the plainest node class by default."""
    cores = int(cluster.classes[0].capacity[CORES])
    return (
        UnitShape(cores) if isinstance(choice, SlurmJobs) else UnitShape(choice.unit_cores or cores, choice.core_scale)
    )


def cut_cores(cores: int, unit_cores: int, memory_gb_per_core: float = 0.0) -> tuple[UnitGroup, ...]:
    """Units of a job of this many cores: full units of ``unit_cores``, then one with the rest, if any.

    ``memory_gb_per_core`` gives every unit memory in proportion to its cores [GB]; 0 for none.
    """
    full, rest = divmod(cores, unit_cores)
    sizes = ([(full, unit_cores)] if full else []) + ([(1, rest)] if rest else [])
    return tuple(UnitGroup.of(count, {CORES: size, MEMORY: size * memory_gb_per_core}) for count, size in sizes)
