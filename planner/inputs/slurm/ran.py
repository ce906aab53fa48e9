"""Jobs of Slurm that have started: those that run, and those that have ended since, as far as Slurm says where.

What Slurm says of the past need not add up: accounts have the sum over all nodes only, and some sites let jobs share
what they have. So a job holds no more of a node than others leave.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.bounds import YEAR_S
from planner.domain.cluster import CORES
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import StartedJob
from planner.inputs.slurm.accounting import AccountedJob
from planner.inputs.slurm.job import AllocatedNode, QueuedJob
from planner.inputs.slurm.machine import Machine
from planner.inputs.slurm.units import amounts_of
from planner.power.asked import Asked, PowerModel

FOR_EVER = 2**62

COMPLETING_S = 60
"""How long the nodes of a job that completes are expected to be busy still [s].

What its processes need to end, and the epilog. Slurm drains a node where they have not ended after its
UnkillableStepTimeout, 60 s unless the site says otherwise.
"""


@dataclass(frozen=True)
class Ran:
    """A job that has started, whatever document says so; ``end_unix`` None: it runs.

    ``completing``: it has ended, but its nodes are not free yet.
    """

    label: str
    name: str
    user: str
    account: str
    partition: str
    submit_unix: int
    start_unix: int
    end_unix: int | None
    limit_s: int | None
    deadline_unix: int | None
    nodes: tuple[AllocatedNode, ...]
    cancelled: bool = False
    completing: bool = False
    qos: str = ""

    @property
    def key(self) -> tuple[bool, bool, int, int, str]:
        """Running jobs first, of these the ones that complete last, then in order of start."""
        return self.end_unix is not None, self.completing, self.start_unix, self.submit_unix, self.label


def of_queue(job: QueuedJob) -> Ran | None:
    """A job of the queue that runs or has ended; None where Slurm does not say since when or on which nodes."""
    if job.start_unix is None or not job.allocated:
        return None
    runs = job.state == "running"
    count = len(job.allocated)
    cpus = math.ceil((job.request.cpus or count) / count)
    memory = math.ceil(job.request.memory_in_all_mb / count) if job.request.memory_in_all_mb else None
    gpus = job.request.gpus_per_node or math.ceil((job.request.gpus_in_all or 0) / count)
    nodes = tuple(
        AllocatedNode(each.name, each.cpus or cpus, each.memory_mb or memory, gpus if each.gpus is None else each.gpus)
        for each in job.allocated
    )
    return Ran(
        job.label,
        job.name,
        job.user,
        job.account,
        ",".join(job.partitions),
        job.submit_unix,
        job.start_unix,
        None if runs else job.end_unix or job.start_unix,
        job.limit_s,
        job.deadline_unix,
        nodes,
        cancelled="CANCELLED" in job.state_words,
        completing=job.is_completing,
        qos=job.qos,
    )


def of_accounts(job: AccountedJob) -> Ran | None:
    """A job of the accounts; None where it never ran."""
    if job.start_unix is None or not job.nodes:
        return None
    count = len(job.nodes)
    share = AllocatedNode(
        "",
        math.ceil((job.cpus or count) / count),
        math.ceil(job.memory_mb / count) if job.memory_mb else None,
        math.ceil((job.gpus or 0) / count),
    )
    return Ran(
        job.label,
        job.name,
        job.user,
        job.account,
        job.partition,
        job.submit_unix,
        job.start_unix,
        job.end_unix,
        job.limit_s,
        None,
        tuple(AllocatedNode(name, share.cpus, share.memory_mb, share.gpus) for name in job.nodes),
        cancelled="CANCELLED" in job.state,
    )


def started_jobs(
    ran: Sequence[Ran], machine: Machine, power: PowerModel, moment_unix: int
) -> tuple[tuple[StartedJob, ...], Counter[str]]:
    """The same in the planner's types, in order of start, and how many were changed or left out, by reason.

    Jobs on nodes of which none is planned are not counted.
    """
    told: Counter[str] = Counter()
    room = _Room(machine)
    found = []
    for each in sorted(ran, key=lambda each: each.key):
        here = [node for node in each.nodes if node.name in machine.numbers]
        if not here:
            continue
        job = _started(each, here, machine, power, moment_unix, room, told)
        if job is not None:
            found.append(job)
    return tuple(sorted(found, key=lambda each: (each.start_unix, *each.job.submission_key))), told


def _started(
    ran: Ran,
    nodes: Sequence[AllocatedNode],
    machine: Machine,
    power: PowerModel,
    moment_unix: int,
    room: _Room,
    told: Counter[str],
) -> StartedJob | None:
    # Clocks of hosts differ a little: nothing has started or ended after the moment.
    start = min(ran.start_unix, moment_unix)
    end = None if ran.end_unix is None else max(start, min(ran.end_unix, moment_unix))
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
    job = Job(
        id=ran.label,
        submit_unix=min(ran.submit_unix, start),
        requested_s=moment_unix - start + COMPLETING_S if ran.completing else limit_s,
        units=units,
        power_w=power(Asked(ran.label, units, limit_s, ran.user, ran.account, ran.name, ran.partition)),
        account=ran.account,
        user=ran.user,
        name=ran.name,
        deadline_unix=ran.deadline_unix,
        qos=ran.qos,
        partition=ran.partition,
    )
    return StartedJob(
        job,
        start,
        tuple(number for members in groups.values() for number in members),
        end,
        cancelled=ran.cancelled and end is not None,
    )


class _Room:
    """What jobs hold of nodes, and when."""

    def __init__(self, machine: Machine) -> None:
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
