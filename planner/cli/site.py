"""``plan init``: a new site to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.terminal import say


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")]) -> None:
    """Write a new site: a commented scenario, PUE tables and an example jobs file."""
    from planner.places import shipped_folder
    from planner.site.init import write_site

    for path in write_site(folder, shipped=shipped_folder()):
        say(path)
