"""Methods made ready: their kernels compiled, or loaded from an earlier run, before any clock starts.

The day with one of its jobs calls for the same machine code as the whole day. On a first run there is much to compile,
so the kernels are shared between this process and one beside it, which leaves its part where this one finds it.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from planner.compiled import COMPILING_TOLD, is_missing
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.machine.place import place_from
from planner.methods import ENGINE_METHODS
from planner.online.day_under_policy import RULES, STRICT, rule_plan
from planner.printable import one_line
from planner.search.kernel.search_state import Habits
from planner.search.multisearch import multisearch
from planner.search.rebuild import Chain


def make_ready(method: str, problem: Problem) -> None:
    """Load what a method runs on, and compile what is new to this machine, so that none of its time goes into that."""
    if method in ENGINE_METHODS:
        importlib.import_module(ENGINE_METHODS[method])
    small = replace(problem, jobs=problem.jobs[:1], running=(), overdue=frozenset(), outages=())
    if not small.jobs:
        return
    if method.removesuffix(STRICT) in RULES:
        rule_plan(small, method)
        return
    is_new = method == "harvest" and is_missing(place_from)
    with _compiling_beside(small) if is_new else nullcontext():
        if method == "harvest":
            _rebuild(small)
        multisearch(small)


@contextmanager
def _compiling_beside(small: Problem) -> Iterator[None]:
    """Let another process compile the kernels of EASY and the rules meanwhile; it ends with this block.

    It loads the same code as this one, and none of the current folder. If it fails, one line says so with its last
    words, and this process compiles what is missing.
    """
    with tempfile.TemporaryFile() as said:
        beside = begun_beside(__name__, stdin=subprocess.PIPE, stderr=said)
        try:
            assert beside.stdin is not None
            with suppress(BrokenPipeError), beside.stdin as pipe:
                pickle.dump(small, pipe)
            yield
            if beside.wait():
                said.seek(0)
                lines = said.read().decode("utf-8", "replace").strip().splitlines()
                last = lines[-1] if lines else f"status {beside.returncode}"
                told = f"plan: compiling in a process beside this one failed ({last}); this one does it"
                print(one_line(told), file=sys.stderr)
        finally:
            beside.kill()
            beside.wait()


def begun_beside(module: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Another process that runs a module of the planner: with the same code as this one, none of the current folder."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        cwd="/",
        env={**os.environ, COMPILING_TOLD: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL,
        **streams,
    )


def _rebuild(small: Problem) -> None:
    """Take a step of RebuildSearch from an empty plan, which needs nothing to be placed first."""
    units = int(small.columns.unit_ptr[-1])
    nothing = Plan(np.full(1, DEFERRED, dtype=np.int64), np.full(units, DEFERRED, dtype=np.int64))
    Chain.from_plan(small, nothing, seed=0, habits=Habits(1, 1, 0.5, 0.1, True, True)).run(1, 0.0)


if __name__ == "__main__":
    problem: Problem = pickle.load(sys.stdin.buffer)
    make_ready("est", problem)
