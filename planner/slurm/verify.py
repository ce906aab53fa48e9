"""Whether jobs in Slurm are as a plan or the journal wants them, at any later time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.errors import InputError, SlurmError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.inputs.slurm.sacct_json import read_accounting
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.journal import Ours, when


@dataclass(frozen=True)
class Expected:
    """When a job should begin at the earliest."""

    job: str
    begin_unix: int
    submit_unix: int
    """The job's submit time, which tells it from another job with the same id."""


def from_journal(ours: Ours) -> list[Expected]:
    """What is expected by the journal: the newest begin time that was sent for each job and not undone."""
    return [Expected(job, entry.sent[-1], submit) for (job, submit), entry in ours.entries.items()]


def queue_with_gone(slurm: Slurm, expected: Iterable[Expected], now_unix: int) -> Queue:
    """The queue, and what the accounts say of jobs that are still expected to wait and have left it.

    Without accounts nobody knows what became of those.
    """
    queue = queue_now(slurm)
    gone = [
        each.job
        for each in expected
        if each.begin_unix > now_unix and not queue.array(each.job) and queue.find(each.job) is None
    ]
    if not gone:
        return queue
    try:
        found = slurm.ask_json("sacct", "--allusers", "--starttime=now-30days", f"--jobs={','.join(gone)}")
        return Queue((*queue.records, *read_accounting(found).jobs))
    except (SlurmError, InputError):
        return queue


def differences(expected: Iterable[Expected], queue: Queue, now_unix: int) -> list[tuple[str, str]]:
    """Every job that is not as expected, and how, in the order given.

    A begin time is a lower bound: a job that still waits after it is as expected, and so is one that has ended after
    it, or that was cancelled before it started.
    """
    expected = list(expected)
    by_itself = {each.job for each in expected}
    found: list[tuple[str, str]] = []
    for each in expected:
        records = [job for job in queue.array(each.job) if job.record == each.job or job.record not in by_itself]
        if not records:
            one = queue.find(each.job)
            records = [] if one is None else [one]
        same = [job for job in records if each.submit_unix == job.submit_unix]
        if not same and each.begin_unix > now_unix:
            text = "is another job, submitted later" if records else "is no longer in the queue"
            found.append((each.job, f"{text}; was to begin at {when(each.begin_unix)}"))
        found += [(job.record, text) for job in same if (text := _difference(each, job, now_unix))]
    return found


def _difference(expected: Expected, job: SlurmJob, now_unix: int) -> str:
    if not job.is_pending:
        return _of_started(expected, job)
    if max(job.begin_unix or 0, expected.begin_unix) <= now_unix:
        return ""  # let go: Slurm puts begin times in the past at the present, or forgets them
    if job.begin_unix != expected.begin_unix:
        return f"begins at {when(job.begin_unix)}, not at {when(expected.begin_unix)}"
    latest_unix = job.latest_begin_unix
    if latest_unix is not None and latest_unix < expected.begin_unix:
        return f"begins at {when(job.begin_unix)}, too late for its deadline: Slurm will cancel it"
    return "is held" if job.held else ""


def _of_started(expected: Expected, job: SlurmJob) -> str:
    """What is wrong with a job that waits no longer; Slurm says of one that never ran that it started when it ended."""
    if "DEADLINE" in job.state_words:
        return f"was cancelled by Slurm for its deadline; was to begin at {when(expected.begin_unix)}"
    if job.start_unix is None or not job.allocated or job.start_unix >= expected.begin_unix:
        return ""
    return f"started at {when(job.start_unix)}, before {when(expected.begin_unix)}"
