"""Which jobs may be held at all: those opted in by partition, QOS or comment, and what forbids it even then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.domain.method_params import LEAST_MARGIN_S, MARGIN_PART
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.journal import when

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
