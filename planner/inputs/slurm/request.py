"""Reads what a job of Slurm's queue asks for: nodes, CPUs, memory, GPUs, and nodes by name or feature."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from planner.inputs.slurm.fields import Fields
from planner.inputs.slurm.job import Request
from planner.inputs.slurm.tres import Amounts, Gres, parse_gres, parse_tres

LAST_SHARED_PARSER = 42
"""Data parsers up to v0.0.42 say ``none`` for an exclusive job; later ones leave the list empty for every job."""


@dataclass(frozen=True, slots=True)
class Gpus:
    """GPUs that a job asks for, as far as they can be counted, and what else of generic resources it asks for."""

    per_node: int | None
    in_all: int | None
    kind: str
    others: tuple[str, ...]


def read_request(row: Fields, parser: int | None) -> tuple[Request, tuple[str, ...]]:
    """The request of a job, and the generic resources in it that are no GPUs to be counted.

    Parameters
    ----------
    row
        The job.
    parser
        Number of Slurm's data parser; None where it is not known.
    """
    asked = row.parsed("tres_req_str", parse_tres)
    # `node_count` is what Slurm would give at best: of a range, not the least.
    nodes = asked.nodes or row.positive("node_count") or 1
    most_nodes = row.positive("max_nodes")
    gpus = _gpus(row, asked.gpus or 0, one_node=nodes == 1 and most_nodes == 1)
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
        gpus_per_node=gpus.per_node,
        gpus_in_all=gpus.in_all,
        gpu_type=gpus.kind,
        exclusive=_exclusive(row, parser),
        nodes=row.hosts("required_nodes"),
        excluded_nodes=row.hosts("excluded_nodes"),
        features=row.text("features"),
    )
    return request, gpus.others


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


def _gpus(row: Fields, in_amounts: int, *, one_node: bool) -> Gpus:
    """GPUs by node where that is certain, else in all."""
    per = {key: row.parsed(f"tres_per_{key}", parse_gres) for key in ("node", "job", "task", "socket")}
    kind = ",".join(sorted({each.gpu_type for each in per.values() if each.gpu_type}))
    others = [text for each in per.values() for text in each.others]
    if per["socket"].gpus:
        others.append("GPUs per socket")
    per_node = per["node"].gpus or _of_tasks(per["task"], row.positive("tasks_per_node"))
    in_all = per["job"].gpus or _of_tasks(per["task"], row.positive("tasks"))
    if not per_node and not in_all:
        in_all = in_amounts
    if not per_node and one_node:
        per_node = in_all
    return Gpus(per_node or None, in_all or None, kind, tuple(others))


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
