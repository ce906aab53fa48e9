"""``plan study curie23``: the published experiment on 23 days of CEA Curie."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner import defaults
from planner.cli import day
from planner.cli.compare import AddressOption, BackendOption, ProcessesOption
from planner.cli.study_output import named_or_all, show_study
from planner.cli.terminal import TaskBar, say

BOUND_TIME = f"{defaults.STUDY_BOUND_TIME_S:g}s"


def curie23(
    context: typer.Context,
    days: Annotated[int, typer.Option(min=1, max=23, help="Days of submissions.")] = 23,
    until_empty: Annotated[
        bool, typer.Option("--until-empty/--days-only", help="Whether days go on until the queue is empty.")
    ] = True,
    calibrations: Annotated[
        str | None, typer.Option(metavar="LIST", help="ours, fitted, or both by commas; both is the default.")
    ] = None,
    scenarios: Annotated[str | None, typer.Option(metavar="LIST", help="By commas; default all four.")] = None,
    methods: Annotated[str | None, typer.Option(metavar="LIST", help="By commas; default all of the study.")] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the traces; default PLANNER_DATA.")
    ] = None,
    settings: day.SettingsOption = None,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="Per day, of cp, relaxation and delay: 30s, 5m.")
    ] = day.TIME_LIMIT,
    bound_time: Annotated[
        str, typer.Option(metavar="TIME", help="Per day, for the bound; 0 leaves it out.")
    ] = BOUND_TIME,
    run_bound_time: Annotated[
        str, typer.Option(metavar="TIME", help="Per scenario, for the bound of all days together; 0 leaves it out.")
    ] = day.RUN_BOUND_TIME,
    bounded: Annotated[
        str, typer.Option(metavar="LIST", help="Methods whose days get a bound, by commas.")
    ] = "harvest",
    iterations: day.IterationsOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies/curie23.")] = Path(
        "reports"
    ),
    processes: ProcessesOption = 0,
    backend: BackendOption = "processes",
    address: AddressOption = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: day.NoRemarksOption = False,
) -> None:
    """Four scenarios by every rule and search over 23 days of CEA Curie, with the published figures beside ours.

    Leaves the paper's tables and figures beside ours on one page, for each calibration of what the paper does not name.
    An interrupted study goes on where it stopped.

    A slice of it: plan study curie23 --days 3 --calibrations ours --scenarios air-summer --methods est,multisearch
    """
    from planner.runs.fanout import Engine
    from planner.studies.curie23.cells import CALIBRATIONS, SCENARIOS, USUAL_RUNS, StudyChoice
    from planner.studies.curie23.run import run_study
    from planner.studies.curie23.show import remarks_of, terminal_tables

    choice = StudyChoice(
        days=days,
        until_empty=until_empty,
        calibrations=_named(calibrations, tuple(CALIBRATIONS)),
        scenarios=_named(scenarios, SCENARIOS),
        runs=_named(methods, USUAL_RUNS),
        settings=tuple(settings or ()),
        time_limit_s=day.solve_time(time_limit, "--time-limit"),
        bound_time_s=day.solve_time(bound_time, "--bound-time"),
        iterations=iterations or defaults.ITERATIONS,
        bounded=_named(bounded, ()),
    )
    run_bound_s = day.solve_time(run_bound_time, "--run-bound-time")
    count = len(choice.calibrations) * len(choice.scenarios) * len(choice.runs)
    with TaskBar("curie23", count, quiet=quiet) as bar:
        found = run_study(
            choice,
            data,
            out,
            engine=Engine(backend, address, processes),
            command=tuple(context.obj or ()),
            on_done=lambda task: bar.advance(task.name),
            run_bound_time_s=run_bound_s,
        )
    content = {name: getattr(found, name) for name in ("runs", "published", "choices")}
    tables = terminal_tables(found, choice)
    show_study(found.folder / "curie23.md", content, tables, as_json=as_json, markdown=markdown)
    if not (as_json or markdown):
        for remark in remarks_of(found, choice):
            say(remark)


def _named(text: str | None, usual: tuple[str, ...]) -> tuple[str, ...]:
    """What was named, each once; all that the study usually has if nothing was."""
    return tuple(dict.fromkeys(named_or_all(text, usual)))
