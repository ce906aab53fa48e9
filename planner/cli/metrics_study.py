"""``plan study metrics``: the tables and figures of the paper on packing efficiency and fairness, beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.bounds import PROCESSORS
from planner.cli.day import NoRemarksOption
from planner.cli.study_output import show_study
from planner.cli.terminal import TaskBar
from planner.errors import InputError

MOST_WORKERS = 2
MOST_STEPS = 150


def metrics(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="SWF traces to run it on.")],
    part: Annotated[
        list[str] | None, typer.Option(help="policies, predictors or distortion; may be repeated; default all.")
    ] = None,
    trim: Annotated[
        str, typer.Option(help="Jobs that count: last (all but the last to end, as fits the paper), none or steady.")
    ] = "last",
    unrequested: Annotated[
        str, typer.Option(help="Jobs without a requested time: drop (as fits the paper) or keep.")
    ] = "drop",
    steps: Annotated[
        int, typer.Option(min=1, max=MOST_STEPS, help="Steps of the factors of runtimes from 0.5 to 2.")
    ] = 30,
    processors: Annotated[
        int | None, typer.Option(min=1, max=int(PROCESSORS.high), help="Machine size; else the SWF header's.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Only the first jobs of each trace.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(help="Where results go, below OUT/studies/metrics.")] = Path("reports"),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """The paper on metrics of packing efficiency and fairness: its Tables II to IV and figures 3 and 4, beside ours.

    Traces are known by the names of the Parallel Workloads Archive, such as CTC-SP2-1996-3.1-cln.swf.gz. An
    interrupted study goes on where it stopped.
    """
    from planner.inputs.traces import UNREQUESTED
    from planner.metrics.outcome import TRIMMING
    from planner.studies.metrics.cells import PARTS
    from planner.studies.metrics.run import Study
    from planner.studies.metrics.show import terminal_tables
    from planner.studies.trace_files import trace_files

    wanted = list(dict.fromkeys(part or PARTS))
    for name in wanted:
        if name not in PARTS:
            raise InputError(f"unknown part {name!r} of the study; known: {', '.join(PARTS)}")
    for option, chosen, known in (("--trim", trim, TRIMMING), ("--unrequested", unrequested, UNREQUESTED)):
        if chosen not in known:
            raise InputError(f"{option}: unknown rule {chosen!r}; known: {', '.join(known)}")
    folder = out.resolve() / "studies" / "metrics"
    study = Study(trace_files(traces), folder, wanted, trim, unrequested, steps, processors, jobs, workers)
    with TaskBar("metrics", len(study.cells()), quiet=quiet) as bar:
        rows = study.run(fresh=fresh, on_done=bar.advance)
    titled = terminal_tables(rows, is_whole=jobs is None)
    show_study(folder / "metrics.md", rows, titled, as_json=as_json, markdown=markdown)
