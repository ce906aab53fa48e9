"""``plan --day``: one day planned and written."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner import defaults
from planner.bounds import ITERATIONS, PLANNED_YEARS, SEED, SOLVE_S, WORKERS
from planner.cli import complete
from planner.cli.complete import WORDS
from planner.cli.terminal import say, say_json
from planner.errors import InputError
from planner.printable import printable
from planner.units import clock, parse_duration

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


def parse_day(text: str, zone: str | None = None, *, by_name: bool = False) -> dt.date:
    """A calendar day such as 2024-06-01; with a zone also yesterday, today or tomorrow there.

    ``by_name``: the caller takes those words itself, and errors name them.
    """
    if zone is not None and text.strip().lower() in WORDS:
        from planner.domain.horizon import Horizon

        today = Horizon.of_unix(int(time.time()), zone).day
        return today + dt.timedelta(days=WORDS[text.strip().lower()])
    try:
        day = dt.date.fromisoformat(text)
    except ValueError as error:
        words = ", or yesterday, today or tomorrow" if by_name or zone is not None else ""
        raise InputError(f"cannot read {text!r} as a day; write it as 2024-06-01{words}") from error
    if day.year not in PLANNED_YEARS:
        raise InputError(f"the day {text} is out of range; its year must be {PLANNED_YEARS}")
    return day


def require_days(*texts: str | None) -> None:
    """InputError for a day that cannot be one: a typing error is told before files are read."""
    for text in texts:
        if text is not None and text.strip().lower() not in WORDS:
            parse_day(text, by_name=True)


def solve_time(text: str, option: str) -> float:
    """How long a search or a bound may take [s]."""
    seconds = parse_duration(text)
    SOLVE_S.require(option, seconds)
    return seconds


TIME_LIMIT, BOUND_TIME = f"{defaults.TIME_LIMIT_S:g}s", f"{defaults.BOUND_TIME_S:g}s"
RUN_BOUND_TIME = f"{defaults.RUN_BOUND_TIME_S:g}s"
"""Defaults as people write them."""

DayOption = Annotated[
    str | None,
    typer.Option(
        "--day", metavar="YYYY-MM-DD", help="The day to plan, also today or tomorrow.", autocompletion=complete.days
    ),
]
FirstOption = Annotated[
    str | None,
    typer.Option("--from", metavar="YYYY-MM-DD", help="The first day, also yesterday.", autocompletion=complete.days),
]
LastOption = Annotated[
    str | None,
    typer.Option("--to", metavar="YYYY-MM-DD", help="The last day, also tomorrow.", autocompletion=complete.days),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        "-s",
        metavar="NAME",
        help="Name or file of a scenario; default: site if there is one, else sample.",
        autocompletion=complete.scenarios,
    ),
]
JobsOption = Annotated[
    Path | None,
    typer.Option("--jobs", metavar="FILE", help="A jobs file (SWF, CSV, Parquet) in place of the scenario's."),
]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a scenario key; may be repeated.")
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="How to plan; see `plan show methods`.",
        autocompletion=complete.methods,
    ),
]
TimeLimitOption = Annotated[str, typer.Option(metavar="TIME", help="When to stop searching: 30s, 5m.")]
SeedOption = Annotated[int | None, typer.Option(min=0, max=int(SEED.high), help="Replaces the scenario's seed.")]
OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Where results go, as OUT/SCENARIO/DAY.")]
AlsoOption = Annotated[
    list[str] | None, typer.Option(metavar="FORMAT", help="Also write parquet or swf; may be repeated.")
]
WorkersOption = Annotated[
    int, typer.Option(min=0, max=int(WORKERS.high), help="Threads; 0 is one per core. Never changes an answer.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="CP engine of the methods that use one; see `plan show engines`.",
        autocompletion=complete.engines,
    ),
]
IterationsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=int(ITERATIONS.high),
        help=f"Steps of a search; the same number gives the same plan. Default {defaults.ITERATIONS}.",
    ),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Start anew, even where the day before has a result.")]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="FILE",
        help="A table of the jobs that wait, run and have ended by then; in place of the last plan.",
    ),
]
NodesOption = Annotated[
    Path | None, typer.Option("--nodes", metavar="FILE", help="A table of nodes that cannot be used; with --snapshot.")
]
BoundTimeOption = Annotated[
    str, typer.Option(metavar="TIME", help="Time for the bound on the profit; 0 leaves it out.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing when all goes well; JSON where it is asked for.")
]
NoRemarksOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
RebookOption = Annotated[
    bool, typer.Option("--rebook", help="Write over a day that is booked; it stays among its versions.")
]


def plan_one(context: typer.Context, date: str) -> None:
    """Plan a day, write its folder, and print its summary."""
    require_days(date)
    given = context.params
    refuse_contradictions(given)
    scenario, params = opened(context)

    from planner.domain.horizon import Horizon
    from planner.runs.one_day import PlanRequest

    day = parse_day(date, scenario.zone)
    midnight, nightly = Horizon(day, scenario.zone).start_unix, given["snapshot"] is None
    asked = PlanRequest(
        midnight, nightly=nightly, fresh=given["fresh"], snapshot=given["snapshot"], nodes=given["nodes"]
    )
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


def refuse_contradictions(given: Mapping[str, Any]) -> None:
    """InputError for options that a snapshot leaves without a meaning, or that need one."""
    if given["snapshot"] is None:
        if given["nodes"] is not None:
            raise InputError("--nodes goes with --snapshot, whose nodes it is about; give both")
        return
    if given["jobs"] is not None:
        raise InputError("--snapshot has all jobs, so that --jobs would be lost; leave one of them out")
    if given.get("fresh"):
        raise InputError(
            "--snapshot says what runs and waits, so that there is nothing to start anew; leave out --fresh"
        )


def opened(context: typer.Context, *more: str, from_moment: bool = False) -> tuple[Scenario, Params]:
    """The scenario that the user means, and how its days are to be planned, by the options of a command.

    ``more`` are settings of the scenario that go before the user's. ``from_moment``: the day is planned from a moment
    on, for which jobs may come from Slurm.
    """
    from planner.methods import Params, method_named, require_engine, usual_method

    given = context.params
    limit_s, bound_s = solve_time(given["time_limit"], "--time-limit"), solve_time(given["bound_time"], "--bound-time")
    if given["method"] is not None:
        method_named(given["method"])
    if given["engine"] is not None:
        require_engine(given["engine"])
    settings = (*more, *(given["settings"] or ()))
    scenario = open_scenario(given["scenario"], settings, given["seed"], given["jobs"], slurm=from_moment)

    from planner.store.write import require_formats

    also = tuple(given["also"] or ())
    require_formats(also)
    return scenario, Params(
        given["method"] or usual_method(scenario, from_moment=from_moment),
        workers=given["workers"],
        engine=given["engine"],
        time_limit_s=limit_s,
        iterations=given["iterations"] or defaults.ITERATIONS,
        bound_time_s=bound_s,
        page=given.get("page", True),
        also=also,
        command=tuple(context.obj or ()),
        rebook=given["rebook"],
    )


def open_scenario(
    name: str | None,
    settings: tuple[str, ...],
    seed: int | None = None,
    jobs: Path | None = None,
    *,
    slurm: bool = False,
) -> Scenario:
    """The scenario that the user means, with everything that the command line sets.

    InputError when its jobs come from Slurm, unless the caller reads those itself (``slurm``).
    """
    import json

    from planner.places import full_path, scenario_folders
    from planner.scenario.load import load_scenario
    from planner.text_files import require_file

    folders = scenario_folders(Path.cwd())
    if name is None:
        name = "site" if any((folder / "site.yaml").is_file() for folder in folders) else "sample"
    overrides = list(settings)
    if jobs is not None:
        # What the scenario says of its own file does not hold for another one.
        source = json.dumps(str(full_path(require_file(jobs))), ensure_ascii=False)
        own = [f"jobs.source={source}", "jobs.format=auto", "jobs.start_unix=null", "jobs.whole_queue=null"]
        overrides = own + overrides
    if seed is not None:
        overrides.append(f"seed={seed}")
    scenario = load_scenario(name, folders=folders, overrides=overrides)
    _require_estimate(scenario.rules.estimate)
    if scenario.jobs.source == "slurm" and not slurm:
        from planner.inputs.jobs.read import only_now

        raise only_now()
    return scenario


def _require_estimate(name: str) -> None:
    """InputError when no such estimate is known; the scenario itself knows only its name."""
    if name == "requested":
        return
    from planner.online.estimates import estimate_named

    try:
        estimate_named(name)
    except InputError as error:
        raise InputError(f"rules.estimate: {error}") from None


def remark(built: Day) -> None:
    """Say on stderr what the readers repaired and dropped, and which jobs were refused."""
    for intake in built.intakes:
        if intake.repaired or intake.dropped:
            say("\n".join(intake.lines()), err=True)
    if built.rejected:
        job, why = built.rejected[0]
        more = f", and {len(built.rejected) - 1} more" if len(built.rejected) > 1 else ""
        say(f"rejected: job {printable(job.id)} {why.reason}{more} (all in deferred.csv)", err=True)
    if not built.problem.jobs:
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
