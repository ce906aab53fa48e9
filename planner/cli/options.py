"""Options that several commands have, and how what people type for them is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner import defaults
from planner.cli import tab_key
from planner.limits import ITERATIONS, SEED, SOLVE_S, WORKERS
from planner.runs.check_request import (
    WORDS,
    parse_day,
)
from planner.units import parse_duration


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
        "--day", metavar="YYYY-MM-DD", help="The day to plan, also today or tomorrow.", autocompletion=tab_key.days
    ),
]
FirstOption = Annotated[
    str | None,
    typer.Option("--from", metavar="YYYY-MM-DD", help="The first day, also yesterday.", autocompletion=tab_key.days),
]
LastOption = Annotated[
    str | None,
    typer.Option("--to", metavar="YYYY-MM-DD", help="The last day, also tomorrow.", autocompletion=tab_key.days),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        "-s",
        metavar="NAME",
        help="Name or file of a scenario; default: site if there is one, else sample.",
        autocompletion=tab_key.scenarios,
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
        autocompletion=tab_key.methods,
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
        autocompletion=tab_key.engines,
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
JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
SummaryOption = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
NoRemarksOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
RebookOption = Annotated[
    bool, typer.Option("--rebook", help="Write over a day that is booked; it stays among its versions.")
]
