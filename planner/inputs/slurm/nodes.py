"""Reads Slurm's nodes from ``scontrol show node --json``; in Slurm 22.05, ``sinfo --json`` writes the same list."""

from __future__ import annotations

from dataclasses import dataclass

from planner import limits
from planner.errors import InputError
from planner.inputs.slurm.json_document import Fields, Source, read_document
from planner.inputs.slurm.notations import parse_gres

COMMAND = "scontrol show node --json"
DOWN = frozenset({"DOWN", "ERROR", "FAIL", "FUTURE", "INVALID_REG", "NOT_RESPONDING", "NO_RESPOND", "UNKNOWN"})


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """One node.

    Attributes
    ----------
    name
        As Slurm calls it.
    cpus
        CPUs that jobs can have.
    memory_mb
        Memory.
    gpus, gpu_type
        GPUs, and their type where it is said.
    gres
        Other generic resources, as written.
    states
        Slurm's words for its state and the flags beside it, in capitals and in order.
    reason
        Why it is down or drains, in the words of who did it.
    partitions, features
        Partitions that it is in, and features that it has.
    """

    name: str
    cpus: int
    memory_mb: int
    gpus: int = 0
    gpu_type: str = ""
    gres: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    reason: str = ""
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    def has(self, *words: str) -> bool:
        """Whether one of these words is among its states."""
        return any(word in self.states for word in words)

    @property
    def is_down(self) -> bool:
        """Nothing runs on it: it is down, does not respond, or is not there yet."""
        return bool(DOWN & set(self.states))

    @property
    def is_draining(self) -> bool:
        """What runs on it may end, nothing new starts."""
        return self.has("DRAIN", "DRAINED", "DRAINING")


def read_nodes(source: Source) -> tuple[SlurmNode, ...]:
    """Every node, in the order of the document.

    Parameters
    ----------
    source
        A file with the output of ``scontrol show node --json``, or that output.

    Raises
    ------
    InputError
        A value cannot be what it should be, or a node stands there twice.
    """
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
    gres = row.parsed("gres", lambda text: parse_gres(text.removeprefix("(null)"), bare=True))
    return SlurmNode(
        name=name,
        cpus=cpus,
        memory_mb=memory,
        gpus=gres.gpus,
        gpu_type=gres.gpu_type,
        gres=gres.others,
        states=_states(row),
        reason=row.text("reason"),
        partitions=row.names("partitions"),
        features=row.names("features"),
    )


def _states(row: Fields) -> tuple[str, ...]:
    """Slurm 22.05 has a word and flags beside it, later versions one list."""
    words = (*row.words("state"), *row.words("state_flags"))
    if not words:
        raise row.wrong("state", "a state such as IDLE")
    return tuple(sorted({part.strip().rstrip("*").upper() for word in words for part in word.split("+")}))
