"""Jobs of Slurm that have started: those that run, and those that have ended since, as far as Slurm says where.

What Slurm says of the past need not add up: accounts have the sum over all nodes only, and some sites let jobs share
what they have. So a job holds no more of a node than others leave.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.domain.cluster import CORES
from planner.domain.job import UnitGroup
from planner.domain.situation import StartedJob
from planner.inputs.slurm.job import AllocatedNode, SlurmJob
from planner.inputs.slurm.node_classes import SlurmMachine
from planner.inputs.slurm.node_units import amounts_of
from planner.limits import YEAR_S
from planner.power.learned import Asked, PowerModel

FOR_EVER = 2**62

COMPLETING_S = 60
"""How long the nodes of a job that completes are expected to be busy still [s].

What its processes need to end, and the epilog. Slurm drains a node where they have not ended after its
UnkillableStepTimeout, 60 s unless the site says otherwise.
"""


def has_started(job: SlurmJob) -> bool:
    """Whether Slurm says since when and on which nodes a job runs or ran."""
    return job.start_unix is not None and bool(job.allocated)


def started_jobs(
    ran: Sequence[SlurmJob], machine: SlurmMachine, power: PowerModel, moment_unix: int
) -> tuple[tuple[StartedJob, ...], Counter[str]]:
    """The same in the planner's types, in order of start, and how many were changed or left out, by reason.

    Jobs on nodes of which none is planned are not counted.
    """
    told: Counter[str] = Counter()
    room = _Room(machine)
    found = []
    for each in sorted(ran, key=_key):
        here = [node for node in _shares(each) if node.name in machine.numbers]
        if not here:
            continue
        job = _started(each, here, machine, power, moment_unix, room, told)
        if job is not None:
            found.append(job)
    return tuple(sorted(found, key=lambda each: (each.start_unix, *each.job.submission_key))), told


def _started(
    ran: SlurmJob,
    nodes: Sequence[AllocatedNode],
    machine: SlurmMachine,
    power: PowerModel,
    moment_unix: int,
    room: _Room,
    told: Counter[str],
) -> StartedJob | None:
    # Clocks of hosts differ a little: nothing has started or ended after the moment.
    assert ran.start_unix is not None
    start, ended = min(ran.start_unix, moment_unix), _end_unix(ran)
    end = None if ended is None else max(start, min(ended, moment_unix))
    until = FOR_EVER if end is None else end
    kinds = [kind for kind, _ in machine.classes.values()]
    groups: dict[tuple[tuple[str, float], ...], list[int]] = defaultdict(list)
    cut = False
    for node in nodes:
        number = machine.numbers[node.name]
        wanted = amounts_of(node.cpus or 1, node.memory_mb, node.gpus, kinds)
        held = room.take(number, start, until, wanted)
        if not held.get(CORES):
            told["left out: others have all of their nodes"] += 1
            return None
        cut = cut or held != wanted
        groups[tuple(held.items())].append(number)
    if cut:
        told["hold less than Slurm says: others have the rest of their nodes"] += 1
    units = tuple(UnitGroup.of(len(members), dict(amounts)) for amounts, members in groups.items())
    limit_s = max(1, ran.limit_s or (YEAR_S if end is None else end - start))
    asked = Asked(ran.label, units, limit_s, ran.user, ran.account, ran.name, ran.partition)
    power_w = power(asked)
    if ran.is_completing:
        asked = replace(asked, requested_s=moment_unix - start + COMPLETING_S)
    job = asked.job(min(ran.submit_unix, start), power_w, deadline_unix=ran.deadline_unix, qos=ran.qos)
    return StartedJob(
        job,
        start,
        tuple(number for members in groups.values() for number in members),
        end,
        cancelled=ran.is_cancelled and end is not None,
    )


def _end_unix(job: SlurmJob) -> int | None:
    """When a job ended; None: it runs. One that has ended with no time for it had none."""
    return None if job.state == "running" else job.end_unix or job.start_unix


def _key(job: SlurmJob) -> tuple[object, ...]:
    """Running jobs first, of these the ones that complete last, then in order of start."""
    return _end_unix(job) is not None, job.is_completing, job.start_unix, job.submit_unix, job.label


def _shares(job: SlurmJob) -> tuple[AllocatedNode, ...]:
    """Its nodes with what it has of each: as Slurm says, else an even share of what is left of the sums."""
    cpus = _even_share(job.had.cpus, [each.cpus for each in job.allocated])
    memory_mb = _even_share(job.had.memory_mb, [each.memory_mb for each in job.allocated])
    gpus = _even_share(job.had.gpus, [each.gpus for each in job.allocated])
    return tuple(
        AllocatedNode(
            each.name,
            each.cpus or max(1, cpus),
            each.memory_mb or memory_mb or None,
            gpus if each.gpus is None else each.gpus,
        )
        for each in job.allocated
    )


def _even_share(in_all: int | None, known: Sequence[int | None]) -> int:
    """What each node has of a sum of which Slurm says the part of some; 0 where all say it, or nothing is left."""
    open_parts = sum(each is None for each in known)
    left = (in_all or 0) - sum(each or 0 for each in known)
    return max(0, math.ceil(left / open_parts)) if open_parts else 0


class _Room:
    """What jobs hold of nodes, and when."""

    def __init__(self, machine: SlurmMachine) -> None:
        self._capacity = [kind.capacity for kind, count in machine.classes.values() for _ in range(count)]
        self._held: dict[int, list[tuple[int, int, Mapping[str, float]]]] = defaultdict(list)

    def take(self, node: int, start: int, end: int, wanted: Mapping[str, float]) -> dict[str, float]:
        """As much of what is wanted as the node has left at every second of a stretch; it is held from now on."""
        taken = {
            name: min(amount, self._capacity[node].get(name, 0.0) - self._peak(node, start, end, name))
            for name, amount in wanted.items()
        }
        taken = {name: round(amount, 3) for name, amount in taken.items() if amount >= 0.001}
        if taken.get(CORES):
            self._held[node].append((start, max(end, start + 1), taken))
        return taken

    def _peak(self, node: int, start: int, end: int, name: str) -> float:
        held = [each for each in self._held[node] if each[0] < max(end, start + 1) and start < each[1]]
        moments = [max(start, begins) for begins, _, _ in held]
        return max(
            (sum(amounts.get(name, 0.0) for begins, ends, amounts in held if begins <= at < ends) for at in moments),
            default=0.0,
        )
