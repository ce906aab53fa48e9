"""``plan study``: published experiments, run end to end, with their figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from planner.bounds import PROCESSORS
from planner.cli.cp_online import cp_online
from planner.cli.curie import curie23
from planner.cli.day import NoRemarksOption
from planner.cli.deadlines_study import deadlines
from planner.cli.dispatchers import dispatchers
from planner.cli.metrics_study import metrics
from planner.cli.operation import operation
from planner.cli.terminal import say, say_json

app = typer.Typer(help="Published experiments, run end to end, with their figures beside ours.", no_args_is_help=True)

TracesArgument = Annotated[list[Path], typer.Argument(metavar="TRACE...", help="SWF traces to run it on.")]
ProcessorsOption = Annotated[
    int | None, typer.Option(min=1, max=int(PROCESSORS.high), help="Machine size; else the SWF header's.")
]
CsvOption = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for the tables as CSV.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
RowsOf = Callable[..., Sequence[Mapping[str, object]]]
"""Makes the rows of a table from a trace; calls `on_run` with each run."""

Tables = dict[str, Sequence[Mapping[str, object]]]


@app.callback()
def study() -> None:
    """Published experiments, run end to end, with their figures beside ours."""


app.command("curie23")(curie23)
app.command("operation")(operation)
app.command("cp-online")(cp_online)
app.command("dispatchers")(dispatchers)
app.command("metrics")(metrics)
app.command("deadlines")(deadlines)


@app.command("predictions")
def predictions(
    traces: TracesArgument,
    processors: ProcessorsOption = None,
    out: CsvOption = None,
    as_json: JsonOption = False,
    quiet: NoRemarksOption = False,
) -> None:
    """EASY and EASY-SJBF with requested, actual and predicted runtimes, and corrections of predictions that fall short.

    The paper of 2015 on learning runtimes: a scheduling round after every event, jobs without a requested time left
    out. Its CEA-Curie has 80640 processors.
    """
    from planner.studies.predictions import prediction_rows

    rows_of: dict[str, RowsOf] = {"predictions": prediction_rows}
    _show(_tables(traces, rows_of, quiet, processors=processors, unrequested="drop"), out, as_json)


def _tables(
    traces: Sequence[Path],
    rows_of: Mapping[str, RowsOf],
    quiet: bool,
    *,
    processors: int | None = None,
    unrequested: str = "keep",
) -> Tables:
    """Every table of every trace, by the names of both."""
    from planner.cli.terminal import ReplayBar
    from planner.inputs.traces import read_pool

    tables: Tables = {}
    for path in traces:
        source = read_pool(path, processors, unrequested=unrequested)
        if not quiet:
            say("\n".join(source.intake.lines()), err=True)
        with ReplayBar(quiet=quiet) as bar:
            for name, rows in rows_of.items():
                stem = path.name.removesuffix(".gz").removesuffix(".swf")
                tables[f"{stem} {name}"] = rows(source, on_run=bar.update)
    return tables


def _show(tables: Tables, out: Path | None, as_json: bool) -> None:
    """Print tables with their titles, and write them where asked."""
    from planner.cli.simulate import table_text

    if out is not None:
        from planner.store.replay_files import write_rows

        for title, rows in tables.items():
            write_rows(rows, out / f"{title.replace(' ', '-')}.csv")
    if as_json:
        say_json(tables)
        return
    say("\n\n".join(f"{title}\n{table_text(rows)}" for title, rows in tables.items()))
