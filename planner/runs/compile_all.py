"""All kernels compiled ahead, so that no later run has to: `plan compile`.

Most of the time goes into the parts that kernels have in common. So there are two processes for two cores: one for the
kernels of replays, one for those of days and the rest. What both need one compiles, and the other waits for.
"""

from __future__ import annotations

import datetime as dt
import importlib
import pkgutil
import subprocess
import sys

import numpy as np

import planner.accounting.bound.kernel
import planner.cp.kernel
import planner.machine
import planner.online.kernel
import planner.search.kernel
from planner.accounting.bound.bound import profit_bound
from planner.compiled import is_missing
from planner.cp.dispatchers import Pcp21
from planner.domain.trace import pool_trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.errors import PlannerError
from planner.inputs.build import build_day
from planner.inputs.traces import read_window
from planner.online.lower_bounds import lower_bound
from planner.online.offline import make_search_ready
from planner.online.policies import policy_named
from planner.online.predictors import predictor_named
from planner.online.replay import make_ready as make_replay_ready
from planner.online.replay import replay
from planner.places import shipped_folder
from planner.planning.compile_first import begun_beside, make_ready
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

PACKAGES = (
    planner.machine,
    planner.search.kernel,
    planner.online.kernel,
    planner.cp.kernel,
    planner.accounting.bound.kernel,
)
"""Where kernels are."""

DAY = dt.date(2024, 6, 1)
"""A day of the sample site: what it calls for, every day does."""


def kernels() -> dict[str, object]:
    """The kernels whose code is kept between runs, by name."""
    found = {}
    for package in PACKAGES:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for function in vars(importlib.import_module(module.name)).values():
                if type(getattr(function, "_cache", None)).__name__ == "KeptCode":
                    found[f"{function.__module__}.{function.__name__}"] = function
    return found


def missing() -> list[str]:
    """The kernels that could be kept and are not."""
    return sorted(name for name, function in kernels().items() if is_missing(function))  # type: ignore[arg-type]


def compile_all() -> None:
    """Compile whatever is missing, in this process and in one beside it."""
    if not missing():
        return
    beside = begun_beside(__name__, stdin=subprocess.DEVNULL)
    try:
        compile_replays()
        if beside.wait() != 0:
            raise PlannerError(f"compiling in a process beside this one failed with status {beside.returncode}")
    finally:
        beside.kill()
        beside.wait()


def compile_replays() -> None:
    """Replays with estimates, watched ones, with a predictor, and with an engine that knows nothing better."""
    nodes, ones = read_window(_sample(), DAY, DAY).first(20).trace, np.ones(2, dtype=np.int64)
    pool = pool_trace(("a", "b"), ones, ones, ones, ones, 1)
    replay(nodes, policy_named("list"), nodes.requested_s)
    replay(pool, policy_named("easy"), pool.requested_s)
    make_replay_ready(policy_named("easy"), lambda trace: trace.requested_s, is_watched=True)
    make_replay_ready(policy_named("hold"), lambda trace: trace.requested_s)
    replay(pool, policy_named("easy-sjbf"), predictor_named("cvh")(pool))
    for policy in ("cp-af", "hcp19"):
        for trace in (nodes, pool):  # in the pool both jobs want the one processor, so that there is an order to choose
            replay(trace, policy_named(policy), trace.requested_s, solver=_nothing_better)
    replay(pool, policy_named("pcp21"), pool.requested_s, solver=Pcp21(steps=10, starts_first=False))


def compile_days() -> None:
    """The searches of a day, its rules, its bound, and plans of a whole trace with theirs."""
    problem = build_day(_sample(), DAY).problem
    for method in ("multisearch", "est", "harvest"):  # harvest last: alone it begins a process for what is missing
        make_ready(method, problem)
    profit_bound(problem, descent_steps=1)
    make_search_ready()
    ones = np.ones(2, dtype=np.int64)
    for metric in ("af", "p2sf"):
        lower_bound(pool_trace(("a", "b"), ones, ones, ones, ones, 1), metric, steps=1)


def _sample() -> Scenario:
    return load_scenario("sample", folders=[shipped_folder() / "scenarios"])


def _nothing_better(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
    return QueueAnswer(QueuePlan(np.asarray(known.start_s), known.node_of_unit))


if __name__ == "__main__":
    compile_days()
    sys.exit(0)
