"""The holds of a written plan given to Slurm: what was proposed, what became of it, and what is forgotten then."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.result import Hold
from planner.inputs.slurm.queue import Queue
from planner.slurm.changes import ChangeOutcome, Proposal
from planner.slurm.commands import Slurm
from planner.slurm.journal import forget_old, journal_of
from planner.slurm.send import carry_out, plan_changes
from planner.slurm.snapshot import queue_now
from planner.slurm.wanted import read_wanted, require_not_over
from planner.store.folder import alone_in
from planner.store.plan_versions import thin_out


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
