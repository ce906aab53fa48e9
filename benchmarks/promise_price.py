"""What a promise costs in waiting: EASY, conservative backfilling and re-planning that holds nothing.

    python benchmarks/promise_price.py                            June and the eight other weeks of the study
    python benchmarks/promise_price.py --ways EASY "0 h"          some of the policies
    python benchmarks/promise_price.py --weeks 2012-06-11 --who   which jobs wait longer

Every week is Monday to Friday of CEA Curie, as in `plan study operation`, with requested times. The same jobs are
replayed on 300 nodes of 32 cores and on one pool of 9,600 cores, where no reservation can hold a node: what a promise
costs there it costs by itself. Needs PLANNER_DATA.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from pathlib import Path

import numpy as np

from planner.domain.trace import Trace, pool_trace
from planner.online.policies import policy_named
from planner.online.replanning import Replanning
from planner.online.replay import Replay, replay
from planner.studies.operation.cells import AS_IS, CURIE
from planner.studies.operation.sites import Days, Ground, source_of

WEEKS = (
    *("2012-06-11", "2012-03-19", "2012-05-14", "2012-07-30", "2012-09-03"),
    *("2012-02-13", "2012-04-16", "2012-06-25", "2012-08-20"),
)
WAYS = {"EASY": ("easy", 0), "conservative": ("conservative", 0), "0 h": ("replan", 0), "24 h": ("replan", 24)}
"""Policies, and the promise [h] of those that make one."""
HOUR_S, MINUTE_S = 3600, 60
CORES, LONG_S = (8, 32, 320), 6 * HOUR_S
"""Widths between which jobs are told apart, and from when on they are long."""


def main() -> None:
    """Replay all weeks and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weeks", nargs="+", default=WEEKS, help="Mondays")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS, help="policies; all unless named")
    parser.add_argument("--who", action="store_true", help="mean waits by width and requested time, on nodes")
    asked = parser.parse_args()
    print("mean wait [min], bounded slowdown, promises broken\n")
    print("| week | " + " | ".join((*asked.ways, *(f"pool: {name}" for name in asked.ways))) + " |")
    print("| --- |" + " ---: |" * (2 * len(asked.ways)))
    with tempfile.TemporaryDirectory() as folder:
        for week in asked.weeks:
            monday = dt.date.fromisoformat(week)
            ground = Ground(Path(folder), curie_days=Days(monday, monday + dt.timedelta(days=4)))
            trace = source_of(ground, CURIE, AS_IS).trace
            on_nodes = {name: _replayed(trace, name) for name in asked.ways}
            pooled = _pooled(trace)
            print(f"| {week} | " + " | ".join(_words(each) for each in on_nodes.values()), end="", flush=True)
            print(" | " + " | ".join(_words(_replayed(pooled, name)) for name in asked.ways) + " |", flush=True)
            if asked.who:
                _show_who(trace, on_nodes)


def _replayed(trace: Trace, name: str) -> Replay:
    policy, hours = WAYS[name]
    conduct = Replanning(max_delay_s=hours * HOUR_S, holds=False)
    return replay(trace, policy_named(policy), trace.requested_s, replanning=conduct)


def _pooled(trace: Trace) -> Trace:
    """The same jobs on one pool as large as the machine."""
    columns = (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width)
    return pool_trace(trace.ids, *columns, int(trace.machine.capacity[:, 0].sum()))


def _words(result: Replay) -> str:
    run_s = result.trace.runtime_s
    slowdown = np.maximum(1, (result.wait_s + run_s) / np.maximum(run_s, 10)).mean()
    told = f"{result.wait_s.mean() / MINUTE_S:.1f}, {slowdown:.1f}"
    return told if result.policy.kind != "replan" else f"{told}, {np.count_nonzero(result.late_reason)}"


def _show_who(trace: Trace, results: dict[str, Replay]) -> None:
    """Mean waits of narrow and wide, short and long jobs."""
    cores = np.searchsorted(CORES, trace.processors_of, side="right")
    for width in range(len(CORES) + 1):
        for is_long in (False, True):
            those = (cores == width) & ((trace.requested_s > LONG_S) == is_long)
            if those.any():
                least = (0, *CORES)[width]
                means = {name: each.wait_s[those].mean() / MINUTE_S for name, each in results.items()}
                waits = ", ".join(f"{name} {minutes:.1f}" for name, minutes in means.items())
                print(f"  {least} cores and more, {'long' if is_long else 'short'}: {those.sum():,} jobs: {waits} min")


if __name__ == "__main__":
    main()
