"""Takes begin times of ours back: what to send so that every waiting job begins when it would have without us."""

from __future__ import annotations

from planner.slurm.changes import Change, Proposal, Refusal, in_order
from planner.slurm.current import Queue, Record, when
from planner.slurm.ours import Ours


def propose_undo(queue: Queue, ours: Ours, now_unix: int) -> Proposal:
    """The changes that take back what is still ours; jobs that have started or ended are past undoing.

    A job that had no begin time, or one that has passed by now, may begin at once.
    """
    changes: list[Change] = []
    refusals: list[Refusal] = []
    for job in queue.jobs:
        entry = ours.of(job) if job.pending else None
        if entry is None:
            set_by_others = job.pending and job.begin_unix is not None
            if set_by_others and {(job.id, job.submit_unix), (job.array, job.submit_unix)} & ours.entries.keys():
                refusals.append(Refusal(job.id, f"begins at {when(job.begin_unix)}, which is not a time of ours"))
            continue
        if _moves_others(job, queue, ours):
            refusals.append(
                Refusal(job.id, "tasks of this array have begin times that are not ours, and would move too")
            )
            continue
        old_unix = entry.old_unix
        at_once = old_unix is None or old_unix <= now_unix
        new_unix = now_unix if old_unix is None or at_once else old_unix
        changes.append(Change(job.id, job.submit_unix, job.begin_unix, new_unix, at_once))
    return Proposal(in_order(changes), tuple(refusals), ())


def _moves_others(job: Record, queue: Queue, ours: Ours) -> bool:
    """Whether a change of tasks that are together would also reach a task that is not ours to change."""
    return bool(job.tasks) and any(other.pending and ours.of(other) is None for other in queue.array(job.array))
