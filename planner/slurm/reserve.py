"""Makes and deletes reservations in Slurm, puts jobs into them, and reads back what has become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.errors import SlurmError
from planner.slurm.changes import JOB_ID, Outcome
from planner.slurm.commands import Slurm, first_line
from planner.slurm.current import Queue
from planner.slurm.ours import Made
from planner.slurm.reservations import NODE, USER, find_job
from planner.slurm.reserved import ReservationChange, Reserved, name_of, reservations_now

FLAGS = ",".join(
    (
        "IGNORE_JOBS",  # what runs on the nodes goes on, also where its limit is later than the planned start
        "OVERLAP",  # the next wide job may be reserved for before the margin of this one is over
        "NO_HOLD_JOBS_AFTER",  # a job that has not started by its end waits on as any other, and is not held
        "PURGE_COMP=00:01:00",  # Slurm itself deletes it when no job has been in it for a minute
    )
)
DENIED = ("Invalid user id", "Access/permission denied")
"""What Slurm says to those who may not make reservations."""


def require_plain(change: ReservationChange) -> None:
    """SlurmError unless nothing but ids, digits, and names of nodes and a user would reach scontrol."""
    plain = JOB_ID.fullmatch(change.job) is not None and change.name == name_of(change.job)
    if plain and change.new is not None:
        nodes, user = change.new.nodes, change.new.user
        plain = bool(nodes) and all(NODE.fullmatch(node) for node in nodes) and USER.fullmatch(user) is not None
        plain = plain and change.new.end_unix is not None
    if not plain:
        raise SlurmError(f"not sent to Slurm: {change!r}")


def send(slurm: Slurm, change: ReservationChange) -> str:
    """Send one change, step by step; what Slurm said about the step that failed, or nothing."""
    if change.old is not None and change.old != change.new:
        said = _delete(slurm, change)
        if said:
            return said
    if change.new is None:
        return ""
    if change.old != change.new:
        said = _create(slurm, change.name, change.new)
        if said:
            return said
    said = _run(slurm, "update", f"JobId={change.job}", f"ReservationName={change.name}")
    if said:
        _delete(slurm, change)  # without its job it would keep others out for nothing
    return said


def outcomes_of(slurm: Slurm, changes: Sequence[ReservationChange], said: Sequence[str], queue: Queue) -> list[Outcome]:
    """What has become of changes that were sent, by the queue and the reservations that are read back."""
    if not changes:
        return []
    present = {each.name: Reserved.of(each) for each in reservations_now(slurm)}
    return [_outcome(slurm, change, words, queue, present) for change, words in zip(changes, said, strict=True)]


def _outcome(
    slurm: Slurm, change: ReservationChange, said: str, queue: Queue, present: Mapping[str, Reserved]
) -> Outcome:
    job = find_job(Made(change.job, change.submit_unix, ()), queue)
    there = present.get(change.name)
    if change.new is None:
        # Where Slurm keeps a reservation as long as its job runs, it deletes it afterwards by itself.
        if there is None:
            return Outcome(change, True, "")
        return Outcome(change, False, said or "is still there", overtaken=job is not None and "RUNNING" in job.state)
    if job is None or not job.pending:
        if there is not None:
            _delete(slurm, replace(change, inside=job is not None))
        state = "no longer in the queue" if job is None else f"already started or ended ({job.state})"
        return Outcome(change, False, state, overtaken=True)
    if there == change.new and job.reservation == change.name:
        return Outcome(change, True, "")
    return Outcome(change, False, said or "the reservation is not as it should be")


def _delete(slurm: Slurm, change: ReservationChange) -> str:
    """Slurm deletes a reservation only when no job that waits or runs belongs to it."""
    if change.inside:
        _run(slurm, "update", f"JobId={change.job}", "ReservationName=")  # a job that has just ended is refused
    return _run(slurm, "delete", f"ReservationName={change.name}")


def _create(slurm: Slurm, name: str, new: Reserved) -> str:
    times = (f"StartTime=uts{new.start_unix:d}", f"EndTime=uts{new.end_unix:d}")
    whom = (f"Nodes={','.join(new.nodes)}", f"Users={new.user}", f"Flags={FLAGS}")
    return _run(slurm, "create", "reservation", f"ReservationName={name}", *times, *whom)


def _run(slurm: Slurm, *words: str) -> str:
    """What scontrol said where it failed; nothing where it did not."""
    answer = slurm.run("scontrol", *words)
    if not answer.status:
        return ""
    said = first_line(answer.errors)
    hint = " (reservations are for operators of Slurm to make)" if said.endswith(DENIED) else ""
    return said + hint
