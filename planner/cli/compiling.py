"""``plan compile``: machine code made ahead."""

from __future__ import annotations

import os
import time

from planner.cli.options import QuietOption
from planner.cli.terminal import say
from planner.compiled import COMPILING_TOLD
from planner.units import clock


def compile_kernels(quiet: QuietOption = False) -> None:
    """Compile all machine code ahead, so that no later command on this computer has to.

    It is done once after installing, and again after an update; each command does its own part where it was not.
    """
    os.environ[COMPILING_TOLD] = "1"
    if not quiet:
        say("compiling machine code for this computer: about two minutes on two cores", err=True)
    began = time.monotonic()

    from planner.runs.compile_all import compile_all, kernels, missing

    due = len(missing())
    compile_all()
    if not quiet:
        took = f"{due} compiled in {clock(time.monotonic() - began)}" if due else "all were there"
        say(f"{len(kernels())} kernels: {took}")
