"""Where studies look for public traces."""

from __future__ import annotations

import os
from pathlib import Path

from planner.errors import InputError
from planner.places import full_path, shipped_folder

TRACE = "swf/CEA-Curie-2011-2.1-cln.swf.gz"


def data_home(given: Path | None) -> Path:
    """Where public traces are looked for."""
    return given or Path(os.environ.get("PLANNER_DATA") or shipped_folder().parent / "shared" / "data")


def data_folder(given: Path | None = None) -> Path:
    """The folder of public traces; InputError says what must be in it."""
    folder = data_home(given)
    if not (folder / TRACE).is_file():
        raise InputError(
            f"{folder / TRACE}: the trace is not there; get it from the Parallel Workloads Archive and give its folder"
            " with --data DIR, or in PLANNER_DATA"
        )
    return full_path(folder)
