"""The machine behind Slurm's nodes: nodes that are alike become a class, each keeps its name in Slurm, and some cannot
be used for a while."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.domain.job import counting_key
from planner.domain.situation import NodeState, Outage, outage_key
from planner.errors import InputError
from planner.inputs.jobs.unit_groups import MEMORY
from planner.inputs.slurm.job import Request
from planner.inputs.slurm.nodes_reservations import Reservation, SlurmNode
from planner.scenario.cluster_slurm import SlurmSection

GPUS = "gpus"
MB_PER_GB = 1000
"""Slurm counts in whole MB, the planner in thousandths of a GB: so nothing is lost."""
MOST_BY_FEATURE = 50
"""Classes beyond which nodes are not told apart by their features: some sites give every rack its own."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Kind:
    """What the nodes of a class have in common."""

    cpus: int
    memory_mb: int
    gpus: int
    gpu_type: str
    partitions: tuple[str, ...]
    features: tuple[str, ...] = ()

    @property
    def capacity(self) -> dict[str, float]:
        """What a node has of each resource."""
        found = {CORES: float(self.cpus), MEMORY: self.memory_mb / MB_PER_GB, GPUS: float(self.gpus)}
        return {name: amount for name, amount in found.items() if amount}

    @property
    def plainness(self) -> tuple[object, ...]:
        """Sorts classes so that those come first whose nodes have the least of what others lack."""
        return self.gpus, self.memory_mb / self.cpus, self.cpus, self.gpu_type, self.partitions, self.features


@dataclass(frozen=True)
class SlurmMachine:
    """Slurm's nodes as the planner numbers them, and the classes in their order, with how many nodes each has.

    ``planned`` are the partitions whose jobs are planned. Classes tell nodes apart by their features if ``by_feature``.
    ``left_out`` nodes are in no partition that is planned.
    """

    nodes: tuple[SlurmNode, ...]
    classes: Mapping[str, tuple[Kind, int]]
    planned: frozenset[str]
    by_feature: bool
    left_out: int = 0

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of each node by its name in Slurm."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _members(self) -> dict[str, frozenset[str]]:
        """Names of the nodes of each class."""
        found, first = {}, 0
        for name, (_, count) in self.classes.items():
            found[name] = frozenset(node.name for node in self.nodes[first : first + count])
            first += count
        return found

    def cluster(self, written: Cluster, chosen: SlurmSection) -> Cluster:
        """The cluster that the classes make, with the limits and the idle power that a scenario gives."""
        made: list[NodeClass] = []
        for name, (kind, count) in self.classes.items():
            names = [node.name for node in self.nodes if node.name in self._members[name]]
            assert len(names) == count
            made.append(NodeClass(name, count, kind.capacity, chosen.idle_w, tuple(names), chosen.sleep_w))
        return Cluster(tuple(made), written.power_limit_w, idle_rule=written.idle_rule)

    def allowed(self, request: Request, partitions: Sequence[str]) -> tuple[dict[str, Kind], str]:
        """The classes that a job may run on, and why there are none."""
        wanted = set(partitions) & self.planned
        found = {name: kind for name, (kind, _) in self.classes.items() if wanted & set(kind.partitions)}
        if not found:
            return {}, f"its partition is not planned ({', '.join(sorted(partitions)) or 'none is said'})"
        if request.nodes:
            return {}, "it must have nodes that it names"
        if request.gpu_type:
            types = set(request.gpu_type.split(","))
            found = {name: kind for name, kind in found.items() if set(kind.gpu_type.split(",")) & types}
        if request.features:
            if not self.by_feature or not re.fullmatch(r"[\w.:-]+(?:(?:&[\w.:-]+)*|(?:\|[\w.:-]+)*)", request.features):
                return {}, f"it needs nodes with features that are not told apart ({request.features})"
            found = {name: kind for name, kind in found.items() if _has(kind.features, request.features)}
        excluded = frozenset(request.excluded_nodes)
        found = {name: kind for name, kind in found.items() if not self._members[name] <= excluded}
        return found, "" if found else "no node is of the kind that it asks for"


