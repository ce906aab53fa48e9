"""Compiles all kernels before the tests start: once, and not in each process that is the first to need one.

    python -m tests.compile_kernels

Most of the time goes into the parts that kernels have in common. So there are two processes for two cores: one for the
kernels of replays, one for those of days and the rest. What both need one compiles, and the other waits for. Where all
are kept from an earlier run there is nothing to do.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import subprocess
import sys
from unittest import mock

import numpy as np

import planner.accounting.bound.kernel
import planner.cp.dispatch.kernel
import planner.machine
import planner.online.kernel
import planner.search.kernel
from planner.accounting.bound.bound import profit_bound
from planner.compiled import is_missing
from planner.compiled.kept import KeptCode
from planner.cp.dispatch.pcp21 import Pcp21
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.online.lower_bounds import lower_bound
from planner.online.offline import make_search_ready
from planner.online.policies import policy_named
from planner.online.predictors import predictor_named
from planner.online.replay import make_ready as make_replay_ready
from planner.online.replay import replay
from planner.planning.ready import make_ready
from tests.online.traces import as_nodes, random_cluster_trace, random_trace
from tests.plain_day import day, job

PACKAGES = (
    planner.machine,
    planner.search.kernel,
    planner.online.kernel,
    planner.cp.dispatch.kernel,
    planner.accounting.bound.kernel,
)
"""Where kernels are."""

DAYS_ALONE = "days-alone"
"""The word that makes a process compile the kernels of days and end."""


def compile_replays() -> None:
    """Replays with estimates, watched ones, with a predictor, and with an engine that knows nothing better."""
    pool, nodes = random_trace(0), random_cluster_trace(0)
    replay(as_nodes(pool), policy_named("list"), pool.requested_s)
    replay(pool, policy_named("easy"), pool.requested_s)
    make_replay_ready(policy_named("easy"), lambda trace: trace.requested_s, is_watched=True)
    make_replay_ready(policy_named("hold"), lambda trace: trace.requested_s)
    replay(pool, policy_named("easy-sjbf"), predictor_named("cvh")(pool))
    for policy in ("cp-af", "hcp19"):
        replay(nodes, policy_named(policy), nodes.requested_s, solver=_nothing_better)
    replay(nodes, policy_named("pcp21"), nodes.requested_s, solver=Pcp21(steps=10, starts_first=False))


def compile_days() -> None:
    """The searches of a day, its rules, its bound, and plans of a whole trace with theirs."""
    problem = day(job("a", 1))
    for method in ("multisearch", "est", "harvest"):  # harvest last: alone it begins a process for what is missing
        make_ready(method, problem)
    with mock.patch("planner.accounting.bound.bound._FEW_CELLS", 0):  # as on a long day
        profit_bound(problem)
    make_search_ready()
    for metric in ("af", "p2sf"):
        lower_bound(random_trace(0), metric, steps=1)


def missing() -> list[str]:
    """The kernels that could be kept and are not."""
    kernels = {}
    for package in PACKAGES:
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for function in vars(importlib.import_module(found.name)).values():
                if isinstance(getattr(function, "_cache", None), KeptCode):
                    kernels[f"{function.__module__}.{function.__name__}"] = function
    return sorted(name for name, function in kernels.items() if is_missing(function))


def _nothing_better(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
    return QueueAnswer(QueuePlan(np.asarray(known.start_s), known.node_of_unit))


def main(words: list[str]) -> int:
    """Compile, and name the kernels that were forgotten here; the tests that need them compile them."""
    gc.disable()  # numba keeps most of the objects that it makes; looking through them takes a tenth of the time
    if words == [DAYS_ALONE]:
        compile_days()
        return 0
    if not missing():
        return 0
    beside = subprocess.Popen([sys.executable, "-m", "tests.compile_kernels", DAYS_ALONE])
    compile_replays()
    if beside.wait() != 0:
        return 1
    for name in missing():
        print(f"tests/compile_kernels.py does not call {name}; add what does", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
