"""``plan study operation``: policies side by side with real runtimes and prices, and what could be saved at most."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import day
from planner.cli.study import show_study
from planner.cli.terminal import TaskBar
from planner.errors import InputError

MOST_WORKERS = 2
SITES = ("curie", "sample")


def operation(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Cells whose names fit, such as 'curie/fr-2012/as-is/hold-*/requested'; may be repeated.",
        ),
    ] = None,
    sites: Annotated[str, typer.Option(metavar="LIST", help="By commas.")] = "curie,sample",
    every: Annotated[bool, typer.Option("--every", help="Every policy at every tariff and load: hours.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Two policies on a day of the sample site: seconds.")] = False,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of traces and prices; default PLANNER_DATA.")
    ] = None,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Another SWF trace in place of Curie's.")] = None,
    trace_cores: Annotated[int, typer.Option(min=1, help="Cores of the traced machine, to scale jobs.")] = 93_312,
    nodes: Annotated[int, typer.Option(min=1, max=100_000, help="Nodes of 32 cores that stand in for it.")] = 300,
    first: Annotated[str, typer.Option("--from", metavar="YYYY-MM-DD", help="First day of the trace.")] = "2012-06-11",
    last: Annotated[str, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day of the trace.")] = "2012-06-15",
    bound_time: Annotated[
        str, typer.Option(metavar="TIME", help="For each bound, at most; 0 leaves bounds out.")
    ] = "300s",
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies/operation.")] = Path(
        "reports"
    ),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: day.NoRemarksOption = False,
) -> None:
    """EASY and its kin, static day plans and holding on the same jobs, machine, weather and prices.

    Every replay is settled on what happened, over the same calendar days, with the clairvoyant bound beside it. An
    interrupted study goes on where it stopped. Sites: five days of CEA Curie, and a week of the sample site.

    Without any data: plan study operation --sites sample
    """
    from planner.runs.one_day import require_order
    from planner.studies.operation.cells import chosen, default_cells, every_cell, quick_cells
    from planner.studies.operation.run import OperationStudy
    from planner.studies.operation.show import terminal_rows
    from planner.studies.operation.sites import SAMPLE_DAYS, Days, Ground
    from planner.studies.operation.tables import group_title, groups_of

    wanted = tuple(name.strip() for name in sites.split(",") if name.strip())
    unknown = next((name for name in wanted if name not in SITES), None)
    if unknown is not None or not wanted:
        raise InputError(f"unknown site {unknown or ''!r} of the study; known: {', '.join(SITES)}")
    days = Days(day.parse_day(first), day.parse_day(last))
    require_order(days.first, days.last)
    folder = out.resolve() / "studies" / "operation"
    ground = Ground(
        tables=folder / "tables",
        data=data,
        trace=None if trace is None else trace.resolve(),
        trace_cores=trace_cores,
        nodes=nodes,
        curie_days=days,
        sample_days=Days(SAMPLE_DAYS.first, SAMPLE_DAYS.first) if quick else SAMPLE_DAYS,
    )
    offered = quick_cells() if quick else every_cell(wanted) if every else default_cells(wanted)
    study = OperationStudy(chosen(offered, only or ()), ground, folder, _bound_time_s(bound_time), workers)
    with TaskBar("operation", study.piece_count(), quiet=quiet) as bar:
        rows = study.run(fresh=fresh, on_done=bar.advance)
    titled = {group_title(group[0]): terminal_rows(group) for group in groups_of(rows)}
    show_study(folder / "operation.md", rows, titled, as_json=as_json, markdown=markdown)


def _bound_time_s(text: str) -> float:
    return 0.0 if text.strip() == "0" else day.solve_time(text, "--bound-time")
