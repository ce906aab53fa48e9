"""What Slurm's queue holds at this moment, as far as the setting of begin times needs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from planner.errors import SlurmError
from planner.slurm.commands import Slurm

PENDING = "PENDING"
SPAN = re.compile(r"([0-9]+)(?:-([0-9]+))?(?::([0-9]+))?")


@dataclass(frozen=True)
class QueuedJob:
    """One record of the queue: a job, a task of an array, or all tasks of an array that Slurm still keeps together."""

    id: str
    """``42``; ``42_5`` for task 5 of an array. ``42`` also stands for the tasks of an array that are together."""
    array: str
    """``42`` for all records of this array; empty for other jobs."""
    tasks: str
    """The tasks that are together, such as ``1-4,7``; empty for other records."""
    submit_unix: int
    begin_unix: int | None
    """The earliest start that is set; where none is, when the job became eligible. None: not eligible yet."""
    start_unix: int | None
    """When the job started; None as long as it waits."""
    state: str
    held: bool
    heterogeneous: bool
    partition: str
    qos: str
    comment: str
    limit_s: int | None
    """None: unlimited."""
    deadline_unix: int | None

    @property
    def pending(self) -> bool:
        """Whether the job waits."""
        return self.state == PENDING

    @property
    def latest_begin_unix(self) -> int | None:
        """The last moment at which the job can begin and end by its deadline; None without a deadline.

        Slurm ends a waiting job for which this moment has passed.
        """
        if self.deadline_unix is None:
            return None
        return self.deadline_unix - (self.limit_s or 0)

    def holds_task(self, number: int) -> bool:
        """Whether a task is among those that are together."""
        return any(number in span for span in _spans(self.tasks))


@dataclass(frozen=True)
class Queue:
    """All records of the queue, found by job id."""

    jobs: tuple[QueuedJob, ...]

    @cached_property
    def _by_id(self) -> dict[str, QueuedJob]:
        return {job.id: job for job in self.jobs}

    @cached_property
    def _by_array(self) -> dict[str, list[QueuedJob]]:
        found: dict[str, list[QueuedJob]] = {}
        for job in self.jobs:
            found.setdefault(job.array, []).append(job)
        return found

    def array(self, array_id: str) -> list[QueuedJob]:
        """Every record of an array; empty when it is none."""
        return self._by_array.get(array_id, []) if array_id else []

    def find(self, job_id: str) -> QueuedJob | None:
        """The record of exactly this id, or the one that a task is still a part of."""
        if job_id in self._by_id:
            return self._by_id[job_id]
        array, _, task = job_id.partition("_")
        if not task:
            return None
        return next((job for job in self.array(array) if job.holds_task(int(task))), None)


def read_queue(slurm: Slurm) -> Queue:
    """The queue as squeue has it now."""
    return parse_queue(slurm.ask("squeue", "--all", "--json"))


def parse_queue(text: str) -> Queue:
    """The queue in the JSON of Slurm 22.05 and newer."""
    try:
        records: Iterable[dict[str, Any]] = json.loads(text)["jobs"]
        return Queue(tuple(_job(record) for record in records))
    except (ValueError, KeyError, TypeError) as error:
        raise SlurmError(f"squeue --json gave no queue that can be read ({type(error).__name__}: {error})") from error


def when(unix: int | None) -> str:
    """A moment as people read it, in UTC."""
    if unix is None:
        return "no set time"
    try:
        return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(unix)


def _job(record: dict[str, Any]) -> QueuedJob:
    number = str(int(record["job_id"]))
    array = str(_number(record.get("array_job_id")) or "")
    task = _number(record.get("array_task_id"))
    states = record["job_state"]
    state = states if isinstance(states, str) else states[0]
    submit = _number(record["submit_time"])
    if submit is None:
        raise ValueError(f"job {number} has no submit time")
    limit_min = _number(record.get("time_limit"))
    return QueuedJob(
        id=number if task is None else f"{array}_{task}",
        array=array,
        tasks="" if task is not None else (record.get("array_task_string") or "").partition("%")[0],
        submit_unix=submit,
        begin_unix=_number(record["eligible_time"]) or None,
        start_unix=None if state == PENDING else _number(record.get("start_time")) or None,
        state=state,
        # Priority 0 is how Slurm itself marks a held job; newer versions say so too.
        held=bool(record.get("hold")) or _number(record["priority"]) == 0,
        heterogeneous=bool(_number(record.get("het_job_id"))),
        partition=record.get("partition") or "",
        qos=record.get("qos") or "",
        comment=record.get("comment") or "",
        limit_s=None if limit_min is None else limit_min * 60,
        deadline_unix=_number(record.get("deadline")) or None,
    )


def _number(value: Any) -> int | None:
    """A number of 22.05 (int or null), or of newer versions ({set, infinite, number}); None: unset or unlimited."""
    if isinstance(value, dict):
        return int(value["number"]) if value["set"] and not value["infinite"] else None
    return None if value is None else int(value)


def _spans(tasks: str) -> list[range]:
    found = []
    for part in filter(None, tasks.split(",")):
        match = SPAN.fullmatch(part)
        if match is None:
            raise SlurmError(f"squeue names the tasks of an array in an unknown way: {tasks}")
        first, last, step = match[1], match[2] or match[1], match[3] or "1"
        found.append(range(int(first), int(last) + 1, int(step)))
    return found
