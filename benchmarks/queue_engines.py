"""What it costs to plan the queue in every round with a CP engine, and what it gives, beside the order search.

    python benchmarks/queue_engines.py [--data FOLDER] [--trace NAME] [--jobs 1000] [--first 0]
                                       [--objectives af,bsld] [--limit 1] [--estimate actual]

A slice of a trace is replayed under list, order-OBJECTIVE, and cp-OBJECTIVE with each engine that is installed. The
metric of the objective is in percent of list; CPU seconds count this process and the engines that run beside it, after
a short replay that loads the compiled code.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from planner.cp.engines import ENGINES
from planner.domain.trace import pool_trace
from planner.inputs.traces import Source, read_pool
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.places import data_home
from planner.runs.measured_replays import Measurement, ReplayRun, RoundEngine, simulate

FEW = 60
"""Jobs of the short replay."""


def main() -> None:
    """Print a table for each objective."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--trace", default="KTH-SP2-filtered", help="name of a file below swf/")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="jobs to leave out before the slice")
    parser.add_argument("--objectives", default="af,bsld")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds that an engine gets in each round")
    parser.add_argument("--estimate", default="actual")
    options = parser.parse_args()
    whole = read_pool(data_home(options.data) / "swf" / f"{options.trace}.swf.gz")
    source = slice_of(whole, options.first, options.jobs)
    for objective in options.objectives.split(","):
        print(
            f"{objective}, {options.trace}, {len(source.trace):,} jobs, {options.estimate}, {options.limit:g} s a round"
        )
        print(f"{'policy':12} {'engine':14} {'% of list':>9} {'CPU s':>8} {'x order':>8}  rounds, proven, fallbacks")
        compare(source, objective, options.estimate, options.limit)


def compare(source: Source, objective: str, estimate: str, limit_s: float) -> None:
    """Print one line per policy and engine."""
    installed = [name for name, engine in ENGINES.items() if engine.available()]
    replayed(slice_of(source, 0, FEW), f"cp-{objective}", objective, estimate, RoundEngine(installed[0], limit_s))
    usual = replayed(source, "list", objective, estimate)
    order = replayed(source, f"order-{objective}", objective, estimate)
    say(usual, "", objective, usual, order)
    say(order, "", objective, usual, order)
    for name in installed:
        run = replayed(source, f"cp-{objective}", objective, estimate, RoundEngine(name, limit_s))
        say(run, name, objective, usual, order)


def replayed(
    source: Source, policy: str, objective: str, estimate: str, engine: RoundEngine | None = None
) -> ReplayRun:
    """One replay, measured by the metric of the objective."""
    measured = Measurement.named([objective])
    used = engine or RoundEngine()
    (run,) = simulate(source, [policy_named(policy)], [estimate_named(estimate)], measured, engine=used)
    return run


def say(run: ReplayRun, engine: str, objective: str, usual: ReplayRun, order: ReplayRun) -> None:
    """Print one line."""
    percent = 100 * run.values[objective] / usual.values[objective]
    counts = run.replay.engine_counts
    told = "" if counts is None else f"{counts.rounds:,}, {counts.proven:,}, {counts.fallbacks:,}"
    ratio = run.cpu_s / order.cpu_s
    print(f"{run.policy:12} {engine:14} {percent:9.2f} {run.cpu_s:8.2f} {ratio:8,.1f}  {told}".rstrip(), flush=True)


def slice_of(source: Source, first: int, count: int) -> Source:
    """Some jobs of a pool's trace that follow each other."""
    trace, kept = source.trace, slice(first, first + count)
    cut = pool_trace(
        trace.ids[kept],
        trace.submit_s[kept],
        trace.runtime_s[kept],
        trace.requested_s[kept],
        trace.width[kept],
        int(trace.machine.processors),
        source=trace.source,
    )
    return replace(source, trace=cut)


if __name__ == "__main__":
    main()
