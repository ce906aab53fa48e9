"""``plan now``: the day planned again from a moment on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from planner.cli import day, options
from planner.cli.terminal import say
from planner.errors import InputError, PlannerError
from planner.runs.check_request import asked_now, params_of

BROKEN_OFF = 1
"""Exit code of a run that did not come to its end."""

AtOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="The moment, as 2024-06-01T10:00+02:00; default: this one.")
]
HoursOption = Annotated[
    float, typer.Option(metavar="HOURS", help="How far ahead to plan; at least to the end of the day.")
]


def now(
    context: typer.Context,
    at: AtOption = None,
    snapshot: options.SnapshotOption = None,
    nodes: options.NodesOption = None,
    hours: HoursOption = 24.0,
    scenario: options.ScenarioOption = None,
    method: options.MethodOption = None,
    time_limit: options.TimeLimitOption = options.TIME_LIMIT,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    out: options.OutOption = Path("reports"),
    settings: options.SettingsOption = None,
    also: options.AlsoOption = None,
    workers: options.WorkersOption = 0,
    engine: options.EngineOption = None,
    iterations: options.IterationsOption = None,
    bound_time: options.BoundTimeOption = options.BOUND_TIME,
    rebook: options.RebookOption = False,
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
    brief: Annotated[bool, typer.Option("--brief", help="With --apply: one line, for a log.")] = False,
    metrics_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --apply: write what monitoring wants to know, for Prometheus."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Then hold and release jobs in Slurm, as plan slurm apply --yes does.")
    ] = False,
) -> None:
    """Plan what is left of the day, and some hours more, from a moment on.

    What has started by then stays as it is; only waiting jobs are planned. What is true comes from Slurm where the
    scenario says so (jobs.source: slurm), or from --snapshot: a table, or a folder of `plan slurm snapshot`. Without
    either, from the last plan of today or yesterday as if all went by it, and from the jobs submitted since. The day's
    folder is written anew, and its last version kept in it. A job that is planned to start after midnight waits in
    deferred.csv with its planned start.

    Example: plan now --snapshot queue.csv --hours 48
    """
    if not apply and (brief or metrics_file is not None):
        raise InputError("--brief and --metrics-file are about what --apply does; give it as well")
    if metrics_file is not None:
        from planner.text_files import require_other

        require_other(metrics_file, "--metrics-file", snapshot, nodes)
    code: int | None = None
    found: dict[str, float] = {}
    try:
        code = _planned(context, at, snapshot, nodes, hours, out, found)
    except PlannerError as error:
        code = error.exit_code
        raise
    finally:
        if metrics_file is not None:
            from planner.slurm.monitoring import write_metrics

            write_metrics(metrics_file, found, BROKEN_OFF if code is None else code, int(time.time()))
    if code:
        raise typer.Exit(code)


def _planned(
    context: typer.Context,
    at: str | None,
    snapshot: Path | None,
    nodes: Path | None,
    hours: float,
    out: Path,
    found: dict[str, float],
) -> int:
    """Plan from a moment on, and hold jobs in Slurm where that is asked for; the exit code, and in ``found`` the
    metrics."""
    given = context.params
    apply, brief, as_json = given["apply"], given["brief"], given["as_json"]
    quiet = given["quiet"] or brief
    how = day.how_asked(given)
    names = (given["scenario"], given["settings"] or (), given["seed"], given["jobs"])
    chosen, asked = asked_now(*names, at=at, snapshot=snapshot, nodes=nodes, hours=hours)
    params = params_of(chosen, command=context.obj or (), from_moment=True, **how)
    done = day.plan_asked(chosen, params, asked, out, quiet=quiet)
    if not (apply and as_json):
        day.say_day(done.summary, done.folder, as_json=as_json, quiet=quiet)
    if not apply:
        return 0

    from planner.cli.slurm import NOT_AS_WANTED, applied, not_taken
    from planner.slurm.send_changes import forget_after

    became = applied(done.folder, yes=True, as_json=as_json, quiet=quiet, also={"plan": done.summary.as_dict()})
    forget_after(done.folder, chosen.slurm.keep_days, became)
    if brief and not as_json:
        say(became.line)
    if given["metrics_file"] is not None:
        from planner.slurm.monitoring import held_metrics

        promises = done.summary.promises
        broken = 0 if promises is None else len(promises.broken)
        held, queue, journal = became.held, became.queue, became.journal
        found |= held_metrics(held, queue, journal, broken, chosen.zone, int(time.time()))
    return NOT_AS_WANTED if not_taken(became.outcomes) else 0
