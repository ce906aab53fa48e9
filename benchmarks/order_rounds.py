"""What one round of a policy costs on a large machine: made-up queues that come at once, on nodes that run jobs.

    python benchmarks/order_rounds.py [--sizes 64x100,1173x100,5000x500] [--policies list,order-stretch]
                                      [--evaluations 3] [--alone 0.1] [--seed 0]

``NODESxJOBS``. Nodes have 20 cores and 64 GB, as most of KIT ForHLR II. Running jobs of 1 to 32 units take seven of ten
nodes for up to half a day, and one of ten (``--alone``) has small jobs of its own with ends of their own, so that it is
like no other. Queued jobs have 1 to 32 units of 1, 10 or 20 cores. Prints the CPU time of the round, how many
of the jobs it starts, how many bunches of like nodes it began with, and the most memory that the process had so far.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from days import memory_gb

from planner.domain.trace import Trace
from planner.online.initial_state import initial_state
from planner.online.policies import USUAL_SEARCH, QueueSearch, policy_named
from planner.online.replay_loops import FixedReplay
from planner.studies.dispatcher_cells import CAPACITY, trace_of

QUEUED_S = 1_000
"""When the queue comes [s]; what runs then has run since second 0."""


def main() -> None:
    """Print a line per machine, queue and policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="64x100,1173x100,5000x500")
    parser.add_argument("--policies", default="list,order-stretch")
    parser.add_argument("--evaluations", type=int, default=USUAL_SEARCH.evaluations)
    parser.add_argument("--alone", type=float, default=0.1, help="part of the nodes that are like no other")
    parser.add_argument("--seed", type=int, default=0)
    choice = parser.parse_args()
    policies = choice.policies.split(",")
    search = QueueSearch(choice.evaluations)
    for policy in policies:  # loads or compiles what each needs
        one_round(made_up_trace(8, 3, 0.1, 0), policy, QueueSearch(1))
    print(f"{'nodes':>6} {'jobs':>5}  {'policy':14} {'CPU ms':>9} {'started':>8} {'bunches':>8} {'MB':>6}")
    for size in choice.sizes.split(","):
        nodes, jobs = map(int, size.split("x"))
        trace = made_up_trace(nodes, jobs, choice.alone, choice.seed)
        for policy in policies:
            spent_s, started, bunches = one_round(trace, policy, search)
            megabytes = int(1024 * memory_gb())
            print(
                f"{nodes:>6} {jobs:>5}  {policy:14} {1000 * spent_s:>9.1f} {started:>8} {bunches:>8} {megabytes:>6}",
                flush=True,
            )


def one_round(trace: Trace, policy: str, search: QueueSearch) -> tuple[float, int, int]:
    """CPU time of the round in which the queue comes [s], the jobs that it starts, and the bunches that it saw."""
    nobody = np.full(len(trace), -1)
    playing = FixedReplay(initial_state(trace, policy_named(policy), trace.runtime_s, nobody, search=search), None)
    playing.run_until(QUEUED_S)
    began = time.process_time()
    playing.run_until(QUEUED_S + 1)
    spent_s = time.process_time() - began
    started = int(np.count_nonzero(playing.state.jobs["start"] == QUEUED_S))
    return spent_s, started, int(playing.state.clock.machine_bunches)


def made_up_trace(nodes: int, jobs: int, alone: float, seed: int) -> Trace:
    """Jobs that begin at once and run on, then a queue that comes at once."""
    rng = np.random.default_rng(seed)
    counts: list[int] = []
    while sum(counts) < (0.7 - alone) * nodes:
        counts.append(int(2 ** rng.integers(0, 6)))
    wide = len(counts)
    counts += [1] * int(alone * nodes)
    running = len(counts)
    cores = np.full(running, CAPACITY[0])
    cores[wide:] = 10
    queued = np.minimum(2 ** rng.integers(0, 6, jobs), max(1, nodes // 4))
    amounts = np.column_stack([np.concatenate([cores, rng.choice([20, 20, 10, 1], jobs)]), np.zeros(running + jobs)])
    amounts[:running, 1] = 40
    amounts[running:, 1] = rng.integers(1, 64, jobs)
    runtime = np.concatenate([QUEUED_S + rng.integers(60, 50_000, running), rng.integers(60, 80_000, jobs)])
    count = np.concatenate([counts, queued]).astype(np.int64)
    submit = np.concatenate([np.zeros(running, dtype=np.int64), np.full(jobs, QUEUED_S)])
    return trace_of(submit, runtime, count, amounts.astype(np.int64), nodes)


if __name__ == "__main__":
    main()
