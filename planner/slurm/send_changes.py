"""The holds of a written plan given to Slurm: look first (`plan_changes`), then send, read back, compare."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.domain.result import Hold
from planner.errors import SlurmError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.slurm.choose_changes import JOB_ID, ChangeOutcome, Proposal, propose, propose_undo
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.job_comments import comment_updates, why_untold
from planner.slurm.journal import Change, forget_old, journal_of, read_ours, when, write_changes, write_results
from planner.slurm.planned_holds import Wanted, holds_of, read_wanted, require_not_over
from planner.store.folder import alone_in
from planner.store.plan_versions import thin_out

CLOCKS_DIFFER_S = 60
"""How much the controller's clock may differ from ours where a job was let go at once [s]."""

AGAIN = "try again"
"""What Slurm says as long as the accounts do not know a job: `DB index is being set, try again`."""

PAUSES_S = (1, 2, 3)
"""How long to wait before each further try [s]."""


@dataclass(frozen=True)
class Applied:
    """What became of the holds of a plan: what was proposed, what Slurm took, and the queue before.

    ``outcomes`` is None in a dry run; ``remarks`` are lines about comments that Slurm has not taken; ``is_open`` says
    whether anybody is opted in.
    """

    proposal: Proposal
    outcomes: Sequence[ChangeOutcome] | None
    queue: Queue
    journal: Path
    remarks: tuple[str, ...]
    is_open: bool

    @property
    def held(self) -> Mapping[str, Hold]:
        """What is held from now on, by what Slurm took."""
        lost = {each.change.job for each in self.outcomes or () if not each.taken}
        return {name: hold for name, hold in self.proposal.held.items() if name not in lost}

    @property
    def line(self) -> str:
        """The run in one line, for a log."""
        taken = [each.change for each in self.outcomes or () if each.taken]
        released = sum(each.is_release for each in taken)
        refused = sum(each.refused for each in self.outcomes or ())
        said = f"{len(self.held):,} held, {len(taken) - released:,} new or moved, {released:,} released"
        return f"{said}, {len(self.proposal.refusals):,} left alone" + (f", {refused:,} not taken" if refused else "")


def apply_plan(folder: Path, *, yes: bool) -> Applied:
    """Give the holds of a plan to Slurm, and release what is no longer held; without ``yes`` a dry run."""
    wanted = read_wanted(folder)
    require_not_over(wanted, folder, int(time.time()))
    slurm, journal, remarks = Slurm(), journal_of(folder), list[str]()
    queue = queue_now(slurm)
    proposal = plan_changes(queue, wanted, journal)
    outcomes = carry_out(slurm, proposal, journal, remarks=remarks) if yes else None
    return Applied(proposal, outcomes, queue, journal, tuple(remarks), wanted.rules.opt_in.any)


def forget_after(folder: Path, keep_days: int, became: Applied) -> None:
    """Forget what is older than the site keeps: versions of days, and jobs of the journal that are over."""
    thin_out(folder.parent, dt.date.fromisoformat(folder.name) - dt.timedelta(days=keep_days))
    waiting = {(job.array or job.record, job.submit_unix) for job in became.queue.records if job.is_pending}
    with alone_in(folder.parent):
        forget_old(became.journal, waiting, int(time.time()))


def told_changes(proposal: Proposal, outcomes: Sequence[ChangeOutcome] | None) -> dict[str, Any]:
    """Changes as `--json` has them; ``outcomes`` None: a dry run."""
    results = {each.change: {"taken": each.taken, "note": each.note} for each in outcomes or ()}
    return {
        "dry_run": outcomes is None,
        "changes": [
            {"job": change.job, "old_unix": change.old_unix, "new_unix": change.new_unix, **results.get(change, {})}
            for change in proposal.changes
        ],
        "left_alone": [{"job": job, "reason": reason} for job, reason in proposal.reasons.items()],
        "unchanged": list(proposal.unchanged),
    }


Clock = Callable[[], float]


def plan_changes(queue: Queue, wanted: Wanted, journal: Path) -> Proposal:
    """What `carry_out` would send for the holds of a plan, and to release all others of ours; changes nothing."""
    ours, now_unix = read_ours(journal), int(time.time())
    holds, given_up = holds_of(wanted, queue, ours, now_unix)
    until = {name: hold.until_unix for name, hold in holds.items()}
    found = propose(until, queue, wanted.rules, ours, now_unix, holds)
    held = {name: holds[name] for name in found.unchanged}
    held |= {each.job: each.hold for each in found.changes if each.hold is not None}
    comments = comment_updates(queue, held, wanted.tell, wanted.zone)
    return replace(found, refusals=(*given_up, *found.refusals), held=held, comments=tuple(comments), tell=wanted.tell)


