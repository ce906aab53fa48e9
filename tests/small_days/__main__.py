"""Hold the search against the best of all plans and the bound on many small days.

    python -m tests.small_days --count 500 [--seed 0] [--waits]

Prints each day that breaks the chain, then the figures, and exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys

from tests.small_days.days import check_day, lost_share


def main() -> int:
    """Check the days and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--contracts", action="store_true", help="with fees, feed-in, sleeping nodes, a battery, ...")
    parser.add_argument("--storage", action="store_true", help="with a battery, a demand charge and sun on every day")
    parser.add_argument("--waits", action="store_true", help="waiting counts, and later time less")
    parser.add_argument("--iterations", type=int, default=20_000)
    choice = parser.parse_args()
    days = []
    for seed in range(choice.seed, choice.seed + choice.count):
        kinds = {"contracts": choice.contracts, "storage": choice.storage, "waits": choice.waits}
        days.append(check_day(seed, choice.iterations, **kinds))
        for words in days[-1].broken:
            print(f"seed {seed}: {words}", flush=True)
    held = [day for day in days if day.is_held]
    optimal = sum(day.harvest_eur >= day.optimum_eur - 1e-9 for day in held)
    broken = sum(bool(day.broken) for day in days)
    print(f"{len(days)} days, {sum(day.rejected for day in days)} jobs rejected, {broken} days broken")
    print(f"all deadlines can be met on {len(held)}: HarvestSearch finds the optimum on {optimal}", end="")
    print(f" and earns {100 * max(0.0, lost_share(days)):.3f} % less than the optimum in all", end="")
    near = sum(day.optimum_eur - day.harvest_eur <= 0.005 * abs(day.optimum_eur) + 1e-9 for day in held)
    print(f"; within 0.5 % on {near}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
