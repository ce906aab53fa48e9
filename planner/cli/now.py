"""``plan now``: the day planned again from a moment on."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from planner.bounds import PLANNED_YEARS
from planner.cli import day
from planner.errors import InputError

AtOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="The moment, as 2024-06-01T10:00+02:00; default: this one.")
]
HoursOption = Annotated[float, typer.Option(help="How far ahead to plan; at least to the end of the day.")]


def now(
    context: typer.Context,
    at: AtOption = None,
    snapshot: day.SnapshotOption = None,
    nodes: day.NodesOption = None,
    hours: HoursOption = 24.0,
    scenario: day.ScenarioOption = None,
    method: day.MethodOption = None,
    time_limit: day.TimeLimitOption = day.TIME_LIMIT,
    seed: day.SeedOption = None,
    jobs: day.JobsOption = None,
    out: day.OutOption = Path("reports"),
    settings: day.SettingsOption = None,
    also: day.AlsoOption = None,
    workers: day.WorkersOption = 0,
    engine: day.EngineOption = None,
    iterations: day.IterationsOption = None,
    bound_time: day.BoundTimeOption = day.BOUND_TIME,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: day.QuietOption = False,
) -> None:
    """Plan what is left of the day, and some hours more, from a moment on.

    What has started by then stays as it is; only waiting jobs are planned. What is true comes from --snapshot; without
    one, from the last plan of today or yesterday as if all went by it, and from the jobs submitted since. The day's
    folder is written anew, and its last version kept in it. A job that is planned to start after midnight waits in
    deferred.csv with its planned start.

    Example: plan now --snapshot queue.csv --hours 48
    """
    moment = parse_moment(at)
    request = day.Request.of(context, "")
    day.refuse_contradictions(request)

    from planner.inputs.replan import HOURS
    from planner.runs.replan import Replan

    HOURS.require("--hours", hours)
    day.plan_from(request, day.open_settings(request, usual="replan"), Replan(moment, snapshot, nodes, hours))


def parse_moment(text: str | None) -> int:
    """A moment with its offset from UTC, in whole Unix seconds; None is this moment."""
    if text is None:
        moment = dt.datetime.now(dt.UTC)
    else:
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError as error:
            raise InputError(f"cannot read {text!r} as a moment; write it as 2024-06-01T10:00+02:00") from error
    if moment.tzinfo is None:
        raise InputError(f"the moment {text} has no offset from UTC; write it as 2024-06-01T10:00+02:00, or with Z")
    if moment.year not in PLANNED_YEARS:
        raise InputError(f"the moment {text} is out of range; its year must be {PLANNED_YEARS}")
    return int(moment.timestamp())
