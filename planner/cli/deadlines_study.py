"""``plan study deadlines``: deadline-based backfilling against conservative and EASY backfilling."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.bounds import PERCENT, PROCESSORS
from planner.cli.day import NoRemarksOption
from planner.cli.simulate import numbers_of
from planner.cli.study_output import named_or_all, show_study
from planner.cli.terminal import TaskBar
from planner.errors import InputError

MOST_WORKERS = 2
MOST_SEEDS = 50


def deadlines(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="SWF traces to run it on.")],
    percent: Annotated[str, typer.Option(help="Shares of jobs with a deadline, by commas.")] = "20,40,60,80",
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Draws of the jobs with a deadline.")] = 5,
    policies: Annotated[
        str | None,
        typer.Option("--policies", "-p", help="Of deadline, deadline-early, conservative, easy; by commas."),
    ] = None,
    estimate: Annotated[str, typer.Option("--estimate", "-e", help="What the policies believe.")] = "requested",
    processors: Annotated[
        int | None, typer.Option(min=1, max=int(PROCESSORS.high), help="Machine size; else the SWF header's.")
    ] = None,
    partition: Annotated[str | None, typer.Option(help="Only jobs of these partitions; numbers by commas.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only jobs of these queues; numbers by commas.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Only the first jobs of each trace.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(help="Where results go, below OUT/studies/deadlines.")] = Path("reports"),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """Deadline-based backfilling against conservative and EASY backfilling, with a share of jobs that can wait.

    An interrupted study goes on where it stopped.
    """
    from planner.online.estimates import estimate_named
    from planner.studies.deadlines.cells import POLICIES, Choice
    from planner.studies.deadlines.run import Study
    from planner.studies.deadlines.show import tables_of
    from planner.studies.trace_files import trace_files

    try:
        percents = [float(text) for text in percent.split(",") if text.strip()]
    except ValueError as error:
        raise InputError(f"cannot read {percent!r} as percentages; write 20,40,60,80") from error
    if not percents:
        raise InputError("--percent names no share of jobs; write 20,40,60,80")
    for each in percents:
        PERCENT.require("a share of jobs in percent", each)
    wanted = named_or_all(policies, POLICIES)
    for name in wanted:
        if name not in POLICIES:
            raise InputError(f"unknown policy {name!r} of the study; known: {', '.join(POLICIES)}")
    chosen = Choice(
        processors,
        numbers_of(partition, "--partition"),
        numbers_of(queue, "--queue"),
        jobs,
        estimate_named(estimate).name,
    )
    folder = out.resolve() / "studies" / "deadlines"
    percents, wanted = list(dict.fromkeys(percents)), list(dict.fromkeys(wanted))
    study = Study(trace_files(traces), folder, wanted, percents, seeds, chosen, workers)
    with TaskBar("deadlines", len(study.cells()), quiet=quiet) as bar:
        rows = study.run(fresh=fresh, on_done=bar.advance)
    titled = {table.title: table.plain_rows() for table in tables_of(rows)}
    show_study(folder / "deadlines.md", rows, titled, as_json=as_json, markdown=markdown)
