"""Units of a waiting job of Slurm: what it asks for, cut to the nodes that it may run on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping

from planner.domain.cluster import CORES
from planner.domain.job import UnitGroup
from planner.errors import InputError
from planner.inputs.jobs.unit_shape import MEMORY
from planner.inputs.slurm.job import Request
from planner.inputs.slurm.machine import GPUS, MB_PER_GB, Kind

Amounts = Mapping[str, float]


def units_of(request: Request, kinds: Collection[Kind]) -> tuple[UnitGroup, ...]:
    """The units that a waiting job needs: one on each node, as few nodes as it asks for and its tasks fit on.

    Tasks are spread evenly. A job that wants whole nodes asks for all cores of the smallest kind that it fits on.

    Raises
    ------
    InputError
        It fits on no number of nodes; says why.
    """
    tasks, cpus_per_task = _tasks(request)
    nodes = _nodes(request, tasks, cpus_per_task, kinds)
    gpus = [0] * nodes
    if request.gpus_per_node:
        gpus = [request.gpus_per_node] * nodes
    elif request.gpus_in_all:
        gpus = _spread(request.gpus_in_all, nodes)
    found = Counter(
        _amounts(request, max(count * cpus_per_task, request.min_cpus_per_node or 1), of_gpus, nodes, kinds)
        for count, of_gpus in zip(_spread(tasks, nodes), gpus, strict=True)
    )
    return tuple(UnitGroup.of(count, dict(amounts)) for amounts, count in found.items())


def _tasks(request: Request) -> tuple[int, int]:
    """Tasks and CPUs of each; Slurm 22.05 says the latter by the number of all CPUs only."""
    tasks = request.tasks or request.min_nodes
    cpus = request.cpus or tasks
    return tasks, max(request.cpus_per_task, math.ceil(cpus / tasks))


def _nodes(request: Request, tasks: int, cpus_per_task: int, kinds: Collection[Kind]) -> int:
    """The least number of nodes that all tasks and GPUs fit on."""
    most_cpus, most_gpus = max(kind.cpus for kind in kinds), max(kind.gpus for kind in kinds)
    on_a_node = min(most_cpus // cpus_per_task, request.tasks_per_node or tasks)
    if not on_a_node:
        raise InputError(f"a task of it needs {cpus_per_task} CPUs, more than any node has")
    nodes = max(request.min_nodes, math.ceil(tasks / on_a_node))
    if request.gpus_in_all and not request.gpus_per_node:
        if not most_gpus:
            raise InputError("it needs GPUs, which no node has")
        nodes = max(nodes, math.ceil(request.gpus_in_all / most_gpus))
    if request.max_nodes is not None and nodes > request.max_nodes:
        raise InputError(f"it needs {nodes} nodes and asks for at most {request.max_nodes}")
    return nodes


def _amounts(
    request: Request, cpus: int, gpus: int, nodes: int, kinds: Collection[Kind]
) -> tuple[tuple[str, float], ...]:
    if request.exclusive:
        fitting = [kind.cpus for kind in kinds if kind.cpus >= cpus and kind.gpus >= gpus]
        whole = min(fitting, default=cpus)
    else:
        whole = cpus
    if request.memory_per_node_mb:
        memory_mb = request.memory_per_node_mb
    elif request.memory_per_cpu_mb:
        memory_mb = request.memory_per_cpu_mb * cpus
    else:
        memory_mb = math.ceil((request.memory_in_all_mb or 0) / nodes)
    return tuple(amounts_of(whole, memory_mb, gpus, kinds).items())


def amounts_of(cpus: float, memory_mb: int | None, gpus: int | None, kinds: Collection[Kind]) -> dict[str, float]:
    """Amounts of a unit, without zeros; memory only where nodes say how much they have."""
    found = {CORES: float(cpus), GPUS: float(gpus or 0)}
    if any(kind.memory_mb for kind in kinds):
        found[MEMORY] = (memory_mb or 0) / MB_PER_GB
    return {name: amount for name, amount in found.items() if amount}


def _spread(amount: int, nodes: int) -> list[int]:
    """So much for each node, the first ones with one more."""
    least, more = divmod(amount, nodes)
    return [least + (place < more) for place in range(nodes)]
