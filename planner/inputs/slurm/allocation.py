"""Reads on which nodes a job of Slurm's queue runs, and how much of each it has where Slurm says so."""

from __future__ import annotations

from planner.errors import InputError
from planner.inputs.slurm.fields import Fields
from planner.inputs.slurm.job import AllocatedNode
from planner.inputs.slurm.tres import parse_gres

Share = tuple[int | None, int | None]
"""CPUs and memory [MB] of a node."""


def read_allocation(row: Fields) -> tuple[AllocatedNode, ...]:
    """The nodes of a job in the order of its host list; none where it has none."""
    names = row.hosts("nodes")
    resources = row.child("job_resources")
    shares: dict[str, Share] = {}
    if resources is not None:
        later = isinstance(resources.values.get("nodes"), dict)
        shares = _later(resources) if later else _of_22_05(row, resources)
    gpus = _gpus(row, len(names))
    return tuple(AllocatedNode(name, *shares.get(name, (None, None)), gpus[k]) for k, name in enumerate(names))


def is_whole(row: Fields) -> bool | None:
    """Whether the job has whole nodes; None where Slurm does not say."""
    resources = row.child("job_resources")
    if resources is None or not isinstance(resources.values.get("nodes"), dict):
        return None
    nodes = resources.child("nodes")
    return nodes.flag("whole") if nodes is not None and "whole" in nodes.values else None


def _gpus(row: Fields, nodes: int) -> list[int | None]:
    """GPUs by node, where Slurm has one text such as ``gpu:4(IDX:0-3)`` for each."""
    texts = row.words("gres_detail")
    if len(texts) != nodes:
        return [None] * nodes
    try:
        return [parse_gres(text).gpus for text in texts]
    except InputError as error:
        raise row.wrong("gres_detail", "texts such as gpu:4(IDX:0-3)") from error


def _later(resources: Fields) -> dict[str, Share]:
    nodes = resources.child("nodes")
    found: dict[str, Share] = {}
    for each in nodes.children("allocation") if nodes is not None else ():
        cpus, memory = each.child("cpus"), each.child("memory")
        found[each.text("name")] = (
            None if cpus is None else cpus.positive("count"),
            None if memory is None else memory.positive("allocated"),
        )
    return found


def _of_22_05(row: Fields, resources: Fields) -> dict[str, Share]:
    """Slurm 22.05 lists the cores of each node; a core is as many CPUs as the totals say."""
    cores, cpus = resources.positive("allocated_cores"), row.positive("cpus")
    threads = cpus // cores if cores and cpus and cpus % cores == 0 else 0
    return {
        each.text("nodename"): (_cores(each) * threads or None, each.positive("memory_allocated"))
        for each in resources.children("allocated_nodes")
    }


def _cores(node: Fields) -> int:
    """Allocated cores of a node; 0 where they are listed in another way."""
    sockets = node.values.get("sockets")
    count = 0
    for socket in sockets.values() if isinstance(sockets, dict) else ():
        cores = socket.get("cores") if isinstance(socket, dict) else None
        for state in cores.values() if isinstance(cores, dict) else ():
            count += isinstance(state, str) and state.lower().startswith("allocated")
    return count
