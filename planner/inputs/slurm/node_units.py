"""Jobs of Slurm as units on nodes: what a job asks for, on those that it may run on, and what started jobs hold.

The request of a job that has ended is read as while it waited, so that both are known as alike. What Slurm says of the
past need not add up: accounts have the sum over all nodes only, and some sites let jobs share what they have. So a
started job holds no more of a node than others leave.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from planner.domain.cluster import CORES, Cluster
from planner.domain.job import UnitGroup
from planner.domain.situation import StartedJob
from planner.errors import InputError
from planner.inputs.jobs.unit_groups import MEMORY
from planner.inputs.slurm.job import AllocatedNode, Request, SlurmJob
from planner.inputs.slurm.node_classes import GPUS, MB_PER_GB, Kind, SlurmMachine
from planner.limits import YEAR_S
from planner.power.learned import Asked, PowerModel


def units_of(request: Request, kinds: Collection[Kind]) -> tuple[UnitGroup, ...]:
    """The units that a waiting job needs: one on each node, as few nodes as it asks for and its tasks fit on.

    Tasks are spread evenly. A job that wants whole nodes asks for all cores of the smallest kind that it fits on.
    InputError where it fits on no number of nodes; says why.
    """
    tasks, cpus_per_task = _tasks(request)
    nodes = _nodes(request, tasks, cpus_per_task, kinds)
    gpus = [0] * nodes
    if request.gpus_per_node:
        gpus = [request.gpus_per_node] * nodes
    elif request.gpus_in_all:
        gpus = _spread(request.gpus_in_all, nodes)
    found = Counter(
        _unit_amounts(request, max(count * cpus_per_task, request.min_cpus_per_node or 1), of_gpus, nodes, kinds)
        for count, of_gpus in zip(_spread(tasks, nodes), gpus, strict=True)
    )
    return tuple(UnitGroup.of(count, dict(amounts)) for amounts, count in found.items())


def _tasks(request: Request) -> tuple[int, int]:
    """Tasks and CPUs of each; Slurm 22.05 says the latter by the number of all CPUs only."""
    tasks = request.tasks or request.min_nodes
    cpus = request.cpus or tasks
    return tasks, max(request.cpus_per_task, math.ceil(cpus / tasks))


def _nodes(request: Request, tasks: int, cpus_per_task: int, kinds: Collection[Kind]) -> int:
    """The least number of nodes that all tasks, with memory by CPU, and GPUs fit on."""
    most_cpus, most_gpus = max(kind.cpus for kind in kinds), max(kind.gpus for kind in kinds)
    if most_cpus < cpus_per_task:
        raise InputError(f"a task of it needs {cpus_per_task} CPUs, more than any node has")
    on_a_node = min(max(_tasks_of(kind, request, cpus_per_task) for kind in kinds), request.tasks_per_node or tasks)
    if not on_a_node:
        needed = cpus_per_task * (request.memory_per_cpu_mb or 0)
        raise InputError(f"a task of it needs {needed} MB, more than any node has")
    nodes = max(request.min_nodes, math.ceil(tasks / on_a_node))
    if request.gpus_in_all and not request.gpus_per_node:
        if not most_gpus:
            raise InputError("it needs GPUs, which no node has")
        nodes = max(nodes, math.ceil(request.gpus_in_all / most_gpus))
    if request.max_nodes is not None and nodes > request.max_nodes:
        raise InputError(f"it needs {nodes} nodes and asks for at most {request.max_nodes}")
    return nodes


def _tasks_of(kind: Kind, request: Request, cpus_per_task: int) -> int:
    """Tasks that a node of a kind can take."""
    by_cpus = kind.cpus // cpus_per_task
    if not request.memory_per_cpu_mb or request.memory_per_node_mb or not kind.memory_mb or request.exclusive:
        return by_cpus
    return min(by_cpus, kind.memory_mb // (request.memory_per_cpu_mb * cpus_per_task))


def _unit_amounts(
    request: Request, cpus: int, gpus: int, nodes: int, kinds: Collection[Kind]
) -> tuple[tuple[str, float], ...]:
    if request.exclusive:
        fitting = [kind.cpus for kind in kinds if kind.cpus >= cpus and kind.gpus >= gpus]
        whole = min(fitting, default=cpus)
    else:
        whole = cpus
    if request.memory_per_node_mb:
        memory_mb = request.memory_per_node_mb
    elif request.memory_per_cpu_mb:
        memory_mb = request.memory_per_cpu_mb * cpus
    else:
        memory_mb = math.ceil((request.memory_in_all_mb or 0) / nodes)
    return tuple(amounts_of(whole, memory_mb, gpus, kinds).items())


def amounts_of(cpus: float, memory_mb: int | None, gpus: int | None, kinds: Collection[Kind]) -> dict[str, float]:
    """Amounts of a unit, without zeros; memory only where nodes say how much they have."""
    found = {CORES: float(cpus), GPUS: float(gpus or 0)}
    if any(kind.memory_mb for kind in kinds):
        found[MEMORY] = (memory_mb or 0) / MB_PER_GB
    return {name: amount for name, amount in found.items() if amount}


def _spread(amount: int, nodes: int) -> list[int]:
    """So much for each node, the first ones with one more."""
    least, more = divmod(amount, nodes)
    return [least + (place < more) for place in range(nodes)]


def some_classes(allowed: Iterable[str], every: Iterable[str]) -> tuple[str, ...]:
    """The classes that a job may run on; none are named where it may run on all."""
    found = tuple(sorted(allowed))
    return found if set(found) < set(every) else ()


def asked_of(job: SlurmJob, whole_cpus: float, cluster: Cluster, machine: SlurmMachine | None) -> Asked:
    """The request of a job that ran, on nodes with ``whole_cpus`` in all.

    InputError where no such job could be planned. ``machine`` is that of Slurm behind the cluster; None where the
    scenario has nodes of its own.
    """
    request = _request(job, whole_cpus, has_gpus=GPUS in cluster.resources)
    kinds, why = _kinds(job.partitions, cluster) if machine is None else machine.allowed(request, job.partitions)
    if not kinds:
        raise InputError(why)
    return Asked(
        job.label,
        units_of(request, list(kinds.values())),
        job.limit_s or 0,
        job.user,
        job.account,
        job.name,
        job.partition,
        some_classes(kinds, [each.name for each in cluster.classes]),
        bool(request.exclusive),
    )


def _request(job: SlurmJob, whole_cpus: float, *, has_gpus: bool) -> Request:
    """What the job asked for; what it had, where the accounts do not say. GPUs count where nodes have any.

    Accounts do not know tasks: each CPU is one, so that they are spread as evenly as can be.
    """
    asked, had, nodes = job.request, job.had, len(job.nodes)
    if not asked.cpus:
        asked = replace(asked, min_nodes=nodes, cpus=had.cpus, memory_in_all_mb=had.memory_mb, gpus_in_all=had.gpus)
    # That a job wants whole nodes may stand in its script only; but then it got more CPUs than it asked for.
    got = had.cpus or 0
    is_whole = bool(asked.exclusive) or (got >= whole_cpus and got > (asked.cpus or 0))
    cpus = asked.cpus or nodes
    memory_mb = asked.memory_in_all_mb or 0
    return replace(
        asked,
        cpus=cpus,
        tasks=cpus,
        # By CPU where that is even: shares of nodes are rounded up.
        memory_per_cpu_mb=None if memory_mb % cpus else memory_mb // cpus,
        memory_in_all_mb=memory_mb,
        gpus_in_all=asked.gpus_in_all if has_gpus else None,
        exclusive=is_whole,
    )


def _kinds(partitions: Collection[str], cluster: Cluster) -> tuple[Mapping[str, Kind], str]:
    """The classes of a scenario's own nodes that a job may run on."""
    own = cluster.partition_classes(partitions)
    return {
        each.name: Kind(
            int(each.capacity[CORES]),
            round(each.capacity.get(MEMORY, 0.0) * MB_PER_GB),
            int(each.capacity.get(GPUS, 0.0)),
            "",
            (),
        )
        for each in cluster.classes
        if not own or each.name in own
    }, ""


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
