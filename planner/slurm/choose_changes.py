"""Which begin times to change, held against the present queue: holds, and what to take back; why others are not.

Jobs may be held that are opted in by partition, QOS or comment, unless something forbids it even then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.domain.job import counting_key
from planner.domain.method_params import LEAST_MARGIN_S, MARGIN_PART
from planner.domain.result import Hold
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.slurm.journal import Change, Ours, when

JOB_ID = re.compile(r"[1-9][0-9]{0,9}(?:_[0-9]{1,10})?")

FURTHEST_S = 366 * 86_400
"""A start further ahead than this is a mistake, such as milliseconds in the place of seconds."""

BETWEEN_WORDS = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class Refusal:
    """A hold that is not sent, or a begin time that is not taken back, and why."""

    job: str
    reason: str


@dataclass(frozen=True)
class Proposal:
    """What would be sent, what would not, and what is as wanted already.

    ``held`` are the holds from then on, if Slurm takes all; ``comments`` are the lines that tell their users, in the
    attribute that ``tell`` names.
    """

    changes: tuple[Change, ...]
    refusals: tuple[Refusal, ...]
    unchanged: tuple[str, ...]
    held: Mapping[str, Hold] = field(default_factory=dict)
    comments: tuple[str, ...] = ()
    tell: str = "nobody"

    @property
    def reasons(self) -> dict[str, str]:
        """Why each job is left alone that is."""
        return {each.job: each.reason for each in self.refusals}


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
    wanted: Mapping[str, int], queue: Queue, rules: ChangeRules, ours: Ours, now_unix: int, holds: Mapping[str, Hold]
) -> Proposal:
    """The changes that hold every job until it is wanted, and release every other one that we held.

    ``wanted`` says until when each job is held [unix s]; an array's own id stands for all its tasks that wait.
    ``ours``, what was set earlier, tells the user's own begin time from ours, and what was promised. ``holds`` are what
    is noted of a hold: its promise, and what it saves.
    """
    changes: list[Change] = []
    refusals: list[Refusal] = []
    unchanged: list[str] = []
    kept: set[str] = set()
    for job_id, until_unix in sorted(wanted.items(), key=lambda each: counting_key(each[0])):
        jobs, reason = _targets(job_id, wanted, queue)
        hold = holds.get(job_id)
        for job in jobs:
            # An array is changed as a whole, so that one of its tasks refuses for all.
            reason = reason or _why_not(job, until_unix, rules, ours, now_unix, hold)
        if reason:
            refusals.append(Refusal(job_id, reason))
            continue
        kept.update(job.record for job in jobs)
        found = [
            Change(job_id if "_" in job_id else job.record, job.submit_unix, job.begin_unix, until_unix, hold=hold)
            for job in jobs
            if job.begin_unix != until_unix
        ]
        changes += found
        if not found:
            unchanged.append(job_id)
    released = propose_undo(queue, ours, now_unix, kept)
    return Proposal(in_order([*changes, *released.changes]), (*refusals, *released.refusals), tuple(unchanged))


def propose_undo(queue: Queue, ours: Ours, now_unix: int, kept: Collection[str] = ()) -> Proposal:
    """The changes that take back what is still ours, but for ``kept`` records; what has started or ended is past that.

    A job that had no begin time, or one that has passed by now, may begin at once. So may one whose hold is over.
    """
    changes: list[Change] = []
    refusals: list[Refusal] = []
    for job in queue.records:
        if not job.is_pending or job.record in kept or (job.begin_unix or 0) <= now_unix:
            continue
        entry = ours.of(job)
        if entry is None:
            if {(job.record, job.submit_unix), (job.array, job.submit_unix)} & ours.entries.keys():
                refusals.append(Refusal(job.record, f"begins at {when(job.begin_unix)}, which is not a time of ours"))
            continue
        if _moves_others(job, queue, ours, now_unix):
            refusals.append(
                Refusal(job.record, "tasks of this array have begin times that are not ours, and would move too")
            )
            continue
        old_unix = entry.old_unix
        at_once = old_unix is None or old_unix <= now_unix
        new_unix = now_unix if old_unix is None or at_once else old_unix
        changes.append(Change(job.record, job.submit_unix, job.begin_unix, new_unix, at_once, is_release=True))
    return Proposal(in_order(changes), tuple(refusals), ())


def _moves_others(job: SlurmJob, queue: Queue, ours: Ours, now_unix: int) -> bool:
    """Whether a change of tasks that are together would also reach a task that somebody else lets wait."""
    return bool(job.tasks) and any(
        other.is_pending and (other.begin_unix or 0) > now_unix and ours.of(other) is None
        for other in queue.array(job.array)
    )


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


def _why_not(job: SlurmJob, until_unix: int, rules: ChangeRules, ours: Ours, now_unix: int, hold: Hold | None) -> str:
    """Why a waiting job must not be held until a moment; empty when it may."""
    if until_unix <= now_unix:
        return f"its hold was over at {when(until_unix)}"
    if until_unix > now_unix + FURTHEST_S:
        return "more than a year ahead"
    reason = rules.why_not(job, until_unix)
    if reason:
        return reason
    own_unix = ours.own_begin(job)
    if own_unix is not None and own_unix > max(now_unix, until_unix):
        return f"its user lets it begin at {when(own_unix)} at the earliest"
    promised = ours.promise(job.record, job.submit_unix)
    given = [each.latest_unix for each in (hold, promised) if each is not None]
    if given and until_unix > min(given):
        return f"would be held for longer than its user was promised, {when(min(given))}"
    return ""


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
    """What holds must keep to.

    ``opt_in`` says whose begin times may be changed, ``furthest_s`` how long after a look at the queue a hold may end
    at most [s].
    """

    opt_in: OptIn
    furthest_s: int = FURTHEST_S

    def may_hold(self, job: SlurmJob, now_unix: int) -> bool:
        """Whether a waiting job may be held at all, whatever that saves."""
        return not self.why_not(job, now_unix + self.furthest_s)

    def why_not(self, job: SlurmJob, until_unix: int) -> str:
        """Why a waiting job must not be held until a moment; empty when it may."""
        latest_unix = job.latest_begin_unix
        if job.held:
            return "held"
        if job.het_job_id is not None:
            return "a part of a heterogeneous job, whose parts must begin together"
        if not self.opt_in.covers(job):
            return "not opted in by partition, QOS or comment"
        if job.deadline_unix is not None and job.limit_s is None:
            return f"has a deadline ({when(job.deadline_unix)}) and no time limit"
        if latest_unix is not None and until_unix > latest_unix - _margin_s(job):
            return f"too near to its deadline: it must begin by {when(latest_unix)}, or Slurm cancels it"
        return ""


def _margin_s(job: SlurmJob) -> int:
    """How long before the last possible moment a hold of a job with a deadline ends [s]."""
    return max(LEAST_MARGIN_S, (job.limit_s or 0) // MARGIN_PART)


def rules_of(scenario: Mapping[str, Any]) -> ChangeRules:
    """The rules by a scenario as run.json has it; plans of versions that knew no Slurm opt nobody in."""
    opt_in = scenario.get("slurm", {}).get("opt_in", {})
    delay_s = scenario.get("rules", {}).get("max_delay_s") or 0
    every_s = scenario.get("hold", {}).get("every_s") or 0
    return ChangeRules(
        OptIn(
            frozenset(opt_in.get("partitions", ())),
            frozenset(opt_in.get("qos", ())),
            frozenset(opt_in.get("comment", ())),
        ),
        furthest_s=delay_s + every_s,
    )
