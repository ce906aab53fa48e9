"""``plan --day``: one day planned and written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from planner.cli.options import require_days, solve_time
from planner.cli.terminal import say, say_json
from planner.printable import printable
from planner.runs.check_request import (
    asked_day,
    open_scenario,
    params_of,
    parse_day,
    refuse_contradictions,
    require_names,
)
from planner.units import clock

if TYPE_CHECKING:
    from planner.domain.day_summary import DaySummary
    from planner.domain.situation import LeftAlone
    from planner.inputs.build import Day
    from planner.methods import Params
    from planner.planning.plan_day import PlannedDay
    from planner.runs.one_day import DoneDay, PlanRequest
    from planner.scenario.schema import Scenario

REASONS_SHOWN = 10
"""Reasons to leave jobs alone that a run names on the terminal; all are in run.json."""
CONFLICTS_SHOWN = 5
"""Conflicts that a run names on the terminal; all are in run.json."""


def plan_one(context: typer.Context, date: str) -> None:
    """Plan a day, write its folder, and print its summary."""
    require_days(date)
    given = context.params
    refuse_contradictions(given["snapshot"], given["nodes"], given["jobs"], fresh=given["fresh"])
    scenario, params = opened(context)
    day = parse_day(date, scenario.zone)
    asked = asked_day(scenario, day, fresh=given["fresh"], snapshot=given["snapshot"], nodes=given["nodes"])
    done = plan_asked(scenario, params, asked, given["out"], quiet=given["quiet"])
    if done.is_first and not (given["fresh"] or given["quiet"]):
        remark_gap(done.folder.parent, day)
    say_day(done.summary, done.folder, as_json=given["as_json"], quiet=given["quiet"])


def plan_asked(scenario: Scenario, params: Params, asked: PlanRequest, out: Path, *, quiet: bool) -> DoneDay:
    """Plan a day from a moment on, write its folder, and say what was odd about its inputs."""
    from planner.cli.terminal import Progress
    from planner.domain.horizon import Horizon
    from planner.runs.one_day import plan_from

    with Progress(f"planning {Horizon.of_unix(asked.moment_unix, scenario.zone).day}", quiet=quiet) as progress:
        done = plan_from(scenario, progress.watching(params), asked, out / scenario.name)
    remark_stand_in(done.summary)
    if done.planned is not None and not quiet:
        remark(done.planned.day)
        remark_limit(done.planned, params.time_limit_s)
        remark_left_alone(done.planned.day.situation.left_alone)
        remark_conflicts(done.conflicts)
    return done


def say_day(summary: DaySummary, folder: Path, *, as_json: bool, quiet: bool) -> None:
    """Print the summary of a day: as JSON, as text, or not at all."""
    from planner.cli.summary_text import summary_text

    if as_json:
        say_json(summary.as_dict())
    elif not quiet:
        say(summary_text(summary, str(folder)))


def opened(context: typer.Context) -> tuple[Scenario, Params]:
    """The scenario that the user means, and how its days are to be planned, by the options of a command."""
    given = context.params
    how = how_asked(given)
    scenario = open_scenario(given["scenario"], given["settings"] or (), given["seed"], given["jobs"])
    return scenario, params_of(scenario, command=context.obj or (), **how)


def how_asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """How days are to be planned, by the options of a command; errors that are only typing are told first."""
    limits = {"time_limit_s": solve_time(given["time_limit"], "--time-limit")}
    limits |= {"bound_time_s": solve_time(given["bound_time"], "--bound-time")}
    require_names(given["method"], given["engine"])
    names = ("method", "iterations", "workers", "engine", "rebook")
    others = {"also": given["also"] or (), "page": given.get("page", True)}
    return {name: given[name] for name in names} | limits | others


def remark(built: Day) -> None:
    """Say on stderr what the readers repaired and dropped, and which jobs were refused."""
    for intake in built.intakes:
        if intake.repaired or intake.dropped:
            say("\n".join(intake.lines()), err=True)
        else:
            for alert in intake.alerts:
                say(printable(alert), err=True)
    if built.rejected:
        job, why = built.rejected[0]
        more = f", and {len(built.rejected) - 1} more" if len(built.rejected) > 1 else ""
        say(f"rejected: job {printable(job.id)} {why.reason}{more} (all in deferred.csv)", err=True)
    if not built.problem.jobs and built.situation.started:
        say("no jobs wait; what has started goes on", err=True)
    elif not built.problem.jobs:
        say("no jobs are known for this day; the plan is empty", err=True)
        for note in built.intakes[0].notes:
            say(f"  {note}", err=True)
        if built.situation.nightly and built.scenario.jobs.visibility == "midnight":
            say("  jobs submitted on the day itself count with --set jobs.visibility=day", err=True)


def remark_conflicts(conflicts: Sequence[str]) -> None:
    """Say on stderr where a snapshot contradicts the last plan; the snapshot is right."""
    for text in conflicts[:CONFLICTS_SHOWN]:
        say(f"conflict with the last plan: {printable(text)}", err=True)
    if len(conflicts) > CONFLICTS_SHOWN:
        say(f"and {len(conflicts) - CONFLICTS_SHOWN:,} more conflicts (all in run.json)", err=True)


def remark_left_alone(jobs: Sequence[LeftAlone]) -> None:
    """Say on stderr which jobs are not planned, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for each in jobs:
        reasons.setdefault(each.reason, []).append(each.job_id)
    for reason, names in list(reasons.items())[:REASONS_SHOWN]:
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        say(f"left alone: job {printable(names[0])}{more}: {reason}", err=True)
    if len(reasons) > REASONS_SHOWN:
        say(f"and more, for {len(reasons) - REASONS_SHOWN:,} other reasons (all in run.json)", err=True)


def remark_limit(planned: PlannedDay, limit_s: float) -> None:
    """Say on stderr when it was the time limit, or a lost engine, that ended the search."""
    result = planned.result
    if result.engine_died:
        say("the engine died; this is the best plan until then; try another with --engine", err=True)
    if result.solve_s >= limit_s:
        say(
            f"the time limit of {clock(limit_s)} ended the search after {len(result.trials)} candidates;"
            " another run may end elsewhere",
            err=True,
        )


def remark_stand_in(summary: DaySummary) -> None:
    """Say on stderr when a plan broke a rule and another one stands in for it; a quiet run says it too."""
    if summary.stands_in_for:
        say(
            f"{summary.day}: {summary.stands_in_for}; a plan of {summary.method} stands in. Please report this"
            " bug of the planner",
            err=True,
        )


def remark_gap(folder: Path, day: dt.date) -> None:
    """Say on stderr when there are earlier days, but not the one before: then nothing is carried over."""
    from planner.runs.one_day import last_before

    earlier = last_before(folder, day)
    if earlier is not None:
        after, before = earlier + dt.timedelta(days=1), day - dt.timedelta(days=1)
        say(
            f"{day} starts anew: {folder} has a result of {earlier}, none of {before}; to carry work over, first"
            f" plan run --from {after} --to {before}",
            err=True,
        )