def machine_of(nodes: Sequence[SlurmNode], partitions: Sequence[str] = ()) -> SlurmMachine:
    """The machine of the nodes that are in some partition; ``partitions`` are those that are planned, all by default.

    InputError where a partition has no nodes, or no node is left.
    """
    known = {name for node in nodes for name in node.partitions}
    for name in partitions:
        if name not in known:
            raise InputError(
                f"slurm.partitions: no node is in {name!r}; there are {', '.join(sorted(known)) or 'none'}"
            )
    wanted = set(partitions) or known
    kept = [node for node in nodes if wanted & set(node.partitions) and node.cpus]
    if not kept:
        raise InputError("Slurm has no node in any partition, so that there is nothing to plan on")
    kinds = _by_kind(kept, by_feature=True)
    by_feature = len(kinds) <= MOST_BY_FEATURE
    if not by_feature:
        kinds = _by_kind(kept, by_feature=False)
    ordered = sorted(kinds, key=lambda kind: kind.plainness)
    classes: dict[str, tuple[Kind, int]] = {}
    for kind in ordered:
        classes[_name(kind, ordered, classes)] = kind, len(kinds[kind])
    return SlurmMachine(
        tuple(node for kind in ordered for node in kinds[kind]),
        classes,
        frozenset(wanted),
        by_feature,
        len(nodes) - len(kept),
    )


def _by_kind(nodes: Sequence[SlurmNode], *, by_feature: bool) -> dict[Kind, list[SlurmNode]]:
    """Nodes of each kind, sorted as people count them: n2 before n10."""
    found: dict[Kind, list[SlurmNode]] = defaultdict(list)
    for node in sorted(nodes, key=lambda node: (counting_key(node.name), node.name)):
        features = tuple(sorted(node.features)) if by_feature else ()
        partitions = tuple(sorted(node.partitions))
        found[Kind(node.cpus, node.memory_mb, node.gpus, node.gpu_type, partitions, features)].append(node)
    return found


def _name(kind: Kind, kinds: Sequence[Kind], taken: Iterable[str]) -> str:
    """The partitions of a class, with its size where several have the same; never a digit at its end, so that no two
    nodes can have the same name."""
    name = _NOT_IN_NAMES.sub("-", "-".join(kind.partitions))[:60]
    if sum(each.partitions == kind.partitions for each in kinds) > 1:
        gpus = f"-{kind.gpus}gpu" if kind.gpus else ""
        name = f"{name}-{kind.cpus}c-{round(kind.memory_mb / MB_PER_GB)}g{gpus}"
    name = name if name[:1].isalpha() else f"p-{name}"
    number, tried = 1, name
    while _ended(tried) in taken:
        number += 1
        tried = f"{name}-{number}"
    return _ended(tried)


def _ended(name: str) -> str:
    return f"{name}_" if name[-1].isdigit() else name


def _has(features: Sequence[str], wanted: str) -> bool:
    words = re.split(r"[&|]", wanted)
    return any(word in features for word in words) if "|" in wanted else all(word in features for word in words)


def outages_of(
    machine: SlurmMachine, reservations: Iterable[Reservation], busy: Collection[int], moment_unix: int
) -> tuple[Outage, ...]:
    """The stretches of time in which nodes take no new work, sorted.

    The states of nodes hold from the moment on until further notice. Nothing can run on a node that is down: one that
    is ``busy`` drains, whatever Slurm says. Jobs that run in a reservation are not planned, so that for all others its
    nodes are closed.
    """
    found = set()
    for number, node in enumerate(machine.nodes):
        state = _closed_as(node)
        if state is not None:
            found.add(Outage(number, moment_unix, None, "drain" if number in busy else state))
    for each in reservations:
        if each.end_unix is not None and each.end_unix <= max(moment_unix, each.start_unix):
            continue
        for name in each.nodes:
            reserved = machine.numbers.get(name)
            if reserved is not None:
                is_closed = each.is_maintenance and not (reserved in busy and each.start_unix <= moment_unix)
                found.add(Outage(reserved, each.start_unix, each.end_unix, "maintenance" if is_closed else "drain"))
    return tuple(sorted(found, key=outage_key))


def _closed_as(node: SlurmNode) -> NodeState | None:
    """The state of a node that takes no new work; None where it does, also where it must be switched on first."""
    if node.is_draining:
        return "drain"
    return "down" if node.is_down else None
