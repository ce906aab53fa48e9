"""Machine code made ready before any case runs: a first run compiles for longer than a case may take."""

from __future__ import annotations

import contextlib
import gc
import io
import tempfile
from pathlib import Path

from planner.__main__ import RARE
from planner.cli.main import run
from planner.runs.compile_all import missing
from tests.days import DAY
from tests.fuzz.site import write_site

_METHODS = ("harvest", "delay", "est", "relaxation", "cp")
_COMMANDS = [
    *(["--day", DAY, "--method", name, "--iterations", "20", "--time-limit", "1s", "--fresh"] for name in _METHODS),
    ["simulate", "jobs/trace.swf", "-p", "easy,list,conservative,deadline", "-e", "requested,last2,cvh"],
    ["simulate", "jobs/units.csv", "--scenario", "site", "-p", "easy,conservative"],
    ["--day", DAY, "--set", "weather.source=sample", "--set", "solar.peak_kw=1", "--fresh", "--iterations", "20"],
    ["table", "build", "--out", "t.csv", "--max-power-kw", "3", "--picture", "t.png"],
]


def compile_kernels() -> None:
    """Run what needs machine code once, unmutated and with all the time in the world, unless it is there."""
    if missing():
        load_all()


def load_all() -> None:
    """The same in any case: processes that are forked from this one find all loaded, and do not look through it."""
    with tempfile.TemporaryDirectory() as folder:
        site = write_site(Path(folder))
        for words in _COMMANDS:
            said = io.StringIO()
            with contextlib.chdir(site), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(words)
            if code != 0:
                raise RuntimeError(f"plan {' '.join(words)} ends with {code}: {said.getvalue()}")
    gc.set_threshold(*RARE)
    gc.collect()
    gc.freeze()
