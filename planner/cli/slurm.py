"""``plan slurm``: what Slurm says saved, and holds given to Slurm, verified and taken back."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.options import JsonOption
from planner.cli.terminal import say, say_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.slurm.choose_changes import ChangeOutcome, Proposal
    from planner.slurm.journal import Change
    from planner.slurm.send_changes import Applied

NAMED = 5
"""Jobs that a line names of those that share a reason."""


def report(
    proposal: Proposal,
    outcomes: Sequence[ChangeOutcome] | None,
    *,
    as_json: bool,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Say what would be changed, or what was; ``outcomes`` None: a dry run."""
    from planner.slurm.send_changes import told_changes

    if as_json:
        say_json({**(also or {}), **told_changes(proposal, outcomes)})
        return
    reasons = proposal.reasons
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


def _in_words(change: Change) -> str:
    from planner.slurm.journal import when

    if change.at_once:
        return f"may begin at once, no longer at {when(change.old_unix)}"
    hold = f"; at the latest {when(change.hold.latest_unix)}" if change.hold is not None else ""
    return f"begins at {when(change.new_unix)}, was {when(change.old_unix)}{hold}"


def say_reasons(what: str, reasons: Mapping[str, str]) -> None:
    """One line per reason, with the first of its jobs."""
    jobs: dict[str, list[str]] = defaultdict(list)
    for job, reason in reasons.items():
        jobs[reason].append(job)
    for reason, names in jobs.items():
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        say(f"  {', '.join(names[:NAMED])}{more}  {what}: {reason}")


def say_not_taken(outcomes: Sequence[ChangeOutcome]) -> None:
    """The changes that Slurm has refused, on one line; nothing where it has refused none."""
    refused = [each for each in outcomes if each.refused]
    if refused:
        first, many = refused[0], f"{len(refused):,} of {len(outcomes):,} changes"
        say(f"plan: Slurm has not taken {many}; the first: job {first.change.job} {first.note}", err=True)


NOT_AS_WANTED = 9
"""Exit code: Slurm has not taken a change, or its queue is not as it was left."""

app = typer.Typer(help="Slurm: save what it says; hold jobs, verify and undo that.", no_args_is_help=True)

PlanArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a planned day.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do it; without this, say what would be done.")]


@app.callback()
def slurm() -> None:
    """Save what Slurm says; give it holds as begin times of jobs, verify them, take them back.

    Needs Slurm's own commands, found along PATH (SLURM_CONF counts), and for changes a user who may change jobs. Exit
    codes: 8 where a command is missing, fails or does not answer; 9 where Slurm has not taken a change, or its queue is
    not as it was left.
    """


