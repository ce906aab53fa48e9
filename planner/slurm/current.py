"""What Slurm's queue holds at this moment, as changes of it need it: record by record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from planner.errors import InputError, SlurmError
from planner.inputs.slurm.document import Answer
from planner.inputs.slurm.job import QueuedJob
from planner.inputs.slurm.queue import Queue as ReadQueue
from planner.inputs.slurm.queue import read_queue as read_jobs
from planner.slurm.commands import Slurm


@dataclass(frozen=True)
class Record:
    """One record of the queue: a job, a task of an array, or all tasks of an array that Slurm still keeps together."""

    id: str
    """``42``; ``42_5`` for task 5 of an array. ``42`` also stands for the tasks of an array that are together."""
    array: str
    """``42`` for all records of this array; empty for other jobs."""
    tasks: tuple[int, ...]
    """The tasks that are together; empty for other records."""
    submit_unix: int
    begin_unix: int | None
    """The earliest start that is set; where none is, when the job became eligible. None: not eligible yet."""
    start_unix: int | None
    """When the job started; None as long as it waits."""
    pending: bool
    """Whether the job waits."""
    state: str
    """Slurm's words for its state."""
    held: bool
    heterogeneous: bool
    partitions: frozenset[str]
    qos: str
    comment: str
    limit_s: int | None
    """None: unlimited."""
    deadline_unix: int | None

    @property
    def latest_begin_unix(self) -> int | None:
        """The last moment at which the job can begin and end by its deadline; None without a deadline.

        Slurm ends a waiting job for which this moment has passed.
        """
        if self.deadline_unix is None:
            return None
        return self.deadline_unix - (self.limit_s or 0)


@dataclass(frozen=True)
class Queue:
    """All records of the queue, found by job id."""

    jobs: tuple[Record, ...]

    @cached_property
    def _by_id(self) -> dict[str, Record]:
        found = {f"{job.array}_{task}": job for job in self.jobs for task in job.tasks}
        return found | {job.id: job for job in self.jobs}

    @cached_property
    def _by_array(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for job in self.jobs:
            found.setdefault(job.array, []).append(job)
        return found

    def array(self, array_id: str) -> list[Record]:
        """Every record of an array; empty when it is none."""
        return self._by_array.get(array_id, []) if array_id else []

    def find(self, job_id: str) -> Record | None:
        """The record of exactly this id, or the one that a task is still a part of."""
        return self._by_id.get(job_id)


def read_queue(slurm: Slurm) -> Queue:
    """The queue as squeue has it now."""
    command, output = slurm.ask_json("squeue", "--all")
    try:
        return records_of(read_jobs(Answer(command, output)))
    except InputError as error:
        raise SlurmError(f"no queue that can be read: {error}") from error


def records_of(queue: ReadQueue) -> Queue:
    """The records behind the jobs of a queue: tasks that Slurm keeps together are one."""
    found: dict[tuple[int, int | None], list[QueuedJob]] = {}
    for job in (*queue.jobs, *queue.finished):
        found.setdefault((job.job_id, None if job.is_together else job.array_task_id), []).append(job)
    return Queue(tuple(record_of(*jobs) for jobs in found.values()))


def when(unix: int | None) -> str:
    """A moment as people read it, in UTC."""
    if unix is None:
        return "no set time"
    try:
        return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(unix)


def record_of(*jobs: QueuedJob) -> Record:
    """The record of a job, or of tasks that Slurm keeps together."""
    job = jobs[0]
    tasks = [each.array_task_id for each in jobs if each.is_together and each.array_task_id is not None]
    return Record(
        id=str(job.job_id) if job.is_together else job.label,
        array=str(job.array_job_id or ""),
        tasks=tuple(tasks),
        submit_unix=job.submit_unix,
        begin_unix=job.eligible_unix,
        start_unix=job.start_unix,
        pending=job.state == "pending",
        state=" ".join(job.state_words),
        held=job.held,
        heterogeneous=job.het_job_id is not None,
        partitions=frozenset(job.partitions),
        qos=job.qos,
        comment=job.comment,
        limit_s=job.limit_s,
        deadline_unix=job.deadline_unix,
    )