def plan_undo(queue: Queue, wanted: Wanted, journal: Path) -> Proposal:
    """What `carry_out` would send to take back what is still ours; changes nothing."""
    found = propose_undo(queue, read_ours(journal), int(time.time()))
    comments = comment_updates(queue, {}, wanted.tell, wanted.zone)
    return replace(found, comments=tuple(comments), tell=wanted.tell)


def carry_out(
    slurm: Slurm, proposal: Proposal, journal: Path, clock: Clock = time.time, remarks: list[str] | None = None
) -> list[ChangeOutcome]:
    """Send changes, read the queue back, and say for each whether Slurm has taken it.

    The journal is on the disk before anything is sent. Whatever fails from then on, what has reached Slurm can be
    undone. Where Slurm asks to be tried again, as after a restart, that is done for some seconds. Comments go after the
    changes; where they are not taken ``remarks`` gets a line that says so, and that is all.

    Raises
    ------
    SlurmError
        Slurm's commands are missing or do not answer.
    OutputError
        The journal cannot be written; nothing was sent.
    """
    changes = proposal.changes
    if not changes and not proposal.comments:
        return []
    updates = "".join(map(_update, changes))
    with alone_in(journal.parent):
        write_changes(journal, changes, int(clock()))
        # Its status says no more than that some update failed, such as that of a job which has just started.
        said = slurm.run("scontrol", stdin=updates).errors if changes else ""
        untold = slurm.run("scontrol", stdin="".join(proposal.comments)).errors if proposal.comments else ""
        if remarks is not None and (why := why_untold(untold, proposal.tell)):
            remarks.append(why)
        outcomes = _outcomes(slurm, changes, said, clock)
        for pause_s in PAUSES_S:
            again = [each.change for each in outcomes if each.refused and AGAIN in each.note]
            if not again:
                break
            time.sleep(pause_s)
            said = slurm.run("scontrol", stdin="".join(map(_update, again))).errors
            renewed = {each.change: each for each in _outcomes(slurm, again, said, clock)}
            outcomes = [renewed.get(each.change, each) for each in outcomes]
        write_results(journal, ((each.change, each.taken, each.note) for each in outcomes), int(clock()))
    return outcomes


def _outcomes(slurm: Slurm, changes: Sequence[Change], said: str, clock: Clock) -> list[ChangeOutcome]:
    """What became of changes, by the queue as it is now."""
    if not changes:
        return []
    queue, now_unix = queue_now(slurm), int(clock())
    alone = {change.job for change in changes}
    return [_outcome(change, queue, alone, said, now_unix) for change in changes]


def _update(change: Change) -> str:
    """One line for scontrol; made of digits alone, whatever the queue held."""
    if not JOB_ID.fullmatch(change.job) or change.new_unix <= 0:
        raise SlurmError(f"not sent to Slurm: job {change.job!r} at {change.new_unix!r}")
    return f"update JobId={change.job} StartTime=uts{int(change.new_unix):d}\n"


def _outcome(change: Change, queue: Queue, alone: set[str], said: str, now_unix: int) -> ChangeOutcome:
    records = _records(change, queue, alone)
    if not records:
        return ChangeOutcome(change, False, "no longer in the queue", overtaken=True)
    waiting = [job for job in records if job.is_pending]
    others = [job for job in waiting or records if not _as_wanted(change, job, now_unix)]
    if not others:
        return ChangeOutcome(change, True, "")
    if not waiting:
        return ChangeOutcome(change, False, f"already started or ended ({others[0].state_text})", overtaken=True)
    reason = _reason(change.job, said)
    return ChangeOutcome(change, False, f"begins at {when(others[0].begin_unix)}" + (f" ({reason})" if reason else ""))


def _records(change: Change, queue: Queue, alone: set[str]) -> list[SlurmJob]:
    """The records that a change is about; where an array has fallen apart since, its tasks without their own change."""
    found = queue.find(change.job)
    candidates = [found] if found is not None else [job for job in queue.array(change.job) if job.record not in alone]
    return [job for job in candidates if job.submit_unix == change.submit_unix]


def _as_wanted(change: Change, job: SlurmJob, now_unix: int) -> bool:
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
