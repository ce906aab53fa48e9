"""``plan --day``: one day planned and written."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.errors import InputError
from planner.units import clock, parse_duration

if TYPE_CHECKING:
    from planner.pipeline.build import Day
    from planner.pipeline.day import PlannedDay
    from planner.readers.scenario.schema import Scenario


def parse_day(text: str) -> dt.date:
    """A calendar day such as 2024-06-01."""
    try:
        day = dt.date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"cannot read {text!r} as a day; write it as 2024-06-01") from error
    if not 1970 <= day.year < 2200:
        raise InputError(f"the day {text} is out of range; it must lie between 1970 and 2199")
    return day


DayOption = Annotated[str | None, typer.Option("--day", metavar="YYYY-MM-DD", help="The day to plan.")]
ScenarioOption = Annotated[
    str | None,
    typer.Option("--scenario", "-s", help="Name or file of a scenario; default: site if there is one, else sample."),
]
JobsOption = Annotated[
    Path | None, typer.Option("--jobs", help="A jobs file (SWF, CSV, Parquet) in place of the scenario's.")
]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a scenario key; may be repeated.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]


@dataclass(frozen=True)
class Request:
    """What the user asked of ``plan --day``."""

    date: str
    scenario: str | None
    method: str | None
    time_limit: str
    seed: int | None
    jobs: Path | None
    out: Path
    settings: tuple[str, ...]
    also: tuple[str, ...]
    workers: int
    as_json: bool
    quiet: bool
    command: tuple[str, ...]


def plan_one(request: Request) -> None:
    """Plan a day, write its folder, and print its summary."""
    from planner.methods import DEFAULT_METHOD, Params, method_named
    from planner.search.stop import MaxRuntime

    day = parse_day(request.date)
    limit_s = parse_duration(request.time_limit)
    method = request.method or DEFAULT_METHOD
    method_named(method)
    began = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    scenario = open_scenario(request.scenario, request.settings, request.seed, request.jobs)

    from planner.cli.progress import Progress
    from planner.pipeline.build import build_day
    from planner.pipeline.day import plan_day
    from planner.report.folder import held
    from planner.report.provenance import provenance
    from planner.report.summary import summary_text
    from planner.report.write import require_formats, write_day

    require_formats(request.also)
    target = request.out / scenario.name / day.isoformat()
    with held(target):
        with Progress(f"planning {day}", quiet=request.quiet) as progress:
            built = build_day(scenario, day)
            params = Params(seed=scenario.seed, workers=request.workers, on_trial=progress.trial)
            planned = plan_day(built, method, params, MaxRuntime(limit_s))
        if not request.quiet:
            remark(built)
            remark_limit(planned, limit_s)
        run = provenance(
            scenario,
            method=method,
            seed=scenario.seed,
            workers=params.worker_count,
            time_limit_s=limit_s,
            command=request.command,
            began=began,
        )
        summary = write_day(planned, target, run, request.also)
    if request.as_json:
        import json

        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        typer.echo(summary_text(summary, str(target)))


def open_scenario(
    name: str | None, settings: tuple[str, ...], seed: int | None = None, jobs: Path | None = None
) -> Scenario:
    """The scenario that the user means, with everything that the command line sets."""
    import json

    from planner.places import scenario_folders
    from planner.readers.files import require_file
    from planner.readers.scenario.load import load_scenario

    folders = scenario_folders(Path.cwd())
    if name is None:
        name = "site" if any((folder / "site.yaml").is_file() for folder in folders) else "sample"
    overrides = list(settings)
    if jobs is not None:
        # What the scenario says of its own file does not hold for another one.
        source = json.dumps(str(require_file(jobs).resolve()), ensure_ascii=False)
        own = [f"jobs.source={source}", "jobs.format=auto", "jobs.start_unix=null", "jobs.whole_queue=null"]
        overrides = own + overrides
    if seed is not None:
        overrides.append(f"seed={seed}")
    return load_scenario(name, folders=folders, overrides=overrides)


def remark(built: Day) -> None:
    """Tell on stderr what the readers repaired and dropped, and which jobs were refused."""
    for intake in built.intakes:
        if intake.repaired or intake.dropped:
            typer.echo("\n".join(intake.lines()), err=True)
    if built.rejected:
        job, why = built.rejected[0]
        more = f", and {len(built.rejected) - 1} more" if len(built.rejected) > 1 else ""
        typer.echo(f"rejected: job {job.id} {why.reason}{more} (all in deferred.csv)", err=True)
    if not built.problem.jobs:
        typer.echo("no jobs are known for this day; the plan is empty", err=True)
        for note in built.intakes[0].notes:
            typer.echo(f"  {note}", err=True)
        if built.scenario.jobs.visibility == "midnight":
            typer.echo("  jobs submitted on the day itself count with --set jobs.visibility=day", err=True)


def remark_limit(planned: PlannedDay, limit_s: float) -> None:
    """Tell on stderr when it was the time limit that ended the search."""
    result = planned.result
    if result.solve_s >= limit_s:
        typer.echo(
            f"the time limit of {clock(limit_s)} ended the search after {len(result.trials)} candidates;"
            " another run may end elsewhere",
            err=True,
        )
