"""Reads Slurm's queue from ``squeue --json``, and says why some of its jobs are left alone.

Left alone is what is not planned, and what something keeps Slurm from starting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from planner import limits
from planner.errors import InputError
from planner.inputs.slurm.job import HELD, JobState, Request, SlurmJob, job_state, state_words
from planner.inputs.slurm.json_document import Fields, Source, parser_number, read_document
from planner.inputs.slurm.notations import Amounts, parse_dependency, parse_tasks
from planner.inputs.slurm.request import is_whole, read_allocation, read_request
from planner.printable import one_line

COMMAND = "squeue --json"


@dataclass(frozen=True)
class Queue:
    """What Slurm says at one moment: its records, in the order of the document."""

    records: tuple[SlurmJob, ...] = ()

    @cached_property
    def jobs(self) -> tuple[SlurmJob, ...]:
        """Jobs that wait, run, or are in between, tasks of arrays one by one."""
        return tuple(job for record in self.records if record.state != "finished" for job in record.one_by_one())

    @cached_property
    def finished(self) -> tuple[SlurmJob, ...]:
        """Jobs that have ended; Slurm 22.05 lists them whatever it is asked for."""
        return tuple(record for record in self.records if record.state == "finished")

    def of_state(self, state: JobState) -> tuple[SlurmJob, ...]:
        """The jobs of one state."""
        return tuple(job for job in (*self.jobs, *self.finished) if job.state == state)

    @cached_property
    def _by_name(self) -> dict[str, SlurmJob]:
        found = {f"{job.array}_{task}": job for job in self.records for task in job.tasks}
        return found | {job.record: job for job in self.records}

    @cached_property
    def _by_array(self) -> dict[str, list[SlurmJob]]:
        found: dict[str, list[SlurmJob]] = {}
        for job in self.records:
            found.setdefault(job.array, []).append(job)
        return found

    def array(self, name: str) -> list[SlurmJob]:
        """Every record of an array; empty when it is none."""
        return self._by_array.get(name, []) if name else []

    def find(self, name: str) -> SlurmJob | None:
        """The record of exactly this name, or the one that a task is still a part of."""
        return self._by_name.get(name)


def read_queue(source: Source) -> Queue:
    """Every job of the queue; those that cannot be planned are there too, each with its reasons."""
    root, rows = read_document(source, "jobs", COMMAND)
    parser = parser_number(root)
    places: dict[int, str] = {}
    records: list[SlurmJob] = []
    count = 0
    for row in rows:
        job, others = _job(row, parser)
        first = places.setdefault(job.job_id, row.place)
        if first != row.place:
            raise InputError(
                f"{row.source}: {row.place} and {first} are both job {job.job_id}; each may stand there once"
            )
        job = _with_tasks(row, replace(job, obstacles=why_left_alone(job, row, others)))
        records.append(job)
        count += len(job.tasks) or 1
        limits.JOBS_OF_A_FILE.require(f"{row.source}: the number of jobs", count)
    return Queue(tuple(records))


def _job(row: Fields, parser: int | None) -> tuple[SlurmJob, tuple[str, ...]]:
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
    allocated = () if waits else read_allocation(row)
    request, others = read_request(row, parser)
    if request.exclusive is None and is_whole(row) is not None:
        request = replace(request, exclusive=is_whole(row))
    reason = row.text("state_reason")
    job = SlurmJob(
        job_id=job_id,
        name=row.text("name"),
        user=row.text("user_name"),
        account=row.text("account"),
        partitions=row.names("partition"),
        qos=row.text("qos"),
        comment=row.text("comment"),
        admin_comment=row.text("admin_comment"),
        state=state,
        state_words=words,
        submit_unix=submit,
        begin_unix=row.moment("eligible_time"),
        request=request,
        array_job_id=row.positive("array_job_id"),
        array_task_id=row.whole("array_task_id"),
        array_limit=row.positive("array_max_tasks"),
        het_job_id=row.positive("het_job_id"),
        start_unix=None if waits else start,
        end_unix=row.moment("end_time") if state == "finished" else None,
        limit_s=row.minutes("time_limit"),
        deadline_unix=row.moment("deadline"),
        held=waits and (row.flag("hold") or priority == 0 or reason.startswith("JobHeld") or bool(HELD & set(words))),
        priority=priority,
        dependency=parse_dependency(row.text("dependency")),
        licences=row.text("licenses"),
        reservation=row.text("resv_name"),
        allocated=allocated,
        had=_had(request, len(allocated)),
    )
    return job, others


def _had(request: Request, nodes: int) -> Amounts:
    """What a job has of all its nodes: the queue says what it asks for, and that it has got."""
    gpus = request.gpus_per_node * nodes if request.gpus_per_node else request.gpus_in_all
    return Amounts(nodes, request.cpus, request.memory_in_all_mb, gpus) if nodes else Amounts()


def _with_tasks(row: Fields, job: SlurmJob) -> SlurmJob:
    """The job, with the waiting tasks of the array that it stands for."""
    if job.state != "pending" or job.array_task_id is not None or not row.text("array_task_string").strip():
        return job
    array = row.parsed("array_task_string", parse_tasks)
    return replace(
        job,
        array_job_id=job.array_job_id or job.job_id,
        array_limit=array.limit or job.array_limit,
        tasks=array.tasks,
        obstacles=(*job.obstacles, array.obstacle) if array.obstacle else job.obstacles,
    )


NOT_STARTED = re.compile(
    r"Partition|QOS|Assoc|Account|Invalid|BadConstraints|MaxMemPerLimit|Licenses|BurstBuffer|SystemFailure|JobLaunchFailure"
    r"|FedJobLock|DeadLine|Cleaning"
)
"""How the reasons begin for which Slurm does not start a job although there may be room: limits of its partition, its
QOS, its account or its user, and requests that nothing fulfils."""


def why_left_alone(job: SlurmJob, row: Fields, others: Sequence[str]) -> tuple[str, ...]:
    """Why the job of a row cannot be planned; for a running job, why nobody can tell when and where it ends.

    ``others`` are resources in its request that cannot be counted.
    """
    match job.state:
        case "pending":
            found = [
                *_of_waiting(job, row.text("state_reason")),
                *_of_resources(job, row, others),
                *job.dependency.obstacles(),
            ]
        case "running":
            found = _of_running(job)
        case "other":
            found = [f"Slurm has it as {one_line(job.state_text, 60)}, neither waiting nor running"]
        case _:
            found = []
    return tuple(found)


def _of_waiting(job: SlurmJob, reason: str) -> list[str]:
    found = []
    if job.held:
        found.append("it is held")
    elif NOT_STARTED.match(reason):
        found.append(f"Slurm does not start it ({one_line(reason, 60)})")
    if job.het_job_id is not None:
        found.append(f"it is a part of the heterogeneous job {job.het_job_id}")
    if job.limit_s is None:
        found.append("it has no time limit")
    elif job.limit_s not in limits.REQUESTED_S:
        found.append(f"its time limit of {job.limit_s} s is not {limits.REQUESTED_S}")
    return found


def _of_resources(job: SlurmJob, row: Fields, others: Sequence[str]) -> list[str]:
    found = []
    if job.licences:
        found.append(f"it needs licences ({one_line(job.licences, 60)})")
    if job.reservation:
        found.append(f"it runs in the reservation {one_line(job.reservation, 60)}")
    if row.text("burst_buffer"):
        found.append("it needs a burst buffer")
    if others:
        found.append(f"it needs resources that are not planned ({one_line(', '.join(others), 60)})")
    if "CRON_JOB" in row.words("flags"):
        found.append("it belongs to scrontab, which sets its start")
    if "topo" in (word.lower() for word in row.words("shared")):
        found.append("it wants a whole part of the network for itself")
    if job.request.min_nodes not in limits.UNITS:
        found.append(f"it asks for {job.request.min_nodes} nodes")
    return found


def _of_running(job: SlurmJob) -> list[str]:
    found = []
    if job.limit_s is None and not job.is_completing:
        found.append("it runs without a time limit, so its end is not known")
    if not job.allocated:
        found.append("Slurm does not say on which nodes it runs")
    if job.start_unix is None:
        found.append("Slurm does not say since when it runs")
    return found
