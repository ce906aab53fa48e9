"""Reads what a job of Slurm asks for, and on which nodes it runs with how much of each."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from planner.errors import InputError
from planner.inputs.slurm.job import AllocatedNode, Request
from planner.inputs.slurm.json_document import Fields
from planner.inputs.slurm.notations import Amounts, Gres, parse_gres, parse_tres

LAST_SHARED_PARSER = 42
"""Data parsers up to v0.0.42 say ``none`` for an exclusive job; later ones leave the list empty for every job."""
Share = tuple[int | None, int | None]
"""CPUs and memory [MB] of a node."""


def read_request(row: Fields, parser: int | None) -> tuple[Request, tuple[str, ...]]:
    """The request of a job, and the generic resources in it that are no GPUs to be counted.

    ``parser`` is the number of Slurm's data parser; None where it is not known.
    """
    asked = row.parsed("tres_req_str", parse_tres)
    # `node_count` is what Slurm would give at best: of a range, not the least.
    nodes = asked.nodes or row.positive("node_count") or 1
    most_nodes = row.positive("max_nodes")
    per = {key: row.parsed(f"tres_per_{key}", parse_gres) for key in ("node", "job", "task", "socket")}
    others = [text for each in per.values() for text in each.others]
    if per["socket"].gpus:
        others.append("GPUs per socket")
    gpus_per_node, gpus_in_all = _gpus(per, row, asked.gpus or 0, one_node=nodes == 1 and most_nodes == 1)
    request = Request(
        min_nodes=nodes,
        max_nodes=most_nodes,
        cpus=row.positive("cpus") or asked.cpus or None,
        tasks=row.positive("tasks"),
        cpus_per_task=row.positive("cpus_per_task") or 1,
        tasks_per_node=row.positive("tasks_per_node"),
        min_cpus_per_node=row.positive("minimum_cpus_per_node"),
        memory_per_node_mb=row.positive("memory_per_node"),
        memory_per_cpu_mb=row.positive("memory_per_cpu"),
        memory_in_all_mb=asked.memory_mb or None,
        gpus_per_node=gpus_per_node,
        gpus_in_all=gpus_in_all,
        gpu_type=",".join(sorted({each.gpu_type for each in per.values() if each.gpu_type})),
        exclusive=_exclusive(row, parser),
        nodes=row.hosts("required_nodes"),
        excluded_nodes=row.hosts("excluded_nodes"),
        features=row.text("features"),
    )
    return request, tuple(others)


def accounted_request(asked: Amounts, nodes: int, command: str) -> Request:
    """The request of a job of the accounts, which have sums over all nodes, and the command that submitted it."""
    return Request(
        min_nodes=asked.nodes or nodes or 1,
        cpus=asked.cpus,
        memory_in_all_mb=asked.memory_mb,
        gpus_in_all=asked.gpus,
        exclusive=True if is_exclusive_command(command) else None,
    )


def is_exclusive_command(line: str) -> bool:
    """Whether a command that submits a job asks for whole nodes; what its script asks for is not in it."""
    if "--exclusive" not in line:
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if "--wrap" in words:
        words = words[: words.index("--wrap")]
    return any(word == "--exclusive" or word.startswith("--exclusive=") for word in words)


def _gpus(per: Mapping[str, Gres], row: Fields, in_amounts: int, *, one_node: bool) -> tuple[int | None, int | None]:
    """GPUs by node where that is certain, else in all."""
    per_node = per["node"].gpus or _of_tasks(per["task"], row.positive("tasks_per_node"))
    in_all = per["job"].gpus or _of_tasks(per["task"], row.positive("tasks"))
    if not per_node and not in_all:
        in_all = in_amounts
    if not per_node and one_node:
        per_node = in_all
    return per_node or None, in_all or None


def _of_tasks(each: Gres, tasks: int | None) -> int:
    return each.gpus * tasks if tasks else 0


def _exclusive(row: Fields, parser: int | None) -> bool | None:
    shared = {word.lower() for word in row.words("shared")}
    if shared & {"none", "user", "mcs", "topo"}:
        return True
    if is_exclusive_command(row.text("submit_line")):
        return True
    if shared or ("shared" in row.values and row.values["shared"] is None):
        return False
    return False if parser is not None and parser <= LAST_SHARED_PARSER else None


def read_allocation(row: Fields) -> tuple[AllocatedNode, ...]:
    """The nodes of a job in the order of its host list; none where it has none."""
    names = row.hosts("nodes")
    resources = row.child("job_resources")
    shares: dict[str, Share] = {}
    if resources is not None:
        later = isinstance(resources.values.get("nodes"), dict)
        shares = _later(resources) if later else _of_22_05(row, resources)
    gpus = _gpus_by_node(row, len(names))
    return tuple(AllocatedNode(name, *shares.get(name, (None, None)), gpus[k]) for k, name in enumerate(names))


def is_whole(row: Fields) -> bool | None:
    """Whether the job has whole nodes; None where Slurm does not say."""
    resources = row.child("job_resources")
    if resources is None or not isinstance(resources.values.get("nodes"), dict):
        return None
    nodes = resources.child("nodes")
    return nodes.flag("whole") if nodes is not None and "whole" in nodes.values else None


def _gpus_by_node(row: Fields, nodes: int) -> list[int | None]:
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
    """Slurm 22.05 lists the cores of each node; a core is as many CPUs as all of them are.

    It may list the first node alone. Then `allocated_cores` counts, though of a job with whole nodes that is what was
    asked for.
    """
    nodes = [(each, _cores(each)) for each in resources.children("allocated_nodes")]
    is_whole_list = len(nodes) == len(row.hosts("nodes"))
    cores = sum(count for _, count in nodes) if is_whole_list else resources.positive("allocated_cores")
    cpus = row.positive("cpus")
    threads = cpus // cores if cores and cpus and cpus % cores == 0 else 0
    return {
        each.text("nodename"): (count * threads or None, each.positive("memory_allocated")) for each, count in nodes
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
