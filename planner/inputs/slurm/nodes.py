"""Reads Slurm's nodes from ``scontrol show node --json``; in Slurm 22.05, ``sinfo --json`` writes the same list."""

from __future__ import annotations

from dataclasses import dataclass

from planner import limits
from planner.errors import InputError
from planner.inputs.slurm.json_document import Fields, Source, read_document
from planner.inputs.slurm.notations import parse_gres

COMMAND = "scontrol show node --json"
DOWN = frozenset({"DOWN", "ERROR", "FAIL", "FUTURE", "INVALID_REG"})
DRAINING = frozenset({"DRAIN", "DRAINED", "DRAINING"})


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """One node, with the CPUs that jobs can have, and Slurm's words for its state, in capitals and in order."""

    name: str
    cpus: int
    memory_mb: int
    gpus: int = 0
    gpu_type: str = ""
    states: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    @property
    def is_draining(self) -> bool:
        """What runs on it may end, nothing new starts."""
        return not DRAINING.isdisjoint(self.states)

    @property
    def is_down(self) -> bool:
        """Nothing runs on it.

        One that only does not answer, as all do while slurmctld starts, is down for Slurm itself once that lasts.
        """
        return not DOWN.isdisjoint(self.states)


def read_nodes(source: Source) -> tuple[SlurmNode, ...]:
    """Every node, in the order of the document."""
    _, rows = read_document(source, "nodes", COMMAND)
    found: dict[str, SlurmNode] = {}
    for row in rows:
        node = _node(row)
        if node.name in found:
            raise InputError(f"{row.source}: {row.place} is node '{node.name}' again; each may stand there once")
        found[node.name] = node
    if found:
        limits.NODES.require(f"{rows[0].source}: the number of nodes", len(found))
    return tuple(found.values())


def _node(row: Fields) -> SlurmNode:
    name, cpus = row.text("name"), row.whole("effective_cpus") or row.whole("cpus")
    if not name.strip():
        raise row.wrong("name", "the name of a node")
    if cpus is None:
        raise row.wrong("cpus", "a number of CPUs")
    memory = row.whole("real_memory")
    if memory is None:
        raise row.wrong("real_memory", "an amount of memory in MB")
    gres = row.parsed("gres", lambda text: parse_gres(text.removeprefix("(null)")))
    return SlurmNode(
        name=name,
        cpus=cpus,
        memory_mb=memory,
        gpus=gres.gpus,
        gpu_type=gres.gpu_type,
        states=_states(row),
        partitions=row.names("partitions"),
        features=row.names("features"),
    )


def _states(row: Fields) -> tuple[str, ...]:
    """Slurm 22.05 has a word and flags beside it, later versions one list."""
    words = (*row.words("state"), *row.words("state_flags"))
    if not words:
        raise row.wrong("state", "a state such as IDLE")
    return tuple(sorted({part.strip().rstrip("*").upper() for word in words for part in word.split("+")}))
