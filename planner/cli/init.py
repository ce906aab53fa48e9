"""``plan init``: a new site to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.terminal import say


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    from_sacct: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take nodes and jobs from what sacct has written.")
    ] = None,
    zone: Annotated[str, typer.Option(metavar="ZONE", help="Of local times of --from-sacct.")] = "UTC",
) -> None:
    """Write a new site: a commented scenario, PUE tables, and example jobs or those of Slurm's accounts."""
    from planner.places import shipped_folder
    from planner.site.init import write_site

    month = None
    if from_sacct is not None:
        from planner.inputs.books.month_that_ran import read_month

        month = read_month(from_sacct, zone=zone, w_per_core=10.0)
    for path in write_site(folder, shipped=shipped_folder(), month=month, zone=zone):
        say(path)
