"""A job of Slurm as one plain record, whatever command and version of Slurm has written it, squeue or sacct; and what
Slurm's words for its state mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from planner.inputs.slurm.notations import Amounts, SlurmDependency

JobState = Literal["pending", "running", "finished", "other"]
ENDED = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "TIMEOUT",
    }
)
HELD = frozenset({"REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
"""Wait until somebody releases them."""
# Suspended jobs have given back their cores, others are at another cluster: neither to be planned nor over.
_OTHER = frozenset({"REVOKED", "STAGE_OUT", "SUSPENDED"})
# These hold their nodes, whatever else is said about the job.
_HOLDING = frozenset({"COMPLETING", "RUNNING", "STOPPED"})
# Slurm 22.05 writes one word only, and these instead of RUNNING or PENDING.
_RUNNING = frozenset({"CONFIGURING", "POWER_UP_NODE", "RESIZING", "SIGNALING"})
_PENDING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED"}) | HELD

_RUN_ENDED = frozenset({"REQUEUED", "RESIZING"})
"""In the accounts, a run with an end that was not the job's last."""


def state_words(words: Sequence[str]) -> tuple[str, ...]:
    """Slurm's words in capitals and in order; a text such as ``CANCELLED by 1000`` is its first word."""
    return tuple(sorted({word.split()[0].upper() for word in words if word.strip()}))


def job_state(words: Sequence[str]) -> JobState:
    """The state behind such words; ``other`` also for words that are not known."""
    found = frozenset(words)
    if found & _OTHER:
        return "other"
    if found & _HOLDING:
        return "running"
    if found & ENDED and not found & _PENDING:
        return "finished"
    if found & _PENDING:
        return "pending"
    return "running" if found & _RUNNING else "other"


def accounted_state(words: Sequence[str], start_unix: int | None, end_unix: int | None) -> JobState:
    """The same of a run in the accounts: one that was put back into the queue, or changed its size, is over as well."""
    has_run = start_unix is not None and end_unix is not None and end_unix >= start_unix
    return "finished" if has_run and _RUN_ENDED & frozenset(words) else job_state(words)


@dataclass(frozen=True, slots=True)
class AllocatedNode:
    """A node that a job runs on, and how much of it the job has where Slurm says so."""

    name: str
    cpus: int | None = None
    memory_mb: int | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for; None where nothing is said.

    ``max_nodes`` None: as many as Slurm likes. Memory neither per node nor per CPU: the site's default, or all of every
    node; ``memory_in_all_mb`` is that of all nodes as Slurm has worked it out. ``gpus_in_all`` Slurm may spread over
    the nodes as it likes. ``features`` are as written: ``a100&infiniband``.
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

    Accounts say less than the queue: what only the queue knows is empty there, and the other way round. Tasks that wait
    have the ``job_id`` of their array. ``begin_unix`` is the earliest start that is set; where none is, when the job
    became eligible; None: not eligible yet. ``limit_s`` None: unlimited. ``allocated`` are its nodes with what it has
    of each where Slurm says so, ``had`` the sums over all of them. ``array_limit`` tasks of its array may run at once.
    ``tasks`` are the waiting ones that Slurm keeps in one record, of which this is all, or one. ``energy_j`` is that of
    its nodes while it ran, shared ones whole; None where nothing was measured. ``obstacles`` say why it cannot be
    planned, one sentence per reason.
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
