"""What it costs to keep a plan true all day, and how that grows with the queue and the nodes.

    python benchmarks/replan.py [--skip-replay]

First a whole replay: five days of CEA Curie (2012-06-11 to 15) on 300 nodes of 32 cores under EASY and under `replan`
with 6 h, which decides anew every 15 simulated minutes, as by default and with a search of the order. Then one plan
from a moment on with 2,000 pending jobs, as `plan now` makes it, without start-up. Last the time of such plans with
more jobs and more nodes. All after one run that loads the compiled code.
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
from dataclasses import replace

from days import backlog_day, data_folder

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.problem import Problem
from planner.domain.search_params import ReplanParams
from planner.inputs.traces import read_window
from planner.online.look_ahead import look_ahead, promised
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.places import shipped_folder
from planner.planning.promises import with_promises
from planner.runs.replanning import replanning_of
from planner.scenario.load import load_scenario

FIRST, LAST = dt.date(2012, 6, 11), dt.date(2012, 6, 15)
MAX_DELAY_S = 6 * 3600
SEARCH_STEPS = 2000


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-replay", action="store_true", help="leave out the whole replay, the longest run")
    if not parser.parse_args().skip_replay:
        whole_replay()
    look_ahead(promising(waiting(20)), ReplanParams())
    print(f"{'pending':>8}{'nodes':>7}{'plan':>10}")
    for pending in (500, 1_000, 2_000, 4_000):
        line(waiting(pending))
    for nodes in (75, 1_200):
        line(on_nodes(waiting(2_000), nodes))


def whole_replay() -> None:
    """EASY, replan and replan with a search on the same five days, in this one run."""
    settings = (
        f"jobs.source={data_folder() / 'swf' / 'CEA-Curie-2011-2.1-cln.swf.gz'}",
        "jobs.core_scale=9600/93312",
        "jobs.zero_runtime=drop",
        "zone=UTC",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=300",
        "tariff.kind=hourly",
        f"tariff.file={data_folder() / 'prices' / 'FR.csv.gz'}",
        "tariff.unit=EUR/MWh",
        "tariff.zone=Europe/Paris",
        "rules.max_delay=6h",
    )
    scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=settings)
    trace = read_window(scenario, FIRST, LAST).trace
    replanning = replanning_of(scenario, trace)
    searched = replace(replanning, steps=SEARCH_STEPS)
    for words, name, options in (
        ("easy", "easy", replanning),
        ("replan", "replan", replanning),
        ("with search", "replan", searched),
    ):
        policy = policy_named(name)
        replay(trace, policy, trace.requested_s, replanning=options, until_s=3600)
        began = time.perf_counter()
        done = replay(trace, policy, trace.requested_s, replanning=options)
        seconds = time.perf_counter() - began
        told = f"{len(trace):,} jobs, {done.round_count:,} rounds, {seconds:.1f} s"
        print(f"{words:>12}: {told}, {1e3 * seconds / done.round_count:.2f} ms a round", flush=True)


def waiting(pending: int) -> Problem:
    """A day of Curie at midnight with that many jobs pending, submitted one after another until then."""
    problem = backlog_day(pending)
    last = problem.horizon.start_unix - len(problem.jobs)
    return replace(
        problem, jobs=tuple(replace(job, submit_unix=last + place) for place, job in enumerate(problem.jobs))
    )


def promising(problem: Problem) -> Problem:
    """The same with promises."""
    return with_promises(problem, promised(problem, MAX_DELAY_S))


def on_nodes(problem: Problem, nodes: int) -> Problem:
    """The same jobs on another number of nodes, as far as they fit."""
    cluster = Cluster((NodeClass("cpu", nodes, problem.cluster.classes[0].capacity),))
    fitting = tuple(job for job in problem.jobs if job.unit_count <= nodes)
    return replace(problem, cluster=cluster, jobs=fitting, table=replace(problem.table, clamp=True))


def line(problem: Problem) -> None:
    """Time one plan: promises, then what the loop would do for the rest of the day."""
    began = time.perf_counter()
    look_ahead(promising(problem), ReplanParams())
    seconds = time.perf_counter() - began
    print(f"{len(problem.jobs):>8}{problem.cluster.node_count:>7}{seconds:>8.2f} s", flush=True)


if __name__ == "__main__":
    main()
