"""Which begin times to change: wanted starts, or what to take back, held against the present queue; every refusal has
its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from planner.domain.job import counting_key
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.slurm.journal import Change, Ours, when

JOB_ID = re.compile(r"[1-9][0-9]{0,9}(?:_[0-9]{1,10})?")
FURTHEST_S = 366 * 86_400
"""A start further ahead than this is a mistake, such as milliseconds in the place of seconds."""
BETWEEN_WORDS = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class OptIn:
    """Whose begin times may be changed: jobs of these partitions, or of these QOS, or with one of these words in their
    comment. Nobody by default."""

    partitions: frozenset[str] = frozenset()
    qos: frozenset[str] = frozenset()
    comment_words: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        """Whether anybody can be opted in."""
        return bool(self.partitions or self.qos or self.comment_words)

    def covers(self, job: SlurmJob) -> bool:
        """Whether a job is opted in; one that may run in several partitions needs all of them."""
        return (
            (bool(job.partitions) and self.partitions.issuperset(job.partitions))
            or job.qos in self.qos
            or not self.comment_words.isdisjoint(BETWEEN_WORDS.split(job.comment))
        )


@dataclass(frozen=True)
class ChangeRules:
    """What changes must keep to.

    Parameters
    ----------
    opt_in
        Whose begin times may be changed.
    deadline_margin_s
        How long before the last possible moment a job with a deadline must begin [s]. Slurm does not start a job in the
        very second in which it may begin.
    """

    opt_in: OptIn
    deadline_margin_s: int = 0


@dataclass(frozen=True)
class Refusal:
    """A wanted start that is not sent, and why."""

    job: str
    reason: str


@dataclass(frozen=True)
class Proposal:
    """What would be sent, what would not, and what is as wanted already."""

    changes: tuple[Change, ...]
    refusals: tuple[Refusal, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True)
class ChangeOutcome:
    """What became of one change."""

    change: Change
    taken: bool
    note: str
    """Why it was not taken; empty when it was."""
    overtaken: bool = False
    """The job has started, ended or gone before the change reached it, which is no failure."""

    @property
    def refused(self) -> bool:
        """Whether the job still waits and Slurm has not taken the change."""
        return not self.taken and not self.overtaken


def propose(
    wanted: Mapping[str, int],
    queue: Queue,
    rules: ChangeRules,
    ours: Ours,
    now_unix: int,
    latest: Mapping[str, int] | None = None,
) -> Proposal:
    """The changes that make every job begin no earlier than wanted; a start that has come holds no job any longer.

    Parameters
    ----------
    wanted
        Start of each job [unix s]; an array's own id stands for all its tasks that wait.
    queue
        The queue as it is now.
    rules
        Whose begin times may be changed, and how far.
    ours
        What was set earlier, which tells the user's own begin time from ours.
    now_unix
        The present [unix s].
    latest
        The latest start that the user of a job was promised [unix s]; no limit for jobs that have none.
    """
    changes: list[Change] = []
    refusals: list[Refusal] = []
    unchanged: list[str] = []
    for job_id, start_unix in sorted(wanted.items(), key=lambda each: counting_key(each[0])):
        jobs, reason = _targets(job_id, wanted, queue)
        for job in jobs:
            # An array is changed as a whole, so that one of its tasks refuses for all.
            reason = reason or _why_not(job, start_unix, rules, ours, now_unix)
        if not reason and latest and start_unix > latest.get(job_id, start_unix):
            reason = f"would begin later than its user was promised, {when(latest[job_id])}"
        if reason:
            refusals.append(Refusal(job_id, reason))
        else:
            found = [change for job in jobs if (change := _change(job_id, job, start_unix, now_unix)) is not None]
            changes += found
            if not found:
                unchanged.append(job_id)
    return Proposal(in_order(changes), tuple(refusals), tuple(unchanged))


def propose_undo(queue: Queue, ours: Ours, now_unix: int) -> Proposal:
    """The changes that take back what is still ours; jobs that have started or ended are past undoing.

    A job that had no begin time, or one that has passed by now, may begin at once.
    """
    changes: list[Change] = []
    refusals: list[Refusal] = []
    for job in queue.records:
        entry = ours.of(job) if job.is_pending else None
        if entry is None:
            set_by_others = job.is_pending and job.begin_unix is not None
            if set_by_others and {(job.record, job.submit_unix), (job.array, job.submit_unix)} & ours.entries.keys():
                refusals.append(Refusal(job.record, f"begins at {when(job.begin_unix)}, which is not a time of ours"))
            continue
        if _moves_others(job, queue, ours):
            refusals.append(
                Refusal(job.record, "tasks of this array have begin times that are not ours, and would move too")
            )
            continue
        old_unix = entry.old_unix
        at_once = old_unix is None or old_unix <= now_unix
        new_unix = now_unix if old_unix is None or at_once else old_unix
        changes.append(Change(job.record, job.submit_unix, job.begin_unix, new_unix, at_once))
    return Proposal(in_order(changes), tuple(refusals), ())


def _moves_others(job: SlurmJob, queue: Queue, ours: Ours) -> bool:
    """Whether a change of tasks that are together would also reach a task that is not ours to change."""
    return bool(job.tasks) and any(other.is_pending and ours.of(other) is None for other in queue.array(job.array))


def _change(job_id: str, job: SlurmJob, start_unix: int, now_unix: int) -> Change | None:
    """What to send for a record that may begin at a moment; None where it does already.

    A moment that has come lets the job go, where an earlier plan of ours held it.
    """
    name = job_id if "_" in job_id else job.record
    if start_unix > now_unix:
        same = job.begin_unix == start_unix
        return None if same else Change(name, job.submit_unix, job.begin_unix, start_unix)
    waits = job.begin_unix is not None and job.begin_unix > now_unix
    return Change(name, job.submit_unix, job.begin_unix, now_unix, at_once=True) if waits else None


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """Whole arrays before single tasks: what is sent for an array reaches all its tasks."""
    return tuple(sorted(changes, key=lambda change: ("_" in change.job, counting_key(change.job))))


def _targets(job_id: str, wanted: Mapping[str, int], queue: Queue) -> tuple[list[SlurmJob], str]:
    """The waiting records that an id stands for, and why there are none."""
    if not JOB_ID.fullmatch(job_id):
        return [], "not a Slurm job id"
    array, _, task = job_id.partition("_")
    records = queue.array(job_id)
    if task and array in wanted:
        return [], f"a start is wanted for the whole array {array} as well; name one or the other"
    if records and any(other.partition("_")[0] == job_id and other != job_id for other in wanted):
        return [], "starts are wanted for single tasks of this array as well; name one or the other"
    if not records:
        found = queue.find(job_id)
        records = [] if found is None else [found]
    if not records:
        return [], "not in the queue"
    waiting = [job for job in records if job.is_pending]
    states = ", ".join(sorted({job.state_text for job in records}))
    return waiting, "" if waiting else f"already started or ended ({states})"


def _why_not(job: SlurmJob, start_unix: int, rules: ChangeRules, ours: Ours, now_unix: int) -> str:
    """Why a waiting job must not begin at a moment; empty when it may."""
    own_unix = ours.own_begin(job)
    latest_unix = job.latest_begin_unix
    if job.held:
        return "held"
    if job.het_job_id is not None:
        return "a part of a heterogeneous job, whose parts must begin together"
    if not rules.opt_in.covers(job):
        return "not opted in by partition, QOS or comment"
    if start_unix > now_unix + FURTHEST_S:
        return "more than a year ahead"
    if job.deadline_unix is not None and job.limit_s is None:
        return f"has a deadline ({when(job.deadline_unix)}) and no time limit"
    if latest_unix is not None and start_unix > latest_unix - rules.deadline_margin_s:
        return f"Slurm would cancel it: to end by its deadline it must begin by {when(latest_unix)}"
    if own_unix is not None and own_unix > max(now_unix, start_unix):
        return f"its user lets it begin at {when(own_unix)} at the earliest"
    return ""
