"""What a dispatch finds: made-up queues on nodes of one class, planned whole by each dispatcher.

    python benchmarks/dispatchers.py [--nodes 64,300,1173] [--jobs 20,100] [--time-limit 1] [--steps 200] [--seed 0]

The queues are those of `plan study dispatchers`, which shows what a whole dispatch takes, with all that stands around
the search. Prints CPU time of one search, the total slowdown of its plan, and whether that is proven.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from planner.cp.dispatchers import dispatcher_named, total_cost
from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from planner.online.policies import DISPATCHERS
from planner.studies.dispatcher_cells import CAPACITY, MadeQueue, made_queue


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
    first = as_asked(made_queue(4, 3, 0))
    for solver in solvers.values():  # loads or compiles what each needs
        solver(first, one_after_another(first), from_known=False)
    print(f"{'nodes':>6} {'jobs':>5}  {'dispatcher':12} {'CPU ms':>8} {'slowdown':>10}  proven")
    for nodes in map(int, choice.nodes.split(",")):
        for jobs in map(int, choice.jobs.split(",")):
            queue = as_asked(made_queue(nodes, jobs, choice.seed))
            known = one_after_another(queue)
            for name, solver in solvers.items():
                began = time.process_time()
                answer = solver(queue, known, from_known=False)
                spent_ms = 1000 * (time.process_time() - began)
                value = "none" if answer.plan is None else f"{total_cost(queue, answer.plan):.3f}"
                print(f"{nodes:>6} {jobs:>5}  {name:12} {spent_ms:>8.0f} {value:>10}  {answer.is_proven}", flush=True)


def as_asked(made: MadeQueue) -> WaitingQueue:
    """A made-up queue as dispatchers are asked about it, all of its jobs at once."""

    def cost(job: Ints, start_s: Ints) -> Floats:
        return (made.waited_s[job] + start_s + made.length_s[job]) / made.length_s[job]

    return WaitingQueue(
        length_s=made.length_s,
        power_mw=np.zeros_like(made.length_s),
        group_ptr=np.arange(len(made.length_s) + 1),
        group_count=made.count,
        group_amount=made.amount,
        nodes=tuple(_room(taken, until) for taken, until in zip(made.taken, made.until_s.tolist(), strict=True)),
        power=None,
        cost=cost,
    )


def _room(taken: Ints, until_s: int) -> FreeRoom:
    """What a node has free, now and when what runs there has ended."""
    if not until_s:
        return FreeRoom(np.array([0]), CAPACITY[None, :].copy())
    return FreeRoom(np.array([0, until_s]), np.array([CAPACITY - taken, CAPACITY]))


def one_after_another(queue: WaitingQueue) -> QueuePlan:
    """A plan that is far from good: how late the last start can be."""
    return QueuePlan(queue.last_change_s + np.cumsum([0, *queue.length_s[:-1]]), None)


if __name__ == "__main__":
    main()
