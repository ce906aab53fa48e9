"""``plan book``: a day that is over, settled as it happened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import day, options
from planner.cli.terminal import say


def book(
    context: typer.Context,
    date: Annotated[
        str, typer.Option("--day", metavar="YYYY-MM-DD", help="The day to book, or yesterday; it must be over.")
    ],
    scenario: options.ScenarioOption = None,
    sacct: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What sacct wrote of the day, --json or -P; default: ask Slurm.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A snapshot table with what ran, in place of Slurm's accounts.")
    ] = None,
    out: options.OutOption = Path("reports"),
    settings: options.SettingsOption = None,
    also: options.AlsoOption = None,
    rebook: options.RebookOption = False,
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Settle a day as it happened: real starts, ends and nodes, and measured energy where there is any.

    The booked day takes the place of the planned one, which is kept among its versions. Jobs that run over midnight
    count with their part of the day. Booking the same again changes nothing; booking other data needs --rebook (exit
    code 3 without it), and so does planning the day again.

    Example: plan book --day yesterday --sacct sacct.txt
    """
    from planner.runs.book import book_asked

    def remark(line: str) -> None:
        say(line, err=True)

    done = book_asked(
        date,
        scenario,
        settings or (),
        sacct=sacct,
        table=table,
        out=out,
        also=also or (),
        rebook=rebook,
        command=context.obj or (),
        on_remark=remark,
    )
    if done.planned is None:
        if not quiet:
            say(f"{done.folder} is booked from the same data already; nothing is changed", err=True)
    elif not quiet:
        say("\n".join(done.planned.day.intakes[0].lines()), err=True)
    day.say_day(done.summary, done.folder, as_json=as_json, quiet=quiet)
