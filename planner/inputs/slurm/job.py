"""A job of Slurm's queue as a plain record, whatever version of Slurm has written it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from planner.inputs.slurm.dependency import Dependency

JobState = Literal["pending", "running", "finished", "other"]


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
class QueuedJob:
    """One job, or one task of a job array.

    Attributes
    ----------
    job_id
        Slurm's number; tasks that wait have that of their array.
    array_job_id, array_task_id, array_limit
        The array, the task, and how many tasks of it may run at once; None where there is none.
    is_together
        Whether Slurm keeps this task in one record with all others of its array that were never touched.
    het_job_id, het_offset
        The heterogeneous job that it is a part of, and which part; None where it is none.
    state, state_words, reason
        What the planner makes of the state; Slurm's words for it; why it waits.
    submit_unix, begin_unix
        When it was submitted, and before when it must not start (its submission where nothing else is said).
    eligible_unix
        The begin time as Slurm has it; None for jobs that depend on others, are held, or have just come.
    start_unix, end_unix
        Real start; real end, or of a running job when its limit is reached. None while it waits.
    expected_start_unix
        When Slurm expects to start a job that waits.
    limit_s
        Time limit; None: unlimited.
    obstacles
        Why it cannot be planned, one sentence per reason; empty where it can.
    """

    job_id: int
    name: str
    user: str
    account: str
    partitions: tuple[str, ...]
    qos: str
    comment: str
    state: JobState
    state_words: tuple[str, ...]
    reason: str
    submit_unix: int
    begin_unix: int
    request: Request
    eligible_unix: int | None = None
    array_job_id: int | None = None
    array_task_id: int | None = None
    array_limit: int | None = None
    is_together: bool = False
    het_job_id: int | None = None
    het_offset: int | None = None
    start_unix: int | None = None
    end_unix: int | None = None
    expected_start_unix: int | None = None
    limit_s: int | None = None
    deadline_unix: int | None = None
    priority: int | None = None
    held: bool = False
    dependency: Dependency = field(default_factory=Dependency)
    licences: str = ""
    reservation: str = ""
    allocated: tuple[AllocatedNode, ...] = ()
    obstacles: tuple[str, ...] = ()

    @property
    def is_completing(self) -> bool:
        """Whether it has ended, but its nodes are not free yet."""
        return "COMPLETING" in self.state_words

    @property
    def label(self) -> str:
        """Its name on Slurm's command line: ``12``, or ``12_3`` for a task of an array."""
        if self.array_job_id is not None and self.array_task_id is not None:
            return f"{self.array_job_id}_{self.array_task_id}"
        return str(self.job_id)
