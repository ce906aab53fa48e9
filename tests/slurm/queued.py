"""Jobs of a queue as tests need them, without a Slurm."""

from __future__ import annotations

from dataclasses import replace

from planner.slurm.current import Queue, Record

NOW = 1_800_000_000
HOUR = 3600

WAITING = Record(
    id="42",
    array="",
    tasks=(),
    submit_unix=NOW - HOUR,
    begin_unix=NOW - HOUR,
    start_unix=None,
    pending=True,
    state="PENDING",
    held=False,
    heterogeneous=False,
    partitions=frozenset({"batch"}),
    qos="normal",
    comment="",
    limit_s=HOUR,
    deadline_unix=None,
)


def waiting(job_id: str = "42", **other: object) -> Record:
    """A job that waits, or another one where told so; tasks of arrays know their array."""
    array = job_id.partition("_")[0] if "_" in job_id or other.get("tasks") else ""
    pending = other.get("state", "PENDING") == "PENDING"
    return replace(WAITING, id=job_id, array=array, pending=pending, **other)  # type: ignore[arg-type]


def queue_of(*jobs: Record) -> Queue:
    """A queue of these jobs."""
    return Queue(jobs)
