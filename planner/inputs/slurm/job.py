"""A job of Slurm as one plain record, whatever command and version of Slurm has written it: squeue or sacct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from planner.inputs.slurm.job_states import JobState
from planner.inputs.slurm.notations import Amounts, SlurmDependency


@dataclass(frozen=True, slots=True)
class AllocatedNode:
    """A node that a job runs on, and how much of it the job has where Slurm says so."""

    name: str
    cpus: int | None = None
    memory_mb: int | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for.

    Attributes
    ----------
    min_nodes, max_nodes
        Nodes; ``max_nodes`` None: as many as Slurm likes.
    cpus, tasks, cpus_per_task, tasks_per_node, min_cpus_per_node
        CPUs of all nodes, and how they are shared out; None where nothing is said.
    memory_per_node_mb, memory_per_cpu_mb
        Memory; both None: the site's default, or all of every node.
    memory_in_all_mb
        Memory of all nodes as Slurm has worked it out.
    gpus_per_node, gpus_in_all
        GPUs of each node, or of all nodes together where Slurm may spread them as it likes; None: not asked that way.
    gpu_type
        Type of the GPUs; empty: any.
    exclusive
        Whether its nodes are for it alone; None where this version of Slurm does not say.
    nodes, excluded_nodes
        Nodes that it must have, and nodes that it must not have.
    features
        Features of nodes that it needs, as written: ``a100&infiniband``.
    """

    min_nodes: int
    max_nodes: int | None = None
    cpus: int | None = None
    tasks: int | None = None
    cpus_per_task: int = 1
    tasks_per_node: int | None = None
    min_cpus_per_node: int | None = None
    memory_per_node_mb: int | None = None
    memory_per_cpu_mb: int | None = None
    memory_in_all_mb: int | None = None
    gpus_per_node: int | None = None
    gpus_in_all: int | None = None
    gpu_type: str = ""
    exclusive: bool | None = None
    nodes: tuple[str, ...] = ()
    excluded_nodes: tuple[str, ...] = ()
    features: str = ""


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """One job, one task of a job array, or all tasks of an array that Slurm still keeps in one record.

    Accounts say less than the queue: what only the queue knows is empty there, and the other way round.

    Attributes
    ----------
    job_id
        Slurm's number; tasks that wait have that of their array.
    state, state_words
        What the planner makes of the state; Slurm's words for it, in capitals and in order.
    submit_unix
        When it was submitted.
    begin_unix
        The earliest start that is set; where none is, when the job became eligible. None: not eligible yet.
    start_unix, end_unix
        Real start and real end; None as long as there is none.
    limit_s
        Time limit; None: unlimited.
    request
        What it asks for.
    allocated, had
        The nodes that it has or had, with what it has of each where Slurm says so; the sums over all nodes.
    array_job_id, array_task_id, array_limit
        The array, the task, and how many tasks of it may run at once; None where there is none.
    tasks
        The waiting tasks that Slurm keeps in one record, of which this is all, or one; empty for other jobs.
    het_job_id
        The heterogeneous job that it is a part of; None where it is none.
    held
        Whether it waits until somebody releases it.
    priority
        Slurm's own; None where it does not say.
    energy_j
        Energy of its nodes while it ran, shared ones whole; None where nothing was measured.
    obstacles
        Why it cannot be planned, one sentence per reason; empty where it can.
    """

    job_id: int
    name: str
    user: str
    account: str
    partitions: tuple[str, ...]
    comment: str
    state: JobState
    state_words: tuple[str, ...]
    submit_unix: int
    request: Request
    qos: str = ""
    begin_unix: int | None = None
    start_unix: int | None = None
    end_unix: int | None = None
    limit_s: int | None = None
    deadline_unix: int | None = None
    allocated: tuple[AllocatedNode, ...] = ()
    had: Amounts = field(default_factory=Amounts)
    array_job_id: int | None = None
    array_task_id: int | None = None
    array_limit: int | None = None
    tasks: tuple[int, ...] = ()
    het_job_id: int | None = None
    held: bool = False
    priority: int | None = None
    dependency: SlurmDependency = field(default_factory=SlurmDependency)
    admin_comment: str = ""
    licences: str = ""
    reservation: str = ""
    energy_j: int | None = None
    obstacles: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name on Slurm's command line: ``12``, or ``12_3`` for a task of an array."""
        if self.array_job_id is not None and self.array_task_id is not None:
            return f"{self.array_job_id}_{self.array_task_id}"
        return str(self.job_id)

    @property
    def record(self) -> str:
        """The name of Slurm's record: ``12`` also for the tasks of array 12 that are together."""
        return str(self.job_id) if self.tasks else self.label

    @property
    def array(self) -> str:
        """The name of its array: ``12``; empty for other jobs."""
        return str(self.array_job_id or "")

    @property
    def state_text(self) -> str:
        """Slurm's words for its state as a text."""
        return " ".join(self.state_words)

    @property
    def is_pending(self) -> bool:
        """Whether it waits."""
        return self.state == "pending"

    @property
    def is_completing(self) -> bool:
        """Whether it has ended, but its nodes are not free yet."""
        return "COMPLETING" in self.state_words

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has taken it back."""
        return "CANCELLED" in self.state_words

    @property
    def partition(self) -> str:
        """Its partitions as a text."""
        return ",".join(self.partitions)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of its nodes."""
        return tuple(each.name for each in self.allocated)

    @property
    def latest_begin_unix(self) -> int | None:
        """The last moment at which the job can begin and end by its deadline; None without a deadline.

        Slurm ends a waiting job for which this moment has passed.
        """
        if self.deadline_unix is None:
            return None
        return self.deadline_unix - (self.limit_s or 0)

    def one_by_one(self) -> Iterator[SlurmJob]:
        """The job itself, or each of the tasks that Slurm keeps in one record."""
        if not self.tasks:
            yield self
        for task in self.tasks:
            yield replace(self, array_task_id=task)
