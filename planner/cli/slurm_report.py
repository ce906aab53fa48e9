"""What ``plan slurm apply`` and ``undo`` say: one line per change, one per reason to leave jobs alone, or JSON."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from planner.cli.terminal import say, say_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.slurm.changes import Outcome, Proposal
    from planner.slurm.journal import Change

NAMED = 5
"""Jobs that a line names of those that share a reason."""


def report(
    proposal: Proposal,
    outcomes: Sequence[Outcome] | None,
    left_alone: Mapping[str, str],
    *,
    as_json: bool,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Say what would be changed, or what was; ``outcomes`` None: a dry run."""
    reasons = {each.job: each.reason for each in proposal.refusals} | dict(left_alone)
    if as_json:
        say_json(
            {
                **(also or {}),
                "dry_run": outcomes is None,
                "changes": _changes(proposal, outcomes),
                "left_alone": [{"job": job, "reason": reason} for job, reason in reasons.items()],
                "unchanged": list(proposal.unchanged),
            }
        )
        return
    taken = {each.change: each for each in outcomes or ()}
    for change in proposal.changes:
        outcome = taken.get(change)
        note = f"; not taken: {outcome.note}" if outcome is not None and not outcome.taken else ""
        say(f"  {change.job}  {_in_words(change)}{note}")
    say_reasons("left alone", reasons)
    done = sum(each.taken for each in taken.values())
    rest = f"{len(reasons):,} left alone, {len(proposal.unchanged):,} as wanted already"
    if outcomes is None:
        more = "; nothing was changed, --yes does it" if proposal.changes else ""
        say(f"dry run: {len(proposal.changes):,} to change, {rest}{more}")
    else:
        say(f"{done:,} changed, {len(outcomes) - done:,} not taken, {rest}")


def _changes(proposal: Proposal, outcomes: Sequence[Outcome] | None) -> list[dict[str, Any]]:
    results = {each.change: {"taken": each.taken, "note": each.note} for each in outcomes or ()}
    return [
        {"job": change.job, "old_unix": change.old_unix, "new_unix": change.new_unix, **results.get(change, {})}
        for change in proposal.changes
    ]


def _in_words(change: Change) -> str:
    from planner.slurm.journal import when

    if change.at_once:
        return f"may begin at once, no longer at {when(change.old_unix)}"
    return f"begins at {when(change.new_unix)}, was {when(change.old_unix)}"


def say_reasons(what: str, reasons: Mapping[str, str]) -> None:
    """One line per reason, with the first of its jobs."""
    jobs: dict[str, list[str]] = defaultdict(list)
    for job, reason in reasons.items():
        jobs[reason].append(job)
    for reason, names in jobs.items():
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        say(f"  {', '.join(names[:NAMED])}{more}  {what}: {reason}")


def say_not_taken(outcomes: Sequence[Outcome]) -> None:
    """The changes that Slurm has refused, on one line; nothing where it has refused none."""
    refused = [each for each in outcomes if each.refused]
    if refused:
        first, many = refused[0], f"{len(refused):,} of {len(outcomes):,} changes"
        say(f"plan: Slurm has not taken {many}; the first: job {first.change.job} {first.note}", err=True)
