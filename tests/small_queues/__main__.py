"""Hold the search of orders and the CP engines against the best of all plans, on many small queues.

    python -m tests.small_queues --count 300 [--seed 0] [--most-jobs 8] [--machines pool,nodes]
        [--engines cpsat,cpo-community]

Every seed makes one queue on a pool and one on nodes. Prints each queue and objective on which any of them is not the
best though its engine says so, then the counts; exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from planner.cp import queue_model
from planner.cp.engines import engine_named
from planner.cp.queue_model import EngineSolver
from tests.small_queues.queues import MACHINES, compare

EXACT = 1e-9
"""How far the straight lines of the engines' costs may be from curved ones here; in the product 0.2 %."""


def main() -> int:
    """Compare the queues and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-jobs", type=int, default=8)
    parser.add_argument("--machines", default=",".join(MACHINES), help="by commas")
    parser.add_argument("--engines", default="cpsat", help="by commas; none: the search of orders alone")
    choice = parser.parse_args()
    queue_model.PRECISION = EXACT
    solvers = [EngineSolver(engine_named(name), 60.0) for name in choice.engines.split(",") if name not in ("", "none")]
    seen: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    unproven: Counter[str] = Counter()
    for seed in range(choice.seed, choice.seed + choice.count):
        for machine in choice.machines.split(","):
            for row in compare(seed, solvers, machine, choice.most_jobs):
                seen.update(f"{name}, {machine}, best by {row.witness}" for name in row.found)
                wrong.update(f"{name}, {machine}, best by {row.witness}" for name in row.wrong)
                unproven.update(f"{name}, {machine}" for name in row.unproven)
                if row.wrong:
                    queue = f"seed {seed}, {row.jobs} jobs on {machine}, {row.objective}"
                    print(f"{queue}: best {row.best:.9g} by {row.witness}, {row.wrong}", flush=True)
    for name, count in sorted(seen.items()):
        print(f"{name}: not wrong in {count - wrong[name]} of {count} cases")
    for name, count in sorted(unproven.items()):
        print(f"{name}: time was over before the proof in {count} of them, which count only if they beat the best")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
