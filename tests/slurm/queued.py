"""Jobs of a queue as tests need them, without a Slurm."""

from __future__ import annotations

from dataclasses import replace

from planner.inputs.slurm.job import Request, SlurmJob, job_state
from planner.inputs.slurm.queue import Queue

NOW = 1_800_000_000
HOUR = 3600

WAITING = SlurmJob(
    job_id=42,
    name="",
    user="",
    account="",
    partitions=("batch",),
    comment="",
    state="pending",
    state_words=("PENDING",),
    submit_unix=NOW - HOUR,
    request=Request(1),
    qos="normal",
    begin_unix=NOW - HOUR,
    limit_s=HOUR,
)


def waiting(name: str = "42", state: str = "PENDING", tasks: tuple[int, ...] = (), **other: object) -> SlurmJob:
    """A job that waits, or another one where told so; tasks of arrays know their array."""
    array, _, task = name.partition("_")
    return replace(
        WAITING,
        job_id=int(array),
        array_job_id=int(array) if task or tasks else None,
        array_task_id=int(task) if task else None,
        tasks=tasks,
        state=job_state([state]),
        state_words=(state,),
        **other,  # type: ignore[arg-type]
    )


def queue_of(*jobs: SlurmJob) -> Queue:
    """A queue of these jobs."""
    return Queue(jobs)
