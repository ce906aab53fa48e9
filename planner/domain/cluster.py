"""The machine: classes of equal nodes, and the site's power limit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from planner import limits
from planner.errors import InputError
from planner.printable import shortened
from planner.units import MILLI

CORES = "cores"
_NAME = re.compile(r"[^\s,\[\]]+")
_NUMBERED = re.compile(r"(.*?)(\d{0,9})", re.ASCII)


@dataclass(frozen=True)
class NodeClass:
    """Nodes of equal capacity.

    ``idle_w`` is what a node draws while nothing runs on it [W]; a node in use draws what its jobs draw, and on top of
    it ``idle_w`` where the power of jobs does not include that (`Cluster.idle_rule`). ``sleep_w`` is what it draws when
    it is off for want of work; None: it stays on. ``nodes`` are the names of the nodes, one for each; empty: the name
    of the class and a number.
    """

    name: str
    count: int
    capacity: Mapping[str, float]
    idle_w: float = 0.0
    nodes: tuple[str, ...] = field(default_factory=tuple)
    sleep_w: float | None = field(default_factory=lambda: None)

    def __post_init__(self) -> None:
        limits.NODES.require(f"the count of node class {self.name!r}", self.count)
        if not self.capacity.get(CORES, 0) > 0:
            raise InputError(f"node class {self.name!r} has no cores; give its capacity, such as cores: 32")
        for resource, amount in self.capacity.items():
            limits.NODE_AMOUNT.require(f"node class {self.name!r}: its {resource}", amount)
        limits.IDLE_W.require(f"node class {self.name!r}: its idle power", self.idle_w)
        if self.sleep_w is not None and not 0 <= self.sleep_w <= self.idle_w:
            raise InputError(
                f"node class {self.name!r}: asleep it draws {self.sleep_w:g} W; it must be from 0 to its idle power,"
                f" {self.idle_w:g} W"
            )
        if self.nodes and len(self.nodes) != self.count:
            raise InputError(f"node class {self.name!r} has {self.count} nodes and {len(self.nodes)} names of nodes")
        odd = next((name for name in self.nodes if not _NAME.fullmatch(name)), None)
        if odd is not None:
            raise InputError(f"a node of class {self.name!r} is called {odd!r}; use no spaces, commas and brackets")


@dataclass(frozen=True)
class IdleRule:
    """When nodes draw idle power, and when those that can sleep do.

    ``included``: the power of jobs includes the idle power of their nodes. A node without work sleeps after ``after_s``
    and is awake again when its next job starts, having taken ``wake_s`` for it at its idle power; every node is awake
    at midnight.
    """

    included: bool = True
    after_s: int = 0
    wake_s: int = 0

    def __post_init__(self) -> None:
        limits.NODE_SLEEP_S.require("the time after which nodes sleep", self.after_s)
        limits.NODE_SLEEP_S.require("the time that nodes take to wake up", self.wake_s)


@dataclass(frozen=True)
class Cluster:
    """All nodes, numbered from 0 in class order, in which they are tried, with the site's limits.

    ``power_limit_w`` caps the power of all running jobs together [W]. ``partitions`` are names under which jobs ask for
    nodes, each with the names of its node classes.
    """

    classes: tuple[NodeClass, ...]
    power_limit_w: float | None = None
    partitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    idle_rule: IdleRule = field(default_factory=IdleRule)

    def __post_init__(self) -> None:
        if not self.classes:
            raise InputError("the cluster has no node classes; give at least one")
        names = [node_class.name for node_class in self.classes]
        if len(set(names)) < len(names):
            raise InputError(f"node classes share a name: {', '.join(names)}; each needs its own")
        self._require_distinct_nodes()
        for partition, members in self.partitions.items():
            unknown = next((name for name in members if name not in names), None)
            if unknown is not None:
                raise InputError(
                    f"partition {partition!r} has a node class {unknown!r}; the classes are {', '.join(names)}"
                )
            if not members:
                raise InputError(f"partition {partition!r} has no node classes; name at least one")
        if self.power_limit_w is not None:
            limits.POWER_LIMIT_W.require("the power limit", self.power_limit_w)
        limits.CLASSES.require("the number of node classes", len(names))
        limits.NODES.require("the number of all nodes", self.node_count)
        limits.RESOURCES.require("the number of resources", len(self.resources))
        limits.NODE_CELLS.require("the number of nodes times that of resources", self.node_count * len(self.resources))
        for resource in self.resources:
            limits.TOTAL_AMOUNT.require(f"{resource} of all nodes", self.total(resource))
        limits.ALL_IDLE_W.require("the idle power of all nodes", sum(c.count * c.idle_w for c in self.classes))

    def _require_distinct_nodes(self) -> None:
        seen: set[str] = set()
        for node_class in self.classes:
            for name in node_class.nodes:
                if name in seen or self._generated_number(name) is not None:
                    raise InputError(f"two nodes are called '{shortened(name, 60)}'; each needs a name of its own")
                seen.add(name)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of all resource types, cores first."""
        names = {name for node_class in self.classes for name in node_class.capacity}
        return (CORES, *sorted(names - {CORES}))

    @cached_property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(node_class.count for node_class in self.classes)

    @cached_property
    def first_nodes(self) -> tuple[int, ...]:
        """Number of the first node of each class, and the node count at the end."""
        return tuple(accumulate((node_class.count for node_class in self.classes), initial=0))

    @cached_property
    def power_limit_mw(self) -> int | None:
        """The power limit in whole milliwatts, rounded as the power of jobs is; None without one."""
        return None if self.power_limit_w is None else round(self.power_limit_w * MILLI)

    def total(self, resource: str) -> float:
        """Capacity of the whole machine in a resource."""
        return sum(c.count * c.capacity.get(resource, 0.0) for c in self.classes)

    def allowed_classes(self, partitions: Iterable[str], node_classes: Iterable[str]) -> tuple[str, ...]:
        """Classes on which a job may run that names partitions and classes, sorted; empty when these are all.

        A job that names no partition, or no class, may run on all of them; InputError when a name is unknown, or when
        nothing is left.
        """
        own, every = tuple(partitions), [node_class.name for node_class in self.classes]
        chosen = tuple(node_classes)
        for what, named, known in (("partition", own, list(self.partitions)), ("node class", chosen, every)):
            unknown = next((name for name in named if name not in known), None)
            if unknown is not None:
                there = f"there are {', '.join(known)}" if known else f"the scenario has no {what}s"
                raise InputError(f"there is no {what} '{shortened(unknown, 60)}'; {there}")
        allowed = {name for partition in own for name in self.partitions[partition]} if own else set(every)
        left = allowed & set(chosen) if chosen else allowed
        if not left:
            raise InputError(
                f"no node of partition {', '.join(own)} is of class {', '.join(chosen)}; correct one of them"
            )
        return () if len(left) == len(every) else tuple(sorted(left))

    def partition_classes(self, partitions: Collection[str]) -> tuple[str, ...]:
        """Classes on which a job of these partitions may run, as in `allowed_classes`; all where one is not known."""
        return self.allowed_classes(partitions if self.partitions.keys() >= set(partitions) else (), ())

    def class_index(self, node: int) -> int:
        """Index of the class that a node belongs to."""
        return bisect_right(self.first_nodes, node) - 1

    def has_nodes_of(self, other: Cluster) -> bool:
        """Whether another cluster has the same nodes in the same order, whatever they are like."""
        names = [[each.node_name(node) for node in range(each.node_count)] for each in (self, other)]
        return names[0] == names[1]

    def node_name(self, node: int) -> str:
        """Name of a node: its own, or its class and its number within the class, from 1, as in ``cpu007``."""
        index = self.class_index(node)
        node_class = self.classes[index]
        if node_class.nodes:
            return node_class.nodes[node - self.first_nodes[index]]
        number = node - self.first_nodes[index] + 1
        return f"{node_class.name}{number:0{self._digits(index)}d}"

    def node_number(self, name: str) -> int:
        """Number of the node of that name; InputError when there is none."""
        node = self._given_names.get(name, self._generated_number(name))
        if node is not None:
            return node
        first = self.classes[0]
        shown = shortened(name, 60)
        named = f"nodes of class {first.name!r} are {self.node_name(0)} to {self.node_name(first.count - 1)}"
        raise InputError(f"there is no node '{shown}'; {named}")

    @cached_property
    def _given_names(self) -> dict[str, int]:
        """Numbers of the nodes that have names of their own."""
        pairs = zip(self.classes, self.first_nodes, strict=False)
        return {name: number for each, first in pairs for number, name in enumerate(each.nodes, start=first)}

    def _generated_number(self, name: str) -> int | None:
        """Number of the node that has this name from its class; None when there is none."""
        for index, node_class in enumerate(self.classes):
            digits = name.removeprefix(node_class.name)
            if node_class.nodes or digits == name or len(digits) != self._digits(index):
                continue
            if digits.isascii() and digits.isdigit() and 1 <= int(digits) <= node_class.count:
                return self.first_nodes[index] + int(digits) - 1
        return None

    def node_list(self, nodes: Iterable[int]) -> str:
        """Names of several nodes in the short form that Slurm uses: ``cpu[001-004,007]``, sorted."""
        parts = []
        wanted = sorted(set(nodes))
        for index, node_class in enumerate(self.classes):
            first, last = self.first_nodes[index], self.first_nodes[index + 1]
            numbers = [node - first + 1 for node in wanted if first <= node < last]
            if node_class.nodes:
                parts += short_names([node_class.nodes[number - 1] for number in numbers])
            elif numbers:
                parts.append(_bracketed(node_class.name, numbers, self._digits(index)))
        return ",".join(parts)

    def _digits(self, index: int) -> int:
        return len(str(self.classes[index].count))


def short_names(names: Iterable[str]) -> list[str]:
    """Names in the short form that Slurm uses; neighbours that differ in a number at their end are put together."""
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        prefix, digits = (match[1], match[2]) if match is not None and match[1] else (name, "")
        if groups and digits and groups[-1][0] == prefix and _alike(groups[-1][1], digits):
            groups[-1][1].append(digits)
        else:
            groups.append((prefix, [digits]))
    return [
        _bracketed(prefix, list(map(int, digits)), min(map(len, digits))) if digits[0] else prefix
        for prefix, digits in groups
    ]


def _alike(before: list[str], digits: str) -> bool:
    """Whether numbers are written alike: all of one length, or none filled up with zeros."""
    is_plain = not any(each.startswith("0") for each in (*before, digits))
    return "" not in before and (is_plain or {len(each) for each in before} == {len(digits)})


def _bracketed(prefix: str, numbers: list[int], digits: int) -> str:
    if len(numbers) == 1:
        return f"{prefix}{numbers[0]:0{digits}d}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return f"{prefix}[{','.join('-'.join(f'{n:0{digits}d}' for n in run) for run in runs)}]"


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
