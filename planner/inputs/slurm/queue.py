"""Reads Slurm's queue from ``squeue --json``: a record of every job, and of every task of an array that waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from planner import bounds
from planner.errors import InputError
from planner.inputs.slurm.allocation import is_whole, read_allocation
from planner.inputs.slurm.arrays import parse_tasks
from planner.inputs.slurm.dependency import parse_dependency
from planner.inputs.slurm.document import Source, parser_number, read_document
from planner.inputs.slurm.fields import Fields
from planner.inputs.slurm.job import JobState, QueuedJob
from planner.inputs.slurm.obstacles import obstacles_of
from planner.inputs.slurm.request import read_request
from planner.inputs.slurm.states import HELD, job_state, state_words

COMMAND = "squeue --json"


@dataclass(frozen=True)
class Queue:
    """What Slurm says at one moment.

    Attributes
    ----------
    jobs
        Jobs that wait, run, or are in between, in the order of the document.
    finished
        Jobs that have ended; Slurm 22.05 lists them whatever it is asked for.
    """

    jobs: tuple[QueuedJob, ...] = ()
    finished: tuple[QueuedJob, ...] = ()

    def of_state(self, state: JobState) -> tuple[QueuedJob, ...]:
        """The jobs of one state."""
        return tuple(job for job in (*self.jobs, *self.finished) if job.state == state)


def read_queue(source: Source) -> Queue:
    """Every job of the queue; those that cannot be planned are there too, each with its reasons.

    Parameters
    ----------
    source
        A file with the output of ``squeue --json``, or that output.

    Raises
    ------
    InputError
        A value cannot be what it should be; names file or command, place, value and what is expected.
    """
    root, rows = read_document(source, "jobs", COMMAND)
    parser = parser_number(root)
    places: dict[int, str] = {}
    jobs: list[QueuedJob] = []
    for row in rows:
        job, others = _job(row, parser)
        first = places.setdefault(job.job_id, row.place)
        if first != row.place:
            raise InputError(
                f"{row.source}: {row.place} and {first} are both job {job.job_id}; each may stand there once"
            )
        job = replace(job, obstacles=obstacles_of(job, row, others))
        jobs += _tasks(row, job)
        bounds.JOBS_OF_A_FILE.require(f"{row.source}: the number of jobs", len(jobs))
    return Queue(
        tuple(job for job in jobs if job.state != "finished"), tuple(job for job in jobs if job.state == "finished")
    )


def _job(row: Fields, parser: int | None) -> tuple[QueuedJob, tuple[str, ...]]:
    """The job of a row without its obstacles, and what it asks for that cannot be counted."""
    job_id, submit = row.positive("job_id"), row.moment("submit_time")
    if job_id is None:
        raise row.wrong("job_id", "a number from 1")
    if submit is None:
        raise row.wrong("submit_time", "Unix seconds from 1")
    words = state_words(row.words("job_state"))
    if not words:
        raise row.wrong("job_state", "a state such as PENDING")
    state = job_state(words)
    priority = row.whole("priority")
    start = row.moment("start_time")
    waits = state == "pending"
    request, others = read_request(row, parser)
    if request.exclusive is None and is_whole(row) is not None:
        request = replace(request, exclusive=is_whole(row))
    reason = row.text("state_reason")
    job = QueuedJob(
        job_id=job_id,
        name=row.text("name"),
        user=row.text("user_name"),
        account=row.text("account"),
        partitions=row.names("partition"),
        qos=row.text("qos"),
        comment=row.text("comment"),
        state=state,
        state_words=words,
        reason="" if reason == "None" else reason,
        submit_unix=submit,
        begin_unix=row.moment("eligible_time") or submit,
        eligible_unix=row.moment("eligible_time"),
        request=request,
        array_job_id=row.positive("array_job_id"),
        array_task_id=row.whole("array_task_id"),
        array_limit=row.positive("array_max_tasks"),
        het_job_id=row.positive("het_job_id"),
        het_offset=row.whole("het_job_offset") if row.positive("het_job_id") else None,
        start_unix=None if waits else start,
        end_unix=None if waits else row.moment("end_time"),
        expected_start_unix=start if waits else None,
        limit_s=row.minutes("time_limit"),
        deadline_unix=row.moment("deadline"),
        priority=priority,
        held=waits and (row.flag("hold") or priority == 0 or reason.startswith("JobHeld") or bool(HELD & set(words))),
        dependency=parse_dependency(row.text("dependency")),
        licences=row.text("licenses"),
        reservation=row.text("resv_name"),
        allocated=() if waits else read_allocation(row),
    )
    return job, others


def _tasks(row: Fields, job: QueuedJob) -> Iterator[QueuedJob]:
    """The job itself, or one record per waiting task of an array."""
    if job.state != "pending" or job.array_task_id is not None or not row.text("array_task_string").strip():
        yield job
        return
    array = row.parsed("array_task_string", parse_tasks)
    job = replace(
        job,
        array_job_id=job.array_job_id or job.job_id,
        array_limit=array.limit or job.array_limit,
        is_together=True,
    )
    if array.obstacle:
        yield replace(job, obstacles=(*job.obstacles, array.obstacle))
    for task in array.tasks:
        yield replace(job, array_task_id=task)
