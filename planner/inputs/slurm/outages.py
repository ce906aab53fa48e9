"""When Slurm's nodes cannot be used: their states, and reservations."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from planner.domain.situation import NodeState, Outage, outage_key
from planner.inputs.slurm.machine import Machine
from planner.inputs.slurm.nodes import DOWN, SlurmNode
from planner.inputs.slurm.reservations import Reservation

UNHEARD = frozenset({"NOT_RESPONDING", "NO_RESPOND", "UNKNOWN"})


def outages_of(
    machine: Machine, reservations: Iterable[Reservation], busy: Collection[int], moment_unix: int
) -> tuple[Outage, ...]:
    """The stretches of time in which nodes take no new work, sorted.

    Parameters
    ----------
    machine
        The nodes, whose states hold from the moment on until further notice.
    reservations
        Nodes that are kept for somebody. Jobs that run in a reservation are not planned, so that for all others its
        nodes are closed.
    busy
        Nodes on which something runs. Nothing can run on a node that is down: such a node drains, whatever Slurm says.
    moment_unix
        The moment.
    """
    found = set()
    for number, node in enumerate(machine.nodes):
        state = _state(node)
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


def _state(node: SlurmNode) -> NodeState | None:
    """The state of a node that takes no new work; None where it does, also where it must be switched on first.

    A node that only does not answer, as all do while slurmctld starts, is down for Slurm itself once that lasts.
    """
    if node.is_draining:
        return "drain"
    return "down" if node.has(*(DOWN - UNHEARD)) else None
