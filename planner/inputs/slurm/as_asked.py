"""What a job of Slurm's accounts had asked for, as it was read while it waited: so that jobs that have ended and jobs
that wait are known as alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.domain.cluster import CORES, Cluster
from planner.errors import InputError
from planner.inputs.jobs.unit_shape import MEMORY
from planner.inputs.slurm.job import Request, SlurmJob
from planner.inputs.slurm.machine import GPUS, MB_PER_GB, Kind, Machine
from planner.inputs.slurm.to_domain import on_classes
from planner.inputs.slurm.units import units_of
from planner.power.asked import Asked


def asked_of(job: SlurmJob, whole_cpus: float, cluster: Cluster, machine: Machine | None) -> Asked:
    """The request of a job that ran.

    Parameters
    ----------
    job
        The job, with its nodes.
    whole_cpus
        CPUs that its nodes have in all.
    cluster, machine
        The nodes on which jobs are planned, and the machine of Slurm behind them; None where the scenario has nodes of
        its own.

    Raises
    ------
    InputError
        No such job could be planned: its partition is not planned, or no node can hold it.
    """
    request = _request(job, whole_cpus, has_gpus=GPUS in cluster.resources)
    kinds, why = _kinds(job.partition, cluster) if machine is None else machine.allowed(request, job.partitions)
    if not kinds:
        raise InputError(why)
    classes = on_classes(kinds, [each.name for each in cluster.classes])[0].get("classes", ())
    units = units_of(request, list(kinds.values()))
    return Asked(
        job.label,
        units,
        job.limit_s or 0,
        job.user,
        job.account,
        job.name,
        job.partition,
        classes,
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


def _kinds(partition: str, cluster: Cluster) -> tuple[Mapping[str, Kind], str]:
    """The classes of a scenario's own nodes that a job may run on."""
    own = cluster.allowed_classes((partition,) if partition in cluster.partitions else (), ())
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
