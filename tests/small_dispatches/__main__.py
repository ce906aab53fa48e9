"""Hold the dispatchers against the best of all plans, on many small queues.

    python -m tests.small_dispatches --count 300 [--seed 0]

Prints all that is wrong, then how often each dispatcher has the best plan; exits with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.small_dispatches.compare import CLOSE, compare


def main() -> int:
    """Compare the queues and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    choice = parser.parse_args()
    seen: Counter[str] = Counter()
    best: Counter[str] = Counter()
    wrong = 0
    for seed in range(choice.seed, choice.seed + choice.count):
        row = compare(seed)
        seen.update(row.found.keys())
        best.update(name for name, value in row.found.items() if value <= row.best * (1 + CLOSE))
        wrong += len(row.wrong)
        for line in row.wrong:
            print(f"seed {seed}, {row.jobs} jobs, best {row.best:.9g}: {line}", flush=True)
    for name, count in seen.items():
        print(f"{name}: the best plan in {best[name]} of {count} cases")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
