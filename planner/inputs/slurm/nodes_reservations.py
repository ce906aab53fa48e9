"""Reads Slurm's nodes and reservations, from ``scontrol show node --json`` and ``scontrol show reservation --json``.

In Slurm 22.05, ``sinfo --json`` writes the same list of nodes, and ``scontrol --oneliner show reservation`` writes one
line per reservation: ``ReservationName=maint StartTime=2026-11-16T03:40:17 ... Flags=MAINT,IGNORE_JOBS``. Times of that
are those of the command's zone, which is UTC wherever the planner asks.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from planner import limits
from planner.errors import FileFormatError, InputError
from planner.inputs.slurm.json_document import Fields, Source, content_of, read_document
from planner.inputs.slurm.notations import parse_gres

NODES_COMMAND = "scontrol show node --json"
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
    _, rows = read_document(source, "nodes", NODES_COMMAND)
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


RESERVATIONS_COMMAND = "scontrol show reservation --json"
RESERVATION_TEXT_COMMAND = "scontrol --oneliner show reservation"
NO_RESERVATIONS = "No reservations in the system"
_CELL = re.compile(r"(\S+?)=(\S*)")
_KEYS = {"ReservationName": "name", "Nodes": "node_list", "Flags": "flags"}
_TIMES = {"StartTime": "start_time", "EndTime": "end_time"}


@dataclass(frozen=True, slots=True)
class Reservation:
    """One reservation; ``end_unix`` None: until further notice.

    It has the names of its nodes also where it holds some cores of each, and none where it holds licences only.
    ``flags`` are Slurm's words, in capitals and in order, such as ``MAINT``.
    """

    name: str
    nodes: tuple[str, ...]
    start_unix: int
    end_unix: int | None
    flags: tuple[str, ...] = ()

    @property
    def is_maintenance(self) -> bool:
        """Whether nothing may run on its nodes."""
        return "MAINT" in self.flags


def read_reservations(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the document."""
    return tuple(reservation_of(row) for row in read_document(source, "reservations", RESERVATIONS_COMMAND)[1])


def reservation_of(row: Fields) -> Reservation:
    """The reservation of a row; InputError when its values cannot be."""
    name, start, end = row.text("name"), row.moment("start_time"), row.moment("end_time")
    if not name.strip():
        raise row.wrong("name", "the name of a reservation")
    if start is None:
        raise row.wrong("start_time", "Unix seconds from 1")
    if end is not None and end < start:
        raise InputError(f"{row.source}: {row.place} ends at {end}, before its start at {start}")
    return Reservation(
        name=name,
        nodes=row.hosts("node_list"),
        start_unix=start,
        end_unix=end,
        flags=tuple(sorted({flag.upper() for flag in row.names("flags")})),
    )


def read_reservation_text(source: Source) -> tuple[Reservation, ...]:
    """Every reservation, in the order of the text, which the command has written under ``TZ=UTC``."""
    name, content = content_of(source)
    found = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.strip() and not line.startswith(NO_RESERVATIONS):
            found.append(reservation_of(Fields(name, f"line {number}", _values(name, number, line))))
    return tuple(found)


def _values(name: str, number: int, line: str) -> dict[str, object]:
    cells = {key: "" if value == "(null)" else value for key, value in _CELL.findall(line)}
    values: dict[str, object] = {ours: cells.get(theirs, "") for theirs, ours in _KEYS.items()}
    for theirs, ours in _TIMES.items():
        try:
            moment = dt.datetime.fromisoformat(cells.get(theirs, ""))
        except ValueError as error:
            remedy = f"expected the output of `{RESERVATION_TEXT_COMMAND}`"
            raise FileFormatError(name, f"{theirs} is missing or no time", line=number, remedy=remedy) from error
        values[ours] = int(moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp())
    return values
