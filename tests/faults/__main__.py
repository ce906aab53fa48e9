"""The whole campaign: ``python -m tests.faults --kills 300 --seed 1``; exit code 1 when anything is beyond."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.campaign import Campaign, draw
from tests.faults.commands import Stage


def main() -> int:
    """Run the kills, print a table of their outcomes, and tell what went beyond."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Campaign(Stage(Path(folder))).run(
            draw(given.seed, given.kills),
            lambda kill, outcome: print(".", end="", file=sys.stderr, flush=True),
        )
    print(f"\n{given.kills} kills, seed {given.seed}, {time.monotonic() - began:.0f} s\n")
    print(outcomes.table())
    for each in outcomes.beyond:
        print(f"beyond: {each}")
    return 1 if outcomes.beyond else 0


if __name__ == "__main__":
    sys.exit(main())
