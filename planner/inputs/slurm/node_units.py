"""What a job of Slurm asks for, cut to units on the nodes that it may run on; of a job that has ended, as it was read
while it waited, so that both are known as alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from planner.domain.cluster import CORES, Cluster
from planner.domain.job import UnitGroup
from planner.errors import InputError
from planner.inputs.jobs.unit_groups import MEMORY
from planner.inputs.slurm.job import Request, SlurmJob
from planner.inputs.slurm.node_classes import GPUS, MB_PER_GB, Kind, SlurmMachine
from planner.power.learned import Asked


def units_of(request: Request, kinds: Collection[Kind]) -> tuple[UnitGroup, ...]:
    """The units that a waiting job needs: one on each node, as few nodes as it asks for and its tasks fit on.

    Tasks are spread evenly. A job that wants whole nodes asks for all cores of the smallest kind that it fits on.
    InputError where it fits on no number of nodes; says why.
    """
    tasks, cpus_per_task = _tasks(request)
    nodes = _nodes(request, tasks, cpus_per_task, kinds)
    gpus = [0] * nodes
    if request.gpus_per_node:
        gpus = [request.gpus_per_node] * nodes
    elif request.gpus_in_all:
        gpus = _spread(request.gpus_in_all, nodes)
    found = Counter(
        _unit_amounts(request, max(count * cpus_per_task, request.min_cpus_per_node or 1), of_gpus, nodes, kinds)
        for count, of_gpus in zip(_spread(tasks, nodes), gpus, strict=True)
    )
    return tuple(UnitGroup.of(count, dict(amounts)) for amounts, count in found.items())


def _tasks(request: Request) -> tuple[int, int]:
    """Tasks and CPUs of each; Slurm 22.05 says the latter by the number of all CPUs only."""
    tasks = request.tasks or request.min_nodes
    cpus = request.cpus or tasks
    return tasks, max(request.cpus_per_task, math.ceil(cpus / tasks))


def _nodes(request: Request, tasks: int, cpus_per_task: int, kinds: Collection[Kind]) -> int:
    """The least number of nodes that all tasks, with memory by CPU, and GPUs fit on."""
    most_cpus, most_gpus = max(kind.cpus for kind in kinds), max(kind.gpus for kind in kinds)
    if most_cpus < cpus_per_task:
        raise InputError(f"a task of it needs {cpus_per_task} CPUs, more than any node has")
    on_a_node = min(max(_tasks_of(kind, request, cpus_per_task) for kind in kinds), request.tasks_per_node or tasks)
    if not on_a_node:
        needed = cpus_per_task * (request.memory_per_cpu_mb or 0)
        raise InputError(f"a task of it needs {needed} MB, more than any node has")
    nodes = max(request.min_nodes, math.ceil(tasks / on_a_node))
    if request.gpus_in_all and not request.gpus_per_node:
        if not most_gpus:
            raise InputError("it needs GPUs, which no node has")
        nodes = max(nodes, math.ceil(request.gpus_in_all / most_gpus))
    if request.max_nodes is not None and nodes > request.max_nodes:
        raise InputError(f"it needs {nodes} nodes and asks for at most {request.max_nodes}")
    return nodes


def _tasks_of(kind: Kind, request: Request, cpus_per_task: int) -> int:
    """Tasks that a node of a kind can take."""
    by_cpus = kind.cpus // cpus_per_task
    if not request.memory_per_cpu_mb or request.memory_per_node_mb or not kind.memory_mb or request.exclusive:
        return by_cpus
    return min(by_cpus, kind.memory_mb // (request.memory_per_cpu_mb * cpus_per_task))


def _unit_amounts(
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


def some_classes(allowed: Iterable[str], every: Iterable[str]) -> tuple[str, ...]:
    """The classes that a job may run on; none are named where it may run on all."""
    found = tuple(sorted(allowed))
    return found if set(found) < set(every) else ()


def asked_of(job: SlurmJob, whole_cpus: float, cluster: Cluster, machine: SlurmMachine | None) -> Asked:
    """The request of a job that ran, on nodes with ``whole_cpus`` in all.

    InputError where no such job could be planned. ``machine`` is that of Slurm behind the cluster; None where the
    scenario has nodes of its own.
    """
    request = _request(job, whole_cpus, has_gpus=GPUS in cluster.resources)
    kinds, why = _kinds(job.partitions, cluster) if machine is None else machine.allowed(request, job.partitions)
    if not kinds:
        raise InputError(why)
    return Asked(
        job.label,
        units_of(request, list(kinds.values())),
        job.limit_s or 0,
        job.user,
        job.account,
        job.name,
        job.partition,
        some_classes(kinds, [each.name for each in cluster.classes]),
        bool(request.exclusive),
    )


def _request(job: SlurmJob, whole_cpus: float, *, has_gpus: bool) -> Request:
    """What the job asked for; what it had, where the accounts do not say. GPUs count where nodes have any.

    Accounts do not know tasks: each CPU is one, so that they are spread as evenly as can be.
    """
    asked, had, nodes = job.request, job.had, len(job.nodes)
    if not asked.cpus:
        asked = replace(asked, min_nodes=nodes, cpus=had.cpus, memory_in_all_mb=had.memory_mb, gpus_in_all=had.gpus)
    # That a job wants whole nodes may stand in its script only; but then it got more CPUs than it asked for.
    got = had.cpus or 0
    is_whole = bool(asked.exclusive) or (got >= whole_cpus and got > (asked.cpus or 0))
    cpus = asked.cpus or nodes
    memory_mb = asked.memory_in_all_mb or 0
    return replace(
        asked,
        cpus=cpus,
        tasks=cpus,
        # By CPU where that is even: shares of nodes are rounded up.
        memory_per_cpu_mb=None if memory_mb % cpus else memory_mb // cpus,
        memory_in_all_mb=memory_mb,
        gpus_in_all=asked.gpus_in_all if has_gpus else None,
        exclusive=is_whole,
    )


def _kinds(partitions: Collection[str], cluster: Cluster) -> tuple[Mapping[str, Kind], str]:
    """The classes of a scenario's own nodes that a job may run on."""
    own = cluster.partition_classes(partitions)
    return {
        each.name: Kind(
            int(each.capacity[CORES]),
            round(each.capacity.get(MEMORY, 0.0) * MB_PER_GB),
            int(each.capacity.get(GPUS, 0.0)),
            "",
            (),
        )
        for each in cluster.classes
        if not own or each.name in own
    }, ""
