"""How far off-line schedules of KTH-SP2 come: percent of List-REG for AF, AWF, BSLD and P2SF, with CPU seconds.

    python benchmarks/offline.py [--data FOLDER] [--seeds 3] [--steps N] [--objectives af,bsld]

Actual runtimes, 100 processors. Each line is one schedule, made for one objective, with all four metrics; the line
before it is the on-line schedule from which it started. CPU seconds are those of replay and search, without compiling.
``--trace`` takes another SWF file, with the processors of its header.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from planner.inputs.traces import read_pool
from planner.metrics import measure, metric_named
from planner.online.audit_replay import require_sound
from planner.online.estimates import estimate_named
from planner.online.offline import improve_schedule, make_search_ready, offline_objective
from planner.online.policies import OfflineSearch, policy_named
from planner.online.replay import Replay, make_ready, replay
from planner.places import data_home
from planner.runs.measured_replays import outcome_of

METRICS = ("af", "awf", "bsld", "p2sf")


def main() -> None:
    """Print one line per schedule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--trace", default="KTH-SP2-filtered.swf.gz")
    parser.add_argument("--objectives", default=",".join(METRICS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=OfflineSearch.steps, help="per job")
    options = parser.parse_args()

    trace = read_pool(data_home(options.data) / "swf" / options.trace).trace
    make_ready(policy_named("list"), estimate_named("actual").make)
    make_search_ready()
    base = metrics_of(replay(trace, policy_named("list"), trace.runtime_s))
    print(f"{'percent of List-REG':24}" + "".join(f"{name:>9}" for name in METRICS) + f"{'CPU s':>9}", flush=True)
    for name in options.objectives.split(","):
        began = time.process_time()
        first = replay(trace, policy_named(f"order-{name}"), trace.runtime_s)
        online_s = time.process_time() - began
        show(f"order-{name}", metrics_of(first), base, online_s)
        for seed in range(options.seeds):
            began = time.process_time()
            found = improve_schedule(trace, offline_objective(name), first.start_s, OfflineSearch(options.steps, seed))
            cpu_s = online_s + time.process_time() - began
            better = replace(first, start_s=found.start_s)
            require_sound(better)
            show(f"offline-{name}, seed {seed}", metrics_of(better), base, cpu_s)


def metrics_of(result: Replay) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The four metrics of a schedule."""
    return np.array(list(measure(outcome_of(result), [metric_named(name) for name in METRICS], "none").values()))


def show(title: str, values: np.ndarray, base: np.ndarray, cpu_s: float) -> None:
    """One line in percent of the base."""
    print(f"{title:24}" + "".join(f"{value:9.2f}" for value in 100 * values / base) + f"{cpu_s:9.1f}", flush=True)


if __name__ == "__main__":
    main()
