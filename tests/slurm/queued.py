"""Jobs of a queue as tests need them, without a Slurm."""

from __future__ import annotations

from dataclasses import replace

from planner.slurm.current import Queue, QueuedJob

NOW = 1_800_000_000
HOUR = 3600

WAITING = QueuedJob(
    id="42",
    array="",
    tasks="",
    submit_unix=NOW - HOUR,
    begin_unix=NOW - HOUR,
    start_unix=None,
    state="PENDING",
    held=False,
    heterogeneous=False,
    partition="batch",
    qos="normal",
    comment="",
    limit_s=HOUR,
    deadline_unix=None,
)


def waiting(job_id: str = "42", **other: object) -> QueuedJob:
    """A job that waits, or another one where told so; tasks of arrays know their array."""
    array = job_id.partition("_")[0] if "_" in job_id or other.get("tasks") else ""
    return replace(WAITING, id=job_id, array=array, **other)  # type: ignore[arg-type]


def queue_of(*jobs: QueuedJob) -> Queue:
    """A queue of these jobs."""
    return Queue(jobs)
