"""What a dispatch costs: made-up queues on nodes of one class, planned by each dispatcher.

    python benchmarks/dispatchers.py [--nodes 64,300,1173] [--jobs 20,100] [--time-limit 1] [--steps 200] [--seed 0]

Nodes have 20 cores and 64 GB, as most of KIT ForHLR II; seven of ten run something for up to half a day. Jobs have 1 to
32 units of 1, 10 or 20 cores. Prints CPU time of one dispatch, the total slowdown, and whether it is proven.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from planner.cp.dispatch.choose import dispatcher_named
from planner.cp.dispatch.ladder import total_cost
from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from planner.online.policies import DISPATCHERS

CAPACITY = np.array([20, 64])


def main() -> None:
    """Print a line per machine, queue and dispatcher."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="64,300,1173")
    parser.add_argument("--jobs", default="20,100")
    parser.add_argument("--time-limit", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the queues")
    parser.add_argument("--dispatchers", default=",".join(DISPATCHERS))
    choice = parser.parse_args()
    limits = {"engine": "cpsat", "time_limit_s": choice.time_limit, "steps": choice.steps, "seed": 0}
    solvers = {name: dispatcher_named(name, **limits) for name in choice.dispatchers.split(",")}
    first = made_up_queue(4, 3, 0)
    for solver in solvers.values():  # loads or compiles what each needs
        solver(first, one_after_another(first), from_known=False)
    print(f"{'nodes':>6} {'jobs':>5}  {'dispatcher':12} {'CPU ms':>8} {'slowdown':>10}  proven")
    for nodes in map(int, choice.nodes.split(",")):
        for jobs in map(int, choice.jobs.split(",")):
            queue = made_up_queue(nodes, jobs, choice.seed)
            known = one_after_another(queue)
            for name, solver in solvers.items():
                began = time.process_time()
                answer = solver(queue, known, from_known=False)
                spent_ms = 1000 * (time.process_time() - began)
                value = "none" if answer.plan is None else f"{total_cost(queue, answer.plan):.3f}"
                print(f"{nodes:>6} {jobs:>5}  {name:12} {spent_ms:>8.0f} {value:>10}  {answer.is_proven}", flush=True)


def made_up_queue(nodes: int, jobs: int, seed: int) -> WaitingQueue:
    """Jobs that have waited up to six hours, highest slowdown first."""
    rng = np.random.default_rng(seed)
    length, waited = rng.integers(60, 80_000, jobs), rng.integers(0, 20_000, jobs)
    order = np.argsort(-(waited + length) / length, kind="stable")
    length, waited = length[order], waited[order]

    def cost(job: Ints, start_s: Ints) -> Floats:
        return (waited[job] + start_s + length[job]) / length[job]

    return WaitingQueue(
        length_s=length,
        power_mw=np.zeros(jobs, dtype=np.int64),
        group_ptr=np.arange(jobs + 1),
        group_count=np.minimum(2 ** rng.integers(0, 6, jobs), nodes // 4),
        group_amount=np.stack([rng.choice([20, 20, 10, 1], jobs), rng.integers(1, 64, jobs)], axis=1),
        nodes=tuple(_room(rng) for _ in range(nodes)),
        power=None,
        cost=cost,
    )


def _room(rng: np.random.Generator) -> FreeRoom:
    """A node that is free, half free or taken for a while."""
    taken = int(rng.choice([0, 1, 2], p=[0.3, 0.2, 0.5])) * CAPACITY // 2
    if not np.any(taken):
        return FreeRoom(np.array([0]), CAPACITY[None, :].copy())
    return FreeRoom(np.array([0, rng.integers(60, 50_000)]), np.array([CAPACITY - taken, CAPACITY]))


def one_after_another(queue: WaitingQueue) -> QueuePlan:
    """A plan that is far from good: how late the last start can be."""
    return QueuePlan(queue.last_change_s + np.cumsum([0, *queue.length_s[:-1]]), None)


if __name__ == "__main__":
    main()