@app.command("snapshot")
def snapshot(
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for it; default snapshots/MOMENT.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Save what Slurm says of its jobs, nodes, reservations and the day's ended jobs, as it came.

    `plan now --snapshot DIR` plans from it, here or elsewhere, as often as wanted.
    """
    from planner.slurm.commands import Slurm, save, take

    taken = take(Slurm())
    moment = time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime(taken.moment_unix))
    saved = save(taken, out or Path("snapshots") / moment)
    queue, nodes = saved.queue(), saved.nodes()
    waiting, running = queue.of_state("pending"), queue.of_state("running")
    odd = [job for job in waiting if job.obstacles]
    facts = {
        "folder": saved.source,
        "moment_unix": saved.moment_unix,
        "slurm": saved.version,
        "nodes": len(nodes),
        "waiting": len(waiting),
        "running": len(running),
        "ended": len(saved.accounts().ended),
        "reservations": len(saved.reservations()),
        "not_planned": [{"job": job.label, "reason": "; ".join(job.obstacles)} for job in odd],
        "remarks": list(saved.remarks),
    }
    for remark in saved.remarks:
        say(remark, err=True)
    if as_json:
        say_json(facts)
        return
    say(
        f"{saved.source}: {len(waiting):,} jobs wait, {len(running):,} run, {facts['ended']:,} have ended;"
        f" {len(nodes):,} nodes, {facts['reservations']:,} reservations (Slurm {saved.version})"
    )
    say_reasons("cannot be planned", {job.label: "; ".join(job.obstacles) for job in odd})


@app.command("apply")
def apply(folder: PlanArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Give the holds of a plan to Slurm, as begin times of the jobs that wait; a dry run without --yes.

    Only jobs that are held for a cheaper hour get a begin time; all others that an earlier run held are released. Only
    jobs that the plan's scenario has opted in (`slurm.opt_in`) are touched. What was set is kept in slurm-journal.jsonl
    beside the days, for undo.
    """
    _end(applied(folder, yes=yes, as_json=as_json).outcomes)


def applied(
    folder: Path, *, yes: bool, as_json: bool, quiet: bool = False, also: Mapping[str, Any] | None = None
) -> Applied:
    """Give the holds of a plan to Slurm and say what became of it; ``also`` stands in the JSON beside that.

    ``quiet``: say only what Slurm has not taken, in one line; JSON that is asked for is printed all the same.
    """
    from planner.slurm.send_changes import apply_plan

    became = apply_plan(folder, yes=yes)
    for remark in () if quiet else became.remarks:
        say(remark, err=True)
    if quiet and not as_json:
        say_not_taken(became.outcomes or ())
    else:
        report(became.proposal, became.outcomes, as_json=as_json, also=also)
        if not became.is_open and not as_json:
            say("nobody is opted in: set slurm.opt_in in the scenario, and plan again", err=True)
    return became


@app.command("undo")
def undo(folder: PlanArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Take back every begin time of the site that is still ours; a dry run without --yes.

    Jobs get the begin time that they had before the first of ours. What somebody else has changed since stays.
    """
    from planner.slurm.commands import Slurm, queue_now
    from planner.slurm.journal import journal_of
    from planner.slurm.planned_holds import read_wanted
    from planner.slurm.send_changes import carry_out, plan_undo

    slurm, journal = Slurm(), journal_of(folder)
    proposal = plan_undo(queue_now(slurm), read_wanted(folder), journal)
    outcomes = carry_out(slurm, proposal, journal) if yes else None
    report(proposal, outcomes, as_json=as_json)
    _end(outcomes)


@app.command("verify")
def verify(folder: PlanArgument, as_json: JsonOption = False) -> None:
    """Compare Slurm's queue with the begin times that were set; exit code 9 where it differs."""
    from planner.slurm.commands import Slurm
    from planner.slurm.journal import journal_of, read_ours
    from planner.slurm.verify import differences, from_journal, queue_with_gone

    expected, now_unix = from_journal(read_ours(journal_of(folder))), int(time.time())
    found = differences(expected, queue_with_gone(Slurm(), expected, now_unix), now_unix)
    if as_json:
        say_json({"set": len(expected), "differences": [{"job": name, "text": text} for name, text in found]})
    else:
        for name, text in found:
            say(f"  {name}  {text}")
        say(f"begin times that were set: {len(expected):,}, of which differ: {len(found):,}")
    if found:
        raise typer.Exit(NOT_AS_WANTED)


def _end(outcomes: Sequence[ChangeOutcome] | None) -> None:
    if not_taken(outcomes):
        raise typer.Exit(NOT_AS_WANTED)


def not_taken(outcomes: Sequence[ChangeOutcome] | None) -> bool:
    """Whether Slurm has refused a change of a job that still waits."""
    return any(each.refused for each in outcomes or ())


def why(
    job: Annotated[str, typer.Argument(metavar="JOBID", help="A job, a task as 42_7, or an array.")],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a planned day, or of a site's days.")
    ] = Path("reports/site"),
) -> None:
    """Say why a job waits: what the last plan expects of it, what holding it saves, and how to opt out."""
    from planner.slurm.why import last_day, why

    for line in why(last_day(folder), job):
        say(line)
