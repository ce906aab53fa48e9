"""Sets begin times and makes reservations in Slurm: look first (`plan_changes`), then send, read back, compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from planner.errors import SlurmError
from planner.slurm.changes import JOB_ID, Change, Outcome, Proposal, Rules, propose
from planner.slurm.commands import Slurm
from planner.slurm.current import Queue, Record, read_queue, when
from planner.slurm.journal import read_ours, write_changes, write_reservations, write_reserved, write_results
from planner.slurm.reservations import Place, propose_give_back, propose_reservations
from planner.slurm.reserve import outcomes_of, require_plain, send
from planner.slurm.reserved import ReservationChange, reservations_now
from planner.slurm.undo import propose_undo
from planner.store.folder import alone_in

CLOCKS_DIFFER_S = 60
"""How much the controller's clock may differ from ours where a job was let go at once [s]."""

Clock = Callable[[], float]


def plan_changes(
    slurm: Slurm,
    wanted: Mapping[str, int],
    rules: Rules,
    journal: Path,
    clock: Clock = time.time,
    *,
    places: Mapping[str, Place] | None = None,
) -> Proposal:
    """What `carry_out` would send for these starts; changes nothing. Wide jobs get reservations at their ``places``."""
    queue, ours, now_unix = read_queue(slurm), read_ours(journal), int(clock())
    proposal = propose(wanted, queue, rules, ours, now_unix)
    if not places and not ours.reservations:
        return proposal
    refused = {each.job: each.reason for each in proposal.refusals}
    found = propose_reservations(places or {}, refused, queue, reservations_now(slurm), ours, now_unix)
    return replace(proposal, reservations=found.changes, unreserved=found.refusals)


def plan_undo(slurm: Slurm, journal: Path, clock: Clock = time.time) -> Proposal:
    """What `carry_out` would send to take back what is still ours; changes nothing."""
    queue, ours = read_queue(slurm), read_ours(journal)
    proposal = propose_undo(queue, ours, int(clock()))
    if not ours.reservations:
        return proposal
    found = propose_give_back(queue, reservations_now(slurm), ours)
    return replace(proposal, reservations=found.changes, refusals=(*proposal.refusals, *found.refusals))


def carry_out(
    slurm: Slurm,
    changes: Sequence[Change],
    journal: Path,
    clock: Clock = time.time,
    *,
    reservations: Sequence[ReservationChange] = (),
    undo: bool = False,
) -> list[Outcome]:
    """Send changes, read queue and reservations back, and say for each whether Slurm has taken it.

    The journal is on the disk before anything is sent. Whatever fails from then on, what has reached Slurm can be
    undone. Reservations go first: a job that is let go should find its nodes kept.

    Raises
    ------
    SlurmError
        Slurm's commands are missing or do not answer.
    OutputError
        The journal cannot be written; nothing was sent.
    """
    if not changes and not reservations:
        return []
    updates = "".join(_update(change) for change in changes)
    for each in reservations:
        require_plain(each)
    with alone_in(journal.parent):
        write_reservations(journal, reservations, int(clock()))
        write_changes(journal, changes, int(clock()), undo=undo)
        reserved = [send(slurm, change) for change in reservations]
        # Its status says no more than that some update failed, such as that of a job which has just started.
        said = slurm.run("scontrol", stdin=updates).errors if changes else ""
        queue, now_unix = read_queue(slurm), int(clock())
        alone = {change.job for change in changes}
        begun = [(change, _outcome(change, queue, alone, said, now_unix)) for change in changes]
        kept = list(zip(reservations, outcomes_of(slurm, reservations, reserved, queue), strict=True))
        write_reserved(journal, ((change, each.taken, each.note) for change, each in kept), int(clock()))
        write_results(journal, ((change, each.taken, each.note) for change, each in begun), int(clock()), undo=undo)
    return [outcome for _, outcome in (*kept, *begun)]


def _update(change: Change) -> str:
    """One line for scontrol; made of digits alone, whatever the queue held."""
    if not JOB_ID.fullmatch(change.job) or change.new_unix <= 0:
        raise SlurmError(f"not sent to Slurm: job {change.job!r} at {change.new_unix!r}")
    return f"update JobId={change.job} StartTime=uts{int(change.new_unix):d}\n"


def _outcome(change: Change, queue: Queue, alone: set[str], said: str, now_unix: int) -> Outcome:
    records = _records(change, queue, alone)
    if not records:
        return Outcome(change, False, "no longer in the queue", overtaken=True)
    waiting = [job for job in records if job.pending]
    others = [job for job in waiting or records if not _as_wanted(change, job, now_unix)]
    if not others:
        return Outcome(change, True, "")
    if not waiting:
        return Outcome(change, False, f"already started or ended ({others[0].state})", overtaken=True)
    reason = _reason(change.job, said)
    return Outcome(change, False, f"begins at {when(others[0].begin_unix)}" + (f" ({reason})" if reason else ""))


def _records(change: Change, queue: Queue, alone: set[str]) -> list[Record]:
    """The records that a change is about; where an array has fallen apart since, its tasks without their own change."""
    found = queue.find(change.job)
    candidates = [found] if found is not None else [job for job in queue.array(change.job) if job.id not in alone]
    return [job for job in candidates if job.submit_unix == change.submit_unix]


def _as_wanted(change: Change, job: Record, now_unix: int) -> bool:
    if job.begin_unix == change.new_unix:
        return True
    # Slurm forgets a begin time that has come where the job still waits for another one, and makes one that comes
    # while it is being sent the present.
    if job.begin_unix is None:
        return change.at_once or change.new_unix <= now_unix
    if change.at_once:
        return job.begin_unix <= change.new_unix + CLOCKS_DIFFER_S
    return change.new_unix < job.begin_unix <= now_unix


def _reason(job_id: str, said: str) -> str:
    """What scontrol said about one job: "... for job 42", or "42_1-2: ..." for an array."""
    for line in said.splitlines():
        if line.endswith(f" for job {job_id}") or line.startswith((f"{job_id}_", f"{job_id}:")):
            return line.strip()
    return ""
